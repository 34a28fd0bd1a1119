"""Tools that look at functions, run them elsewhere or serialise them find what they find without us.

Each program in `black_box` calls its functions often enough for them to be recorded, replayed or retired, hands them to
a tool and prints what it says. That must be the same with TAGALONG=1 and in stress mode.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import RunPython

SLOW = {"coroutines": pytest.mark.not_sanitized("asyncio reports steps that take long")}
PROGRAMS = [
    pytest.param(path, marks=SLOW.get(path.stem, ()), id=path.stem)
    for path in sorted((Path(__file__).parent / "black_box").glob("*.py"))
]


@pytest.mark.parametrize("stress", ["0", "1"], ids=["traced", "stress"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_finds_the_same(run_python: RunPython, tmp_path: Path, program: Path, stress: str) -> None:
    summary = tmp_path / "summary"
    plain = run_python(str(program), PYTHONHASHSEED="0")
    settings = {"TAGALONG": "1", "TAGALONG_STRESS": stress, "TAGALONG_SUMMARY": str(summary)}
    traced = run_python(str(program), PYTHONHASHSEED="0", **settings)
    assert plain.stdout and (plain.returncode, plain.stderr) == (0, ""), plain.stderr[-3000:]
    assert (traced.returncode, traced.stderr) == (0, ""), traced.stderr[-3000:]
    assert traced.stdout == plain.stdout
    counts = [json.loads(line) for line in summary.read_text().splitlines()]
    assert counts and all(process["functions_recorded"] for process in counts if process["records"])
    assert sum(process["hits"] for process in counts) > 20
