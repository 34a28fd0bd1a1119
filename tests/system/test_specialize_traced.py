"""Functions that are both specialised by hand and traced: both in one list, in every order."""

from __future__ import annotations

import gc
import itertools
import sys
from typing import Any

import pytest

import tagalong
import tagalong.testing
from specialize_support import Says, fast, new, slow
from tagalong import _core, guards


def work(x: Any) -> Any:
    return x * 2 + 1


def quick(x: Any) -> Any:
    return "quick", x


def kinds(f: Any) -> list[str]:
    return [type(code).__name__ for code, _ in tagalong.get_specialized(f)]


@pytest.mark.parametrize("first", ["trace", "specialize"])
def test_both_orders(first: str) -> None:
    f = new(work)
    actions = {
        "trace": lambda: tagalong.trace(f),
        "specialize": lambda: tagalong.specialize(f, quick, [guards.ArgType(0, str)]),
    }
    actions.pop(first)()
    for action in actions.values():
        action()
    with tagalong.testing.assert_events("record", "hit", "hit"):
        assert [f(1), f("s"), f(2), f("t"), f(3)] == [3, ("quick", "s"), 5, ("quick", "t"), 7]
    assert kinds(f) == ["code", "RecordedGraph"] and tagalong.stats(f).hits == 2
    assert "1 recorded, 2 hits" in tagalong.explain(f)


def test_both_are_explained() -> None:
    f = new(work)
    assert tagalong.explain(f) == "not traced\n"
    assert tagalong.specialize(f, quick, [guards.ArgType(0, str), Says()]) == 0
    assert tagalong.specialize(f, len, [guards.ArgType(0, list)]) == 0
    code = tagalong.get_specialized(f)[0][0]
    first = f"specialised as {code!r} under ArgType, Says, used 0 times\n"
    second = f"specialised as {len!r} under ArgType, used 0 times\n"
    assert tagalong.explain(f) == first + second + "not traced\n"
    tagalong.trace(f)
    with tagalong.testing.assert_events("record", "hit"):
        assert [f("s"), f([1, 2]), f(1), f(2)] == [("quick", "s"), 2, 3, 5]
    # Only recorded calls count: a call that a guard has taken is not a graph's.
    known = tagalong.stats(f)
    assert (known.records, known.hits, known.misses) == (1, 1, 0)
    text = tagalong.explain(f)
    first, second = (line.replace("used 0", "used 1") for line in (first, second))
    assert text.startswith(first + second) and "1 recorded, 1 hits" in text
    tagalong.remove_specialized(f, 0)
    assert tagalong.explain(f).startswith(second) and first not in tagalong.explain(f)
    assert first not in tagalong.explain()
    tagalong.remove_specialized(f)
    assert "specialised as" not in tagalong.explain(f)


def test_the_listing_of_a_graph() -> None:
    f = tagalong.trace(new(work))
    f(1)
    ((graph, its_guards),) = tagalong.get_specialized(f)
    assert isinstance(graph, tagalong.RecordedGraph)
    assert str(graph) == graph.text and graph.text.startswith("graph 'work'")
    assert repr(graph) == f"<recorded graph {graph.serial}>"
    assert its_guards and all(type(guard) is guards.Recorded for guard in its_guards)
    assert any("guard_type{<class 'int'>}" in guard.text for guard in its_guards)
    for guard in its_guards:
        with pytest.raises(TypeError, match="asked by its graph alone"):
            guard.check((1,), {})
        with pytest.raises(TypeError, match="asked by its graph alone"):
            tagalong.specialize(f, fast, [guard])
    with pytest.raises(TypeError, match="a code object or a callable, not tagalong.RecordedGraph"):
        tagalong.specialize(f, graph, [Says()])
    with pytest.raises(TypeError):
        tagalong.RecordedGraph()


def test_removing_graphs() -> None:
    f = tagalong.trace(new(work))
    tagalong.specialize(f, quick, [guards.ArgType(0, str)])
    f(1), f(1.5)
    assert kinds(f) == ["code", "RecordedGraph", "RecordedGraph"]
    tagalong.remove_specialized(f, 2)
    assert kinds(f) == ["code", "RecordedGraph"]
    with tagalong.testing.assert_events("hit", "miss", "record"):
        assert (f(1.5), f(1)) == (4.0, 3)
    tagalong.remove_specialized(f)
    assert kinds(f) == [] and _core.is_traced(f)
    with tagalong.testing.assert_events("record", "hit"):
        assert (f(1), f(2)) == (3, 5)
    with pytest.raises(IndexError):
        tagalong.remove_specialized(f, 1)


