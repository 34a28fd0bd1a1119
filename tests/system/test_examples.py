"""The example programs, as processes: the same output and files, bit for bit, and really replayed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import clean_environment

PROGRAMS = ("photograph", "pricing", "terrain", "walk")


def run(program: Path, saved: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, str(program), "--repeat", "3", "--output", str(saved)],
        capture_output=True,
        text=True,
        env=clean_environment(**variables),
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_no_example_is_forgotten(root: Path) -> None:
    assert {path.stem for path in (root / "examples").glob("*.py")} == {*PROGRAMS, "running"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_traced_and_plain_agree(root: Path, tmp_path: Path, name: str) -> None:
    program = root / "examples" / f"{name}.py"
    assert "tagalong" not in program.read_text()
    plain = run(program, tmp_path / "plain.npz")
    traced = run(program, tmp_path / "traced.npz", TAGALONG="1", TAGALONG_REPORT="1")
    assert traced.stdout == plain.stdout
    assert (tmp_path / "traced.npz").read_bytes() == (tmp_path / "plain.npz").read_bytes()
    counts = re.search(r"^tagalong: records (\d+), hits (\d+),", traced.stderr, re.MULTILINE)
    assert counts, traced.stderr
    assert int(counts[1]) >= 3
    assert int(counts[2]) >= 10
