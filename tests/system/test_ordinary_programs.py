"""Scripts as people write them give the same output with TAGALONG=1: those that scripts/bench never-slower times."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT, RunPython

PROGRAMS = sorted((ROOT / "scripts" / "benchmarks" / "ordinary").glob("*.py"))


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 30


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_says_the_same(run_python: RunPython, program: Path) -> None:
    variables = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    plain = run_python(str(program), **variables)
    traced = run_python(str(program), TAGALONG="1", **variables)
    assert plain.stdout and (plain.returncode, plain.stderr) == (0, "")
    assert (traced.returncode, traced.stdout, traced.stderr) == (0, plain.stdout, "")
