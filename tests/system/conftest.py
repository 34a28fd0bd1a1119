"""What the whole-system tests share. They run against the installed package, as a user has it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


def clean_environment(**variables: str) -> dict[str, str]:
    """The environment without anything for us or for the interpreter, and with `variables`."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("TAGALONG", "PYTHON"))}
    return kept | variables


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
