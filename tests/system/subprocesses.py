"""Programs that tests run in processes of their own, with the package under test."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tagalong

# A sanitizer does not hold its allocator's locks over a fork: a child may wait forever for one.
forks_beside_threads = pytest.mark.not_sanitized(
    "a fork while another thread allocates may end in a deadlock"
)

HERE = Path(__file__).parent


def run(
    *words: str, timeout: float = 60, variables: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Runs Python with these arguments and additional environment variables; returns its output as text."""
    package = Path(tagalong.__file__).parent.parent
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    }
    environment |= variables or {}
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **options,
    )


def summary(runner: Path, *words: str, timeout: float = 120) -> dict[str, Any]:
    """The summary that a suite's runner prints: JSON behind the word SUMMARY."""
    done = run(str(runner), *words, timeout=timeout)
    lines = [line for line in done.stdout.splitlines() if line.startswith("SUMMARY ")]
    assert done.returncode == 0 and lines, (
        f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    )
    return json.loads(lines[-1].removeprefix("SUMMARY "))


def differential(*words: str) -> dict[str, int]:
    """Runs `python -m differential`, which must find no difference; returns how often each event happened."""
    result = run("-m", "differential", "--here", *words, timeout=120, cwd=HERE)
    assert result.returncode == 0, f"{result.returncode}\n{result.stdout[-6000:]}\n{result.stderr[-2000:]}"
    return dict(ast.literal_eval(result.stdout.splitlines()[-1].removeprefix("events: ")))
