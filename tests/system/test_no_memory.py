"""Each allocation of a call fails in turn: the result is a MemoryError or correct, and nothing happens twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from conftest import clean_environment

HERE = Path(__file__).parent / "no_memory"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("g++")
PROGRAMS = [
    line.removeprefix("def ").partition("(")[0]
    for source in ("programs.py", "arrays.py")
    for before, line in zip(
        [""] + (HERE / source).read_text().splitlines(), (HERE / source).read_text().splitlines()
    )
    if before == "@program"
]

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An extension that makes allocations fail; it is preloaded in front of the C library."""
    target = tmp_path_factory.mktemp("failing") / "failing.so"
    # A sanitizer allocates before dynamic thread-local variables work, so they are in the loader's static block.
    words = [
        "-shared",
        "-fPIC",
        "-O1",
        "-ftls-model=initial-exec",
        f"-I{sysconfig.get_path('include')}",
        str(HERE / "failing.c"),
        "-ldl",
    ]
    done = subprocess.run(
        [str(COMPILER), *words, "-o", str(target)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_allocation_fails_in_turn(failing: Path, program: str) -> None:
    variables = clean_environment(PYTHONMALLOC="malloc")
    variables["LD_PRELOAD"] = os.pathsep.join([str(failing), *os.environ.get("LD_PRELOAD", "").split()])
    variables["PYTHONPATH"] += os.pathsep + str(failing.parent)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(HERE / "runner.py"), program],
        capture_output=True,
        text=True,
        env=variables,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.startswith("right "), (
        f"{done.returncode}\n{done.stdout}\n{done.stderr[-3000:]}"
    )


def test_there_are_many() -> None:
    assert len(PROGRAMS) >= 30
