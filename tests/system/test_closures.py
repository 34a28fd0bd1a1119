"""One model for all cells: the scenarios of TorchDynamo's issue 140153 and rows CL1 to CL7, eagerly and traced."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

import pytest

import tagalong
import tagalong.testing

sys.path.insert(0, str(Path(__file__).parent))

from differential.program import Program, load_topic
from differential.runner import differences, run

PROGRAMS = load_topic(Path(__file__).parent / "differential" / "scenarios" / "cells.py")

# Named in the issue, in the same order.
SCENARIOS = [
    "closure_leaves_its_scope",
    "closure_leaves_its_scope_with_mutation",
    "closure_leaves_its_scope_with_a_condition",
    "mutation_across_an_interruption",
    "writes_across_functions",
    "writes_across_frames",
    "free_variable_and_local_of_one_name",
    "cell_captured_by_existing_function_but_not_by_root",
    "shadowed_names",
    "existing_function_that_makes_a_capturing_function",
    "mutation_of_an_input_cell",
    "local_class_whose_method_mutates_a_captured_list",
]


def test_every_scenario_is_there() -> None:
    names = {program.name for program in PROGRAMS}
    assert not set(SCENARIOS) - names
    for row in range(1, 8):
        assert any(name.startswith(f"cl{row}_") for name in names), f"nothing for CL{row}"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_closure(program: Program) -> None:
    eager = run(program)
    assert not [text for text in differences(eager, run(program)) if "\n  events: " not in text], (
        "not the same twice, eagerly"
    )
    found = differences(eager, run(program, partial(tagalong.trace, retire=True), tagalong.testing.events))
    assert not found, "\n".join([f"{program.path.name}:{program.line}: {program.name}", *found])


def cells(function: FunctionType) -> dict[str, CellType]:
    """The cells of a closure by name."""
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def test_closures_of_one_call_hold_the_same_cell() -> None:
    @tagalong.trace
    def f(x: Any) -> Any:
        def get() -> Any:
            return x

        def put(v: Any) -> None:
            nonlocal x
            x = v

        return get, put

    with tagalong.testing.assert_events("record", "hit"):
        get1, put1 = f(1)
        get2, put2 = f(2)
    assert cells(get1)["x"] is cells(put1)["x"]
    assert cells(get2)["x"] is cells(put2)["x"]
    assert cells(get1)["x"] is not cells(get2)["x"]
    put2("two")
    assert (get1(), get2()) == (1, "two")


def test_a_replayed_closure_holds_the_cell_of_the_enclosing_function() -> None:
    n: Any = 5

    @tagalong.trace
    def f() -> Any:
        def inner() -> Any:
            nonlocal n
            n = n + 1
            return n

        return inner

    def outside() -> Any:
        return n

    with tagalong.testing.assert_events("record", "hit"):
        first, second = f(), f()
    assert cells(first)["n"] is cells(second)["n"] is cells(outside)["n"]
    assert (first(), second(), outside(), n) == (6, 7, 7, 7)


def test_cells_after_a_side_exit_are_the_frames_own() -> None:
    seen: list[Any] = []

    @tagalong.trace
    def f(x: Any, flag: list[Any]) -> Any:
        def get() -> Any:
            return x

        seen.append(get)
        if flag:
            x = "plus"
        else:
            x = "minus"

        def put(v: Any) -> None:
            nonlocal x
            x = v

        return get, put

    with tagalong.testing.assert_events("record", "hit", "hit", "exit"):
        f(1, [1])
        f(2, [1])
        get, put = f(3, [])
    assert seen[2] is get
    assert cells(get)["x"] is cells(put)["x"]
    assert get() == "minus"
    put("later")
    assert get() == "later"


def test_replacing_the_cells_content_object_by_cell_contents() -> None:
    def make() -> Any:
        n: Any = 1

        @tagalong.trace
        def f() -> Any:
            return n + 1

        return f

    f = make()
    with tagalong.testing.assert_events("record", "hit"):
        assert (f(), f()) == (2, 2)
    f.__closure__[0].cell_contents = 10
    with tagalong.testing.assert_events("hit"):
        assert f() == 11
    f.__closure__[0].cell_contents = 1.5
    with tagalong.testing.assert_events("hit", "exit"):
        assert f() == 2.5
