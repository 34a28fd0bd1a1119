"""Functions whose replays do not pay get their original code back, and can still be explained."""

from __future__ import annotations

import gc
import sys
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
    _core.set_option("measuring", 0)  # estimates are equal each time


def new() -> Any:
    def short(x: Any) -> Any:
        return x.bit_length()

    short.__code__ = short.__code__.replace()
    return tagalong.trace(short, retire=True)


def called(function: Any, calls: int = 8) -> Any:
    for number in range(calls):
        assert function(number) == number.bit_length()
    return function


def is_original(function: Any) -> bool:
    return _core.installed_code(function) is function.__code__ and not _core.is_traced(function)


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
    tagalong.trace(function, retire=True)
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


def test_recorded_data_dies_with_the_function() -> None:
    function = called(new())
    code = function.__code__
    gone = weakref.ref(function)
    replay = weakref.ref(_core.installed_code(tagalong.trace(function, retire=True)))
    called(function)
    assert replay() is not None
    del function
    assert gone() is None
    called(new())  # deferred frees happen when no replay runs
    gc.collect()
    assert replay() is None
    copy = types.FunctionType(code, {})
    assert copy(9) == 4 and tagalong.explain(copy) == "not traced\n"


def test_all_functions_of_the_code() -> None:
    def make(number: int) -> Any:
        def inner(x: int) -> Any:
            return x, number

        return inner

    first = tagalong.trace(make(0), retire=True)
    others = [tagalong.trace(make(number), retire=True) for number in range(1, 40)]
    for function in [first, *others]:
        for _ in range(6):
            assert function(1)[0] == 1
    assert is_original(first) and is_original(others[3])
    assert tagalong.stats(first).retired == 1
    late = tagalong.trace(make(100), retire=True)  # takes all of them back
    assert [late(2) for _ in range(9)] == [(2, 100)] * 9
    assert [function(3)[1] for function in others] == list(range(1, 40))


def test_while_it_runs() -> None:
    def fact(n: int) -> int:
        return 1 if n < 2 else n * fact(n - 1)

    tagalong.trace(fact, retire=True)
    for n in range(2, 60):
        assert fact(n) == n * fact(n - 1)
    assert is_original(fact)


def test_generators_stay_resumable() -> None:
    def numbers(count: int) -> Iterator[int]:
        for number in range(count):
            yield number

    tagalong.trace(numbers, retire=True)
    open_ones = [numbers(50) for _ in range(4)]
    assert [next(one) for one in open_ones] == [0] * 4
    for _ in range(5):
        assert list(numbers(20)) == list(range(20))
    _core.retire(numbers)
    assert [list(one) for one in open_ones] == [list(range(1, 50))] * 4
    assert list(numbers(3)) == [0, 1, 2]
    assert is_original(numbers) and list(numbers(3)) == [0, 1, 2]


def counting(count: int) -> Iterator[int]:
    total = 0
    for number in range(count):
        try:
            got = yield number
        except KeyError as error:
            got = len(error.args)
        total += got or 0
    yield total


def uses(code: types.CodeType) -> int:
    return sys.getrefcount(code)


def test_frames_under_way_go_on_in_the_original_code() -> None:
    function = types.FunctionType(counting.__code__.replace(), globals())
    tagalong.trace(function, retire=True)
    replay = _core.installed_code(function)
    open_ones = [function(9) for _ in range(5)]
    for one in open_ones:
        assert next(one) == 0 and one.send(3) == 1
    before = uses(replay)
    _core.retire(function)
    assert uses(replay) == before
    with tagalong.testing.assert_events():
        assert [next(one) for one in open_ones[:2]] == [2, 2] and uses(replay) == before - 2
        assert open_ones[2].throw(KeyError(1, 2)) == 2 and uses(replay) in (before - 2, before - 3)
        held = open_ones[3].gi_frame
        assert next(open_ones[3]) == 2 and held.f_lineno == counting.__code__.co_firstlineno + 4
        assert held.f_locals["total"] == 3
        open_ones[4].close()
        assert [list(one) for one in open_ones] == [
            [3, 4, 5, 6, 7, 8, 3],
            [3, 4, 5, 6, 7, 8, 3],
            [3, 4, 5, 6, 7, 8, 5],
            [3, 4, 5, 6, 7, 8, 3],
            [],
        ]
    assert held.f_code is function.__code__


def test_many_frames_under_way() -> None:
    function = types.FunctionType(counting.__code__.replace(), globals())
    tagalong.trace(function, retire=True)
    replay = _core.installed_code(function)
    _core.set_option("retire_after", 0)
    open_ones = [function(3) for _ in range(100)]
    assert [next(one) for one in open_ones] == [0] * 100
    before = uses(replay)
    _core.retire(function)
    assert [next(one) for one in open_ones] == [1] * 100 and uses(replay) == before - 64
    assert [list(one) for one in open_ones] == [[2, 0]] * 100
    tagalong.trace(function, retire=True)
    assert list(function(3)) == [0, 1, 2, 0] == list(function(3))


def test_a_loop_under_way() -> None:
    def rounds(count: int, retire: Any) -> list[int]:
        seen = []
        for number in range(count):
            if number == 5:
                retire()
            seen.append(uses(replay))
        return seen

    tagalong.trace(rounds, retire=True)
    replay = _core.installed_code(rounds)
    _core.set_option("retire_after", 0)
    _core.set_option("heat", 1000)
    seen = rounds(10, lambda: _core.retire(rounds))
    assert seen[2:6] == [seen[2]] * 4 and seen[6:] == [seen[2] - 1] * 4
    assert set(rounds(5, int)) == {seen[-1]}


