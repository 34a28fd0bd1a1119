"""What the whole-system tests share. They run against the package that pytest finds: mostly the installed one."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
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


@pytest.fixture(autouse=True)
def options_as_they_were() -> Iterator[None]:
    """What a test sets in the engine ends with it."""
    from tagalong import _core

    before = _core.options()
    yield
    for name, value in before.items():
        if _core.options()[name] != value:
            _core.set_option(name, value)


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