@pytest.mark.parametrize("order", list(itertools.permutations(["trace", "specialize", "untrace", "remove"])))
def test_every_order(order: tuple[str, ...]) -> None:
    f = new(work)
    is_traced = is_specialized = False
    for action in (*order, *order):
        if action == "trace":
            tagalong.trace(f)
        elif action == "untrace":
            tagalong.untrace(f)
        elif action == "specialize":
            tagalong.specialize(f, quick, [guards.ArgType(0, str)])
        else:
            tagalong.remove_specialized(f)
        is_traced = action == "trace" or (is_traced and action != "untrace")
        is_specialized = action == "specialize" or (is_specialized and action != "remove")
        assert _core.is_traced(f) == is_traced
        assert ("code" in kinds(f)) == is_specialized
        assert [f(1), f(2)] == [3, 5]
        assert not is_specialized or f("s") == ("quick", "s")
        assert f.__code__ is f.__code__ and f.__code__.co_code == work.__code__.co_code
    if not is_traced and not is_specialized:
        assert _core.installed_code(f) is f.__code__


def test_a_graph_calls_a_function_that_is_specialised_later() -> None:
    def callee(x: Any) -> Any:
        return x + 1

    callee = new(callee)

    def caller(x: Any) -> Any:
        return callee(x) * 2

    tagalong.trace(caller)
    assert [caller(1), caller(2)] == [4, 6]
    tagalong.specialize(callee, lambda x: 100, [guards.ArgType(0, int)])
    assert [caller(1), caller(2), caller(3), caller(1.5)] == [200, 200, 200, 5.0]
    tagalong.remove_specialized(callee)
    assert [caller(1), caller(2), caller(1.5)] == [4, 6, 5.0]


def test_a_specialised_function_is_recorded_as_a_call() -> None:
    def callee(x: Any) -> Any:
        return x + 1

    def other(x: Any) -> Any:
        y = [x]
        return y[0] * 100

    callee = new(callee)
    tagalong.specialize(callee, other, [guards.ArgType(0, int)])

    def caller(x: Any) -> Any:
        return [callee(x), callee(x=x), *map(callee, [x])]

    tagalong.trace(caller)
    for _ in range(4):
        assert caller(3) == [300] * 3 and caller(0.5) == [1.5] * 3


class Number:
    def __init__(self, value: int) -> None:
        self.value = value

    def __add__(self, other: Any) -> Any:
        return ("slow", self.value)

    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return 1

    @property
    def twice(self) -> Any:
        return "slow"


def test_special_methods_that_are_specialised() -> None:
    def program(x: Any, y: Any) -> Any:
        return x + y, bool(x), len(x), x.twice, 1 if x else 2

    saved = [vars(Number)[name] for name in ("__add__", "__bool__", "__len__")]
    tagalong.specialize(saved[0], lambda self, other: ("fast", other), [guards.ArgType(1, int)])
    tagalong.specialize(saved[1], lambda self: self.value > 1, [Says()])
    tagalong.specialize(saved[2], lambda self: self.value * 10, [Says()])
    tagalong.specialize(vars(Number)["twice"].fget, lambda self: self.value * 2, [Says()])
    try:
        eager = [program(Number(v), y) for v, y in ((1, 1), (2, 1), (3, 0.5))]
        traced = tagalong.trace(new(program))
        for _ in range(3):
            assert [traced(Number(v), y) for v, y in ((1, 1), (2, 1), (3, 0.5))] == eager
        assert eager[1] == (("fast", 1), True, 20, 4, 1)
    finally:
        for function in (*saved, vars(Number)["twice"].fget):
            tagalong.remove_specialized(function)


def test_loops_generators_and_closures() -> None:
    def numbers(n: Any) -> Any:
        total = 0
        for i in range(n):
            total += i
            yield total

    def others(n: Any) -> Any:
        yield from ["a", "b"]

    f = tagalong.trace(new(numbers))
    tagalong.specialize(f, others, [guards.Value(0, 3)])
    expected = list(numbers(50))
    for _ in range(6):
        assert list(f(50)) == expected and list(f(3)) == ["a", "b"]
        assert sum(f(50)) == sum(expected) and list(zip(f(3), f(2))) == [("a", 0), ("b", 1)]

    def looping(n: int) -> int:
        total = 0
        for i in range(n):
            total += i * i
        return total

    g = tagalong.trace(new(looping))
    tagalong.specialize(g, lambda n: -1, [guards.Value(0, 7)])
    for n in (100, 7, 200, 7, 300):
        assert g(n) == (-1 if n == 7 else sum(i * i for i in range(n)))


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_recursion() -> None:
    try:
        expected = fib(15)
        tagalong.trace(fib)
        guard = Says(0)
        tagalong.specialize(fib, (21).__add__, [guards.Value(0, 0), guard])
        tagalong.specialize(fib, lambda n: 5, [guards.Value(0, 5)])
        tagalong.specialize(fib, lambda n: fib(n - 1) + fib(n - 2), [guards.Value(0, 7)])
        assert [fib(15), fib(15)] == [expected] * 2 and guard.asked
    finally:
        tagalong.untrace(fib)
        tagalong.remove_specialized(fib)


