"""What the whole-system tests share. They run against the package that pytest finds: mostly the installed one."""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import inspect
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session", autouse=True)
def keep_what_does_not_pay() -> None:
    """What is tested goes on being replayed, also where it is no faster; programs about retirement say so."""
    from tagalong import _core

    _core.set_option("retire_after", 0)
    _core.set_option("native_after", 1)
    _core.set_option("share", 100_000_000)


@pytest.fixture(autouse=True)
def options_as_they_were() -> Iterator[None]:
    """What a test sets in the engine ends with it."""
    from tagalong import _core

    before = _core.options()
    yield
    for name, value in before.items():
        if _core.options()[name] != value:
            _core.set_option(name, value)


@contextlib.contextmanager
def no_thread_asking() -> Iterator[None]:
    """No other thread gets the GIL meanwhile but where it is given away; pytest-xdist's would take in messages."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    time.sleep(0.01)  # for one that has begun to ask
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "own_stack: runs in a thread of its own")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A frame does not go on in replay code where the interpreter's stack of frames has no room for that.

    Where a piece of that stack ends depends on what has run before; a new thread begins with a new one. So tests that
    count on every trace run there. Nobody asks for the GIL meanwhile: who serves that leaves its trace.
    """
    if pyfuncitem.get_closest_marker("own_stack") is None:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    with no_thread_asking(), ThreadPoolExecutor(1) as pool:
        pool.submit(pyfuncitem.obj, **arguments).result()
    return True


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


def package_folder() -> str:
    """Where the package is, which need not be imported."""
    spec = importlib.util.find_spec("tagalong")
    assert spec is not None and spec.origin is not None
    return str(Path(spec.origin).parent.parent)


def clean_environment(**variables: str) -> dict[str, str]:
    """The environment without anything for us or for the interpreter but the package, and with `variables`."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("TAGALONG", "PYTHON"))}
    return kept | {"PYTHONPATH": package_folder()} | variables


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """Runs the interpreter with some arguments in an empty folder; keyword arguments become variables."""

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
    """Replaces the builtin `chr` when it is called, until the test ends."""
    original = builtins.chr

    def replace() -> None:
        builtins.chr = lambda x: "mock"  # type: ignore[assignment,misc]

    yield replace
    builtins.chr = original