def test_functions_that_never_pay() -> None:
    """No recording of it pays for its runs, so none is measured."""

    class Node:
        def __init__(self, value: int, left: Node | None, right: Node | None) -> None:
            self.sum = value + (left.sum + right.sum if left and right else 0)

    def tree(depth: int, value: int) -> Node:
        if depth == 0:
            return Node(value, None, None)
        return Node(value, tree(depth - 1, 2 * value), tree(depth - 1, 2 * value + 1))

    expected = tree(6, 1).sum
    tagalong.trace(tree, retire=True)
    assert [tree(6, 1).sum for _ in range(4)] == [expected] * 4
    assert is_original(tree)
    known = tagalong.stats(tree)
    assert (known.retired, known.hits, known.limits.get("retire_after")) == (1, 0, None)
    assert "left as written" in tagalong.explain(tree)
    tagalong.trace(tree, retire=True)
    with tagalong.testing.assert_events("record", "retire"):
        assert tree(6, 1).sum == expected


@pytest.mark.parametrize("pays", [True, False])
def test_nothing_expensive_is_made_of_functions_on_trial(pays: bool) -> None:
    """Machine code and trace trees cost as much as very many rounds."""

    def rounds(numbers: list[int], limit: int) -> int:
        total = 0
        for number in numbers:
            if number > limit:
                total += number
            else:
                total -= 1
        return total

    for name, value in {
        "loops": 1,
        "heat": 2,
        "native_after": 20,
        "grow_after": 4,
        "retire_after": 1_000,
    }.items():
        _core.set_option(name, value)
    expected = [(numbers, rounds(numbers, 1)) for numbers in ([1, 2] * 100 if pays else [2], [1])]
    tagalong.trace(rounds, retire=True)
    for _ in range(100):
        for numbers, result in expected:
            assert rounds(numbers, 1) == result
    known = tagalong.stats(rounds)
    assert known.hits > 20 and known.retired == 0
    assert (known.limits.get("native_after", 0) > 0) == pays
    assert (known.limits.get("grow_after", 0) > 0) == pays


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
        tagalong.trace(function, retire=True)
    expected = caller(40)
    tagalong.trace(caller, retire=True)
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


def test_retiring_functions_that_are_not_traced() -> None:
    def function() -> int:
        return 1

    _core.retire(function)
    assert function() == 1


MAKERS = """
def make(number):
    def inner(x):
        return x, number
    return inner

def squares(count):
    return [n * n for n in range(count)], sum(n for n in range(count))

class Box:
    make = staticmethod(lambda number: lambda: number)

made = []
for number in range(3):
    made.append(lambda: number)
"""


def makers() -> dict[str, Any]:
    code = compile(MAKERS, "makers.py", "exec")
    namespace: dict[str, Any] = {"__name__": "makers"}
    exec(_core.wrap_module_code(code), namespace)
    return namespace


def constants(code: types.CodeType) -> list[Any]:
    return [constants(each) if isinstance(each, types.CodeType) else each for each in code.co_consts]


def test_its_makers_make_it_as_written() -> None:
    make = tagalong.untrace(makers()["make"])
    first = make(0)
    shown = constants(make.__code__)
    assert not is_original(make(1)) and [first(1) for _ in range(8)] == [(1, 0)] * 8
    assert is_original(first) and is_original(make(2)), tagalong.explain(first)
    with tagalong.testing.assert_events():
        assert [make(number)(1) for number in range(3)] == [(1, 0), (1, 1), (1, 2)]
    assert "retired" in tagalong.explain(make(3)) and tagalong.stats(make(4)).retired == 1
    assert first.__code__ is make(5).__code__ and constants(make.__code__) == shown

    tagalong.trace(make(6), retire=True)  # takes it back for functions made later
    assert not is_original(make(7))
    with tagalong.testing.assert_events("record", "hit", "hit", "hit", "retire"):
        assert [make(number)(1) for number in range(9)] == [(1, number) for number in range(9)]
    assert is_original(make(8)) and constants(make.__code__) == shown


def test_a_maker_that_is_replayed_or_dies() -> None:
    namespace = makers()
    make = namespace["make"]
    with tagalong.testing.assert_events("record", "hit", "hit"):
        kept = [make(number) for number in range(3)]
    _core.set_option("retire_after", 9)  # the graph is kept, not the function that it makes
    for _ in range(8):
        assert [inner(1) for inner in kept] == [(1, 0), (1, 1), (1, 2)]
    assert all(is_original(inner) for inner in kept)
    with tagalong.testing.assert_events("hit"):
        assert is_original(make(3))
    assert [make(number)(2) for number in range(40)] == [(2, number) for number in range(40)]
    namespace.clear()
    gone = weakref.ref(make)
    del make
    gc.collect()
    assert gone() is None and [inner(3)[1] for inner in kept] == [0, 1, 2]
    tagalong.trace(kept[1], retire=True)
    assert [kept[1](4)[1] for _ in range(9)] == [1] * 9


def test_bodies_of_comprehensions_and_of_modules() -> None:
    namespace = makers()
    squares = namespace["squares"]
    _core.set_option("retire_after", 2)
    assert [squares(5) for _ in range(40)] == [([0, 1, 4, 9, 16], 10)] * 40
    codes = [each for each in squares.__code__.co_consts if isinstance(each, types.CodeType)]
    assert [tagalong.stats(types.FunctionType(code, {})).retired for code in codes] == [1, 1]
    box = namespace["Box"].make
    assert [box(number)() for number in range(9)] == list(range(9)) and is_original(box(9))
    last = namespace["made"][-1]
    assert [last() for _ in range(9)] == [2] * 9 and is_original(last)
