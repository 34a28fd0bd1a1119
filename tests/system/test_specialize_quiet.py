"""A guard that promises TAGALONG_QUIET but runs code: changing its function's specialisations is an error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tagalong
from specialize_support import fast, new, slow
from tagalong import guards
from test_specialize_c import load

USE, NOT_NOW, NEVER = 1, 0, -1


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load(Path(__file__).parent / "quiet_guard.c", tmp_path_factory.mktemp("quiet")).Quiet


def remove_all(f: Any) -> None:
    tagalong.remove_specialized(f)


def remove_own(f: Any) -> None:
    tagalong.remove_specialized(f, 0)


def add_one(f: Any) -> None:
    tagalong.specialize(f, fast, [guards.ArgType(0, float)])


CHANGES = [remove_all, remove_own, add_one]


@pytest.mark.parametrize("place", ["alone", "first", "last", "with another guard"])
@pytest.mark.parametrize("later", [False, True], ids=["at once", "once it has held"])
@pytest.mark.parametrize("change", CHANGES)
def test_changing_the_list_is_an_error(
    quiet: Any, change: Callable[[Any], None], later: bool, place: str
) -> None:
    f = new()
    acts: list[bool] = []

    def action() -> int:
        if acts:
            change(f)
        return USE

    if place == "last":
        tagalong.specialize(f, fast, [guards.ArgType(0, str)])
    more = [guards.ArgType(0, int)] if place == "with another guard" else []
    tagalong.specialize(f, fast, [quiet(action), *more])
    if place == "first":
        tagalong.specialize(f, fast, [guards.ArgType(0, str)])
    count = len(tagalong.get_specialized(f))
    if later:
        assert f(1) == f(2) == ("fast", 2) or f(1) == ("fast", 1)
    acts.append(True)
    for _ in range(3):
        with pytest.raises(
            RuntimeError, match=r"changes the specialisations of the function while it is asked"
        ):
            f(1)
    assert len(tagalong.get_specialized(f)) == count
    acts.clear()
    assert f(3) == ("fast", 3)
    tagalong.remove_specialized(f)
    assert f(3) == ("slow", 3)


@pytest.mark.parametrize("change", CHANGES)
def test_an_error_that_the_guard_keeps_to_itself(quiet: Any, change: Callable[[Any], None]) -> None:
    f = new()

    def action() -> int:
        try:
            change(f)
        except RuntimeError:
            return USE
        return NOT_NOW

    tagalong.specialize(f, fast, [quiet(action)])
    with pytest.raises(RuntimeError, match=r"a guard of slow\(\) has tried to change"):
        f(1)


def test_it_calls_its_own_function(quiet: Any) -> None:
    f = new()
    depth = [0]

    def action() -> int:
        depth[0] += 1
        if depth[0] % 3 and depth[0] <= 30:
            assert f(depth[0])[0] in ("fast", "slow")
        return NEVER if depth[0] > 30 else USE

    tagalong.specialize(f, fast, [quiet(action), guards.ArgType(0, int)])
    assert f(1)[0] == "fast"
    for number in range(30):
        f(number)
    assert f(5) == slow(5)


def test_assigning_code_in_a_guard(quiet: Any) -> None:
    f = new()

    def action() -> int:
        f.__code__ = fast.__code__
        return USE

    tagalong.specialize(f, lambda x: "other", [quiet(action)])
    f(1)
    assert f(1) == ("fast", 1) and tagalong.get_specialized(f) == []


def test_specialising_is_audited_as_assigning_code_is() -> None:
    seen: list[Any] = []
    active = [True]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if active[0] and event == "object.__setattr__" and arguments[1] == "__code__":
            seen.append(arguments)
            if active[0] == "refuse":
                raise PermissionError("no code is replaced here")

    sys.addaudithook(hook)
    try:
        f = new()
        tagalong.specialize(f, fast, [guards.ArgType(0, int)])
        assert [each[:2] for each in seen] == [(f, "__code__")]
        active[0] = "refuse"  # type: ignore[call-overload]
        with pytest.raises(PermissionError, match="no code is replaced here"):
            tagalong.specialize(f, fast, [guards.ArgType(0, str)])
        assert len(tagalong.get_specialized(f)) == 1
    finally:
        active[0] = False


def test_impossible_arguments() -> None:
    f = new()
    with pytest.raises(ValueError, match=r"slow\(\) has no argument 7"):
        tagalong.specialize(f, fast, [guards.Value(7, 1)])
    with pytest.raises(ValueError, match=r"slow\(\) has no argument 'nope'"):
        tagalong.specialize(f, fast, [guards.ArgType("nope", int)])
    with pytest.raises(ValueError, match=r"slow\(\) cannot be a specialisation of itself"):
        tagalong.specialize(f, f, [guards.ArgType(0, int)])
    assert tagalong.get_specialized(f) == [] and f(1) == ("slow", 1)


LISTING = tagalong.rewriter.disassemble(slow.__code__)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ud800",
        LISTING.replace("arguments 1", "arguments 99999999999999999999"),
        LISTING.replace("arguments 1", "arguments 5"),
        LISTING.replace("arguments 1", "arguments -1"),
        LISTING.replace("first_line", "first_line 99999999999999999999 #"),
        LISTING.replace("constant 0", "constant 99999999999999999999"),
        LISTING.replace("stack ", "stack 99999999"),
        LISTING.replace("LOAD_CONST", "LOAD_NOTHING"),
        LISTING.replace("flags ", "flags 0xffffffffffffffffffff "),
        LISTING + f"\nconstant 7 {'9' * 5000}",
        LISTING.replace("constant 0 None", f"constant 0 {'9' * 5000}"),
    ],
)
def test_assemble_raises_one_kind_of_error(text: str) -> None:
    with pytest.raises(tagalong.rewriter.RewriteError):
        tagalong.rewriter.assemble(text)
