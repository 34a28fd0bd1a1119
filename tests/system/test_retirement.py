"""Functions that do not pay have their original code again, and what is known of them is told all the same."""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

import tagalong
from tagalong import _core


@pytest.fixture(autouse=True)
def soon() -> None:
    _core.set_option("retire_after", 3)


def new() -> Any:
    def short(x: Any) -> Any:
        return x.bit_length()

    short.__code__ = short.__code__.replace()
    return tagalong.trace(short)


def called(function: Any, calls: int = 8) -> Any:
    for number in range(calls):
        assert function(number) == number.bit_length()
    return function


def is_original(function: Any) -> bool:
    return _core.installed_code(function) is function.__code__


def test_the_original_code_is_put_back() -> None:
    function = new()
    code = function.__code__
    assert not is_original(function)
    called(function)
    assert is_original(function) and function.__code__ is code
    assert tagalong.stats(function).retired == 1 and tagalong.stats(function).hits == 3
    assert "retired: a replay took about" in tagalong.explain(function)
    assert "test_retirement" in tagalong.explain(function)


def test_tracing_it_again_takes_it_back() -> None:
    function = called(new())
    tagalong.trace(function)
    assert not is_original(function) and "retired: a replay" not in tagalong.explain(function)
    with tagalong.testing.assert_events("record", "hit"):
        function(1), function(2)
    called(function)
    assert is_original(function) and tagalong.stats(function).retired == 2


def test_untracing_it_forgets_it() -> None:
    function = called(new())
    tagalong.untrace(function)
    assert is_original(function) and tagalong.explain(function) == "not traced\n"
    assert function(5) == 3


def test_what_is_known_ends_with_the_function() -> None:
    function = called(new())
    code = function.__code__
    gone = weakref.ref(function)
    replay = weakref.ref(_core.installed_code(tagalong.trace(function)))
    called(function)
    assert replay() is not None
    del function
    assert gone() is None
    called(new())  # when nothing is running, the dead are let go of
    gc.collect()
    assert replay() is None
    copy = types.FunctionType(code, {})
    assert copy(9) == 4 and tagalong.explain(copy) == "not traced\n"


def test_all_functions_of_the_code() -> None:
    def make(number: int) -> Any:
        def inner(x: int) -> Any:
            return x, number

        return inner

    first = tagalong.trace(make(0))
    others = [tagalong.trace(make(number)) for number in range(1, 40)]
    for function in [first, *others]:
        for _ in range(6):
            assert function(1)[0] == 1
    assert is_original(first) and is_original(others[3])
    assert tagalong.stats(first).retired == 1
    late = tagalong.trace(make(100))  # takes all of them back
    assert [late(2) for _ in range(9)] == [(2, 100)] * 9
    assert [function(3)[1] for function in others] == list(range(1, 40))


def test_while_it_runs() -> None:
    def fact(n: int) -> int:
        return 1 if n < 2 else n * fact(n - 1)

    tagalong.trace(fact)
    for n in range(2, 60):
        assert fact(n) == n * fact(n - 1)
    assert is_original(fact)


def test_generators_stay_resumable() -> None:
    def numbers(count: int) -> Iterator[int]:
        for number in range(count):
            yield number

    tagalong.trace(numbers)
    open_ones = [numbers(50) for _ in range(4)]
    assert [next(one) for one in open_ones] == [0] * 4
    for _ in range(5):
        assert list(numbers(20)) == list(range(20))
    _core.retire(numbers)
    assert [list(one) for one in open_ones] == [list(range(1, 50))] * 4
    assert list(numbers(3)) == [0, 1, 2]
    assert is_original(numbers) and list(numbers(3)) == [0, 1, 2]


def test_what_is_given_up_everywhere() -> None:
    """No recording of it is worth its runs, so there is none to be weighed."""

    class Node:
        def __init__(self, value: int, left: Node | None, right: Node | None) -> None:
            self.sum = value + (left.sum + right.sum if left and right else 0)

    def tree(depth: int, value: int) -> Node:
        if depth == 0:
            return Node(value, None, None)
        return Node(value, tree(depth - 1, 2 * value), tree(depth - 1, 2 * value + 1))

    expected = tree(6, 1).sum
    tagalong.trace(tree)
    assert [tree(6, 1).sum for _ in range(4)] == [expected] * 4
    assert is_original(tree)
    known = tagalong.stats(tree)
    assert (known.retired, known.hits, known.limits.get("retire_after")) == (1, 0, None)
    assert "left as written" in tagalong.explain(tree)
    tagalong.trace(tree)
    with tagalong.testing.assert_events("record", "retire"):
        assert tree(6, 1).sum == expected


def test_methods_and_properties_in_callers_that_stay() -> None:
    class Box:
        def __init__(self, value: int) -> None:
            self.value = value

        @property
        def twice(self) -> int:
            return self.value * 2

        def moved(self, by: int) -> Box:
            return Box(self.value + by)

    def caller(count: int) -> int:
        total = 0
        box = Box(0)
        for number in range(count):
            box = box.moved(number)
            total += box.twice
        return total

    for function in (Box.__init__, Box.twice.fget, Box.moved):
        tagalong.trace(function)
    expected = caller(40)
    tagalong.trace(caller)
    _core.set_option("retire_after", 0)
    assert [caller(40) for _ in range(4)] == [expected] * 4
    before = tagalong.stats(caller)
    for function in (Box.__init__, Box.twice.fget, Box.moved):
        _core.retire(function)
        Box(1).moved(2).twice
        assert is_original(function)
    assert [caller(40) for _ in range(4)] == [expected] * 4
    # Their code is the same to those that have taken it in.
    assert tagalong.stats(caller).invalidations == before.invalidations


def test_retiring_what_is_not_traced() -> None:
    def function() -> int:
        return 1

    _core.retire(function)
    assert function() == 1