def test_retired_functions() -> None:
    f = tagalong.trace(new(work), retire=True)
    tagalong.specialize(f, quick, [guards.ArgType(0, str)])
    before = _core.limits()["retire_after"]
    _core.set_option("retire_after", 4)
    try:
        for i in range(60):
            assert (f(i), f("s")) == (2 * i + 1, ("quick", "s"))
    finally:
        _core.set_option("retire_after", before)
    tagalong.trace(f)
    assert (f(1), f("s")) == (3, ("quick", "s"))


def test_assigning_code_ends_both() -> None:
    f = tagalong.trace(new(work))
    tagalong.specialize(f, quick, [guards.ArgType(0, str)])
    f(1)
    f.__code__ = f.__code__
    assert not _core.is_traced(f) and kinds(f) == [] and f("s" * 0 or 2) == 5


def test_other_functions_with_the_same_code() -> None:
    def make(number: int) -> Any:
        def function(x: Any) -> Any:
            return x, number

        return function

    one, two = tagalong.trace(make(1)), tagalong.trace(make(2))
    tagalong.specialize(one, str, [guards.ArgType(0, int)])
    for _ in range(3):
        assert (one(5), two(5), one("a"), two("a")) == ("5", (5, 2), ("a", 1), ("a", 2))
    assert set(kinds(two)) == {"RecordedGraph"} and kinds(one) == ["type", *kinds(two)]


def test_record_and_compare_go_by_the_code_as_written() -> None:
    f = new(work)
    tagalong.specialize(f, quick, [Says()])
    recording = tagalong.record(f, 3)
    assert recording.result == 7 and recording.replay(4) == 9 and f(3) == ("quick", 3)
    assert recording.original_code is f.__code__


def test_watchers_see_the_original_of_a_traced_function() -> None:
    f = tagalong.trace(new(slow))
    tagalong.specialize(f, fast, [guards.ArgType(0, int)])
    f("s"), f("s")
    events = []
    old = sys.getprofile()
    sys.setprofile(lambda frame, event, _: events.append(event) if frame.f_code is f.__code__ else None)
    try:
        assert (f(1), f("s")) == (("slow", 1), ("slow", "s"))
    finally:
        sys.setprofile(old)
    assert events == ["call", "return"] * 2
    assert (f(1), f("s")) == (("fast", 1), ("slow", "s"))


def test_a_specialised_function_that_calls_traced_ones() -> None:
    traced = tagalong.trace(new(work))

    def program(x: Any) -> Any:
        return "slow"

    f = new(program)
    f.__globals__["traced_work"] = traced
    code = compile(
        "def program(x):\n    return [traced_work(x), traced_work(x + 1), traced_work(x + 2)]\n",
        "made",
        "exec",
    ).co_consts[0]
    tagalong.specialize(f, code, [guards.ArgType(0, int)])
    for _ in range(4):
        assert f(1) == [3, 5, 7] and f("s") == "slow"
    assert tagalong.stats(traced).hits > 5


def test_nothing_is_left_of_graphs() -> None:
    f = tagalong.trace(new(work))
    tagalong.specialize(f, quick, [guards.ArgType(0, str)])
    f(1), f(2), f("s")
    del f
    gc.collect()
    assert not any(type(found).__name__ == "Dispatcher" for found in gc.get_objects())


def test_callers_of_specialised_functions_are_recorded() -> None:
    """The code that chooses a specialisation is not inlined into its callers, whose recordings end normally."""
    f = new(work)
    tagalong.specialize(f, quick, [guards.ArgType(0, str)])

    def program(x: Any) -> Any:
        return f(x), f("s"), f(x)

    caller = tagalong.trace(program)
    with tagalong.testing.assert_events("record", "hit", "hit"):
        assert [caller(i) for i in range(3)] == [(2 * i + 1, ("quick", "s"), 2 * i + 1) for i in range(3)]
