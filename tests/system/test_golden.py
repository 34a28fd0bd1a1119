"""The dumps of some small programs have not changed. `scripts/golden --update` writes them again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import golden_support
from arrays_support import HAS_CODE, HAS_VECTORS, NUMPY_2
from conftest import clean_environment
from tagalong import _core

PROGRAMS = golden_support.programs()


@pytest.mark.own_stack
@pytest.mark.parametrize("name", PROGRAMS)
def test_texts_are_golden(name: str, request: pytest.FixtureRequest) -> None:
    if golden_support.has_arrays(name) and not (HAS_CODE and NUMPY_2):
        pytest.skip("the golden texts are those of a machine with vector code, and of NumPy 2")
    found = golden_support.text_of(name)
    if request.config.getoption("--update-golden"):
        golden_support.file_of(name).write_text(found)
    found, expected = (
        golden_support.comparable(text) for text in (found, golden_support.file_of(name).read_text())
    )
    assert found == expected, "\n".join(golden_support.differences(expected, found))


@pytest.mark.own_stack
@pytest.mark.skipif(not HAS_VECTORS, reason="there is one width of vectors on this machine")
@pytest.mark.parametrize("name", [name for name in PROGRAMS if golden_support.has_arrays(name)])
def test_texts_are_the_same_for_narrow_vectors(name: str) -> None:
    _core.set_option("most_lanes", 4)
    found, expected = golden_support.text_of(name), golden_support.file_of(name).read_text()
    assert golden_support.comparable(found) == golden_support.comparable(expected)


RUN = """
import sys
sys.path[:0] = sys.argv[1:2]
from conftest import keep_what_does_not_pay
keep_what_does_not_pay.__wrapped__()
import golden_support, threading
def run():
    for name in sys.argv[2:]:
        print(golden_support.text_of(name), end="")
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


def test_texts_do_not_depend_on_the_hash_seed(root: Path) -> None:
    names = ["strings_and_dicts", "attributes", "exceptions", "closures"]
    expected = "".join(golden_support.comparable(golden_support.file_of(name).read_text()) for name in names)
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(root / "tests" / "system"), *names],
            capture_output=True,
            text=True,
            env=clean_environment(PYTHONHASHSEED=seed),
            check=False,
        )
        assert (golden_support.comparable(done.stdout), done.returncode) == (expected, 0), done.stderr


def test_there_are_programs_and_a_text_for_each() -> None:
    assert len(PROGRAMS) >= 20
    assert [path.stem for path in sorted(golden_support.FOLDER.glob("*.txt"))] == PROGRAMS
