"""The differential suite: each program eagerly and traced; see `differential/program.py` for the form of programs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tagalong
import tagalong.testing

sys.path.insert(0, str(Path(__file__).parent))

from differential.program import Program, load
from differential.runner import differences, run

PROGRAMS = load()


def test_there_are_enough_programs() -> None:
    assert len(PROGRAMS) >= 240


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program(program: Program) -> None:
    eager = run(program)
    again = run(program)
    assert [seen.compared() for seen in eager] == [seen.compared() for seen in again], (
        "not the same twice, eagerly"
    )
    found = differences(eager, run(program, tagalong.trace, tagalong.testing.events))
    assert not found, "\n".join([f"{program.path.name}:{program.line}: {program.name}", *found])
