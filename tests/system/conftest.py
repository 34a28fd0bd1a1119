"""Fixtures of the whole-system tests.

The tests run against the package that pytest finds, usually the installed one.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session", autouse=True)
def keep_what_does_not_pay() -> None:
    """Disables retirement, so that functions are replayed even if that is not faster; tests of retirement enable it."""
    from tagalong import _core

    _core.set_option("retire_after", 0)
    _core.set_option("native_after", 1)
    _core.set_option("share", 100_000_000)


@pytest.fixture(autouse=True)
def options_as_they_were() -> Iterator[None]:
    """Restores the engine's options after each test."""
    from tagalong import _core

    before = _core.options()
    yield
    for name, value in before.items():
        if _core.options()[name] != value:
            _core.set_option(name, value)


@contextlib.contextmanager
def no_thread_asking() -> Iterator[None]:
    """Keeps other threads from requesting the GIL; pytest-xdist has a thread that receives messages."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    time.sleep(0.01)  # for a thread that has begun to wait for the GIL
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def is_sanitized() -> bool:
    """Whether this process runs with the address sanitizer, as `scripts/test --sanitize` starts it."""
    return hasattr(ctypes.CDLL(None), "__asan_init")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", type=Path, metavar="FILE", help="only the tests that a file lists")
    parser.addoption("--update-golden", action="store_true", help="write the golden texts anew")


@dataclass
class Listed:
    """A line of the list of tests: `file.py`, or `file.py::test` where `*` is any text; `!` leaves them out."""

    line: str

    def __post_init__(self) -> None:
        self.is_left_out = self.line.startswith("!")
        text = self.line.removeprefix("!")
        self.file = text.partition("::")[0]
        self.pattern = re.compile(
            ".*/" + ".*".join(map(re.escape, text.split("*"))) + ("" if "::" in text else "::.*")
        )

    def holds(self, item: pytest.Item) -> bool:
        return self.pattern.fullmatch(item.nodeid) is not None


def part_of(config: pytest.Config) -> list[Listed]:
    file: Path | None = config.getoption("--part")
    lines = [] if file is None else [line.partition("#")[0].strip() for line in file.read_text().splitlines()]
    return [Listed(line) for line in lines if line]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of which no test is listed need not be imported."""
    names = {listed.file for listed in part_of(config)}
    return True if names and collection_path.is_file() and collection_path.name not in names else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects tests that are not listed, and skips those that cannot hold under sanitizers.

    Each line must match a test.
    """
    part = part_of(config)
    if part:
        kept: list[pytest.Item] = []
        left_out: list[pytest.Item] = []
        unused = {listed.line for listed in part}
        for item in items:
            matching = [listed for listed in part if listed.holds(item)]
            unused -= {listed.line for listed in matching}
            is_kept = bool(matching) and not any(listed.is_left_out for listed in matching)
            (kept if is_kept else left_out).append(item)
        if unused:
            raise pytest.UsageError(f"--part: no test matches {', '.join(sorted(unused))}")
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
    if is_sanitized():
        for item in items:
            for marker in item.iter_markers("not_sanitized"):
                item.add_marker(pytest.mark.skip(reason=f"not under sanitizers: {marker.args[0]}"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "own_stack: runs in a thread of its own")
    config.addinivalue_line(
        "markers", "not_sanitized(reason): cannot hold in a process with the address sanitizer"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test marked `own_stack` in a new thread, where no other thread requests the GIL.

    A frame cannot continue in replay code if its piece of the interpreter's frame stack is too small. Where a piece
    ends depends on what has run before; a new thread begins with a new piece. A thread that requests the GIL would end
    a replay.
    """
    if pyfuncitem.get_closest_marker("own_stack") is None:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    with no_thread_asking(), ThreadPoolExecutor(1) as pool:
        pool.submit(pyfuncitem.obj, **arguments).result()
    return True


@pytest.fixture(scope="session")
def root() -> Path:
    """The root folder of the repository."""
    return ROOT


def package_folder() -> str:
    """The folder of the package, without importing the package."""
    spec = importlib.util.find_spec("tagalong")
    assert spec is not None and spec.origin is not None
    return str(Path(spec.origin).parent.parent)


def clean_environment(**variables: str) -> dict[str, str]:
    """The environment without variables for tagalong or the interpreter, except the package's path and `variables`."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("TAGALONG", "PYTHON"))}
    if is_sanitized():
        kept["PYTHONMALLOC"] = "malloc"  # the interpreter's own allocator would hide errors
    return kept | {"PYTHONPATH": package_folder()} | variables


LANES = {"wide": 8, "narrow": 4, "none": 0}  # AVX-512, AVX2, NumPy's loops, by the doubles in a vector


@pytest.fixture(params=LANES)
def lanes(request: pytest.FixtureRequest) -> int:
    """Plans fusion groups even if they do not pay, with vector code of one width; the doubles in a vector."""
    from arrays_support import HAS_CODE, HAS_VECTORS
    from chains_support import FusionRuns
    from tagalong import _core

    if not {"wide": HAS_VECTORS, "narrow": HAS_CODE, "none": True}[request.param]:
        pytest.skip("there are no such vectors here")
    FusionRuns.begin()
    _core.set_option("retire_after", 0)
    _core.set_option("most_lanes", LANES[request.param])
    return LANES[request.param]


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """Runs the interpreter with some arguments in an empty folder; keyword arguments become environment variables."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=clean_environment(**variables),
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def replaced_chr() -> Iterator[Callable[[], None]]:
    """Replaces the builtin `chr` when it is called; restored at the end of the test."""
    original = builtins.chr

    def replace() -> None:
        builtins.chr = lambda x: "mock"  # type: ignore[assignment,misc]

    yield replace
    builtins.chr = original
