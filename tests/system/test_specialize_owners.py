"""What keeps specialised functions, their code and their guards alive; many of them, and many threads."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagalong
from specialize_support import Error, Says, fast, new
from tagalong import guards
from test_leaks import assert_no_growth


def test_specialisations_are_collected_with_their_function() -> None:
    class Keeps(guards.Guard):
        def init(self, function: Any) -> int:
            self.function = function
            return 0

        def check(self, args: Any, kwargs: Any) -> int:
            return 1

    class Calls:
        def __init__(self, function: Any) -> None:
            self.function = function

        def __call__(self, x: Any) -> Any:
            return x

    f = new()
    guard, callable_ = Keeps(), Calls(f)
    tagalong.specialize(
        f, callable_, [guard, guards.Identity(0, f), guards.Func(f), guards.Dict({"f": f}, "f")]
    )
    tagalong.specialize(f, fast, [guard])
    alive = [weakref.ref(thing) for thing in (f, guard, callable_)]
    gc.collect()
    assert all(reference() is not None for reference in alive) and f(1) == ("fast", 1)
    del f, guard, callable_
    gc.collect()
    assert [reference() for reference in alive] == [None] * 3


def test_the_collector_finds_nothing_wrong_while_a_call_is_under_way() -> None:
    class Collects(guards.Guard):
        def check(self, args: Any, kwargs: Any) -> int:
            gc.collect()
            return 1

    def make() -> Any:
        f = new()
        f.self = f
        tagalong.specialize(f, lambda x: (gc.collect(), x)[1], [Collects()])
        return f

    assert make()(7) == 7
    f = make()
    assert [f(n) for n in range(3)] == [0, 1, 2]


def test_nothing_is_kept() -> None:
    def one_round(i: int) -> None:
        f = new()
        guard = Says()
        tagalong.specialize(f, fast, [guards.ArgType(0, int), guards.Builtins("chr"), guard])
        tagalong.specialize(f, chr, [guards.ArgType(0, float)])
        assert f(i) == ("fast", i) and f("s") == ("slow", "s")
        guard.answer = Error()
        with pytest.raises(Error):
            f(1)
        guard.answer = -1
        f(1)
        with pytest.raises(TypeError):
            f(1.5)
        if i % 2:
            tagalong.remove_specialized(f)
        guard.asked.clear()

    assert_no_growth(one_round, 3000)


def test_reference_counts_of_arguments() -> None:
    f = new()

    class Holds(guards.Guard):
        def check(self, args: Any, kwargs: Any) -> int:
            return 1

    tagalong.specialize(f, lambda x: sys.getrefcount(x), [guards.Identity(0, None)])
    tagalong.specialize(f, lambda x: sys.getrefcount(x), [Holds()])

    def plain(x: Any) -> int:
        return sys.getrefcount(x)

    thing = object()
    assert f(thing) == plain(thing)
    assert f(object()) == plain(object())
    before = sys.getrefcount(thing)
    for _ in range(100):
        f(thing)
    assert sys.getrefcount(thing) == before


def test_many() -> None:
    f = new()
    assert tagalong.specialize(f, fast, [guards.ArgType(0, int)] * 100_000) == 0
    assert f(1) == ("fast", 1) and f("s") == ("slow", "s")
    for number in range(1000):
        assert tagalong.specialize(f, chr, [guards.Value(0, str(number))]) == 0
    assert len(tagalong.get_specialized(f)) == 1001
    with pytest.raises(TypeError):
        f("999")
    assert f("x") == ("slow", "x")
    tagalong.remove_specialized(f)
    assert f(1) == ("slow", 1)


def test_functions_with_many_constants_and_jumps() -> None:
    text = (
        "def f(x):\n"
        + "".join(f"    x += {i}.5\n    if x < 0: x = {i}\n" for i in range(300))
        + "    return x\n"
    )
    made: dict[str, Any] = {}
    exec(text, made)
    f = made["f"]
    expected = f(1.0)
    plain = new(f)
    tagalong.specialize(f, plain, [guards.ArgType(0, float)])
    assert (f(1.0), f(1)) == (expected, plain(1))


def test_threads() -> None:
    f = new()
    wrong: list[Any] = []
    stop = threading.Event()

    def calls() -> None:
        while not stop.is_set():
            for value in (1, "s", 1.5):
                result = f(value)
                if result not in (("fast", value), ("slow", value)):
                    wrong.append(result)

    threads = [threading.Thread(target=calls) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for _ in range(300):
            tagalong.specialize(f, fast, [guards.ArgType(0, int)])
            tagalong.specialize(f, fast, [Says(lambda: 1)])
            tagalong.remove_specialized(f)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert wrong == []


@settings(deadline=None, max_examples=60)
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.sampled_from([int, str, float]), st.integers(0, 9)),
            st.tuples(st.just("remove"), st.integers(0, 5), st.none()),
            st.tuples(st.just("call"), st.sampled_from([1, "s", 1.5, None]), st.none()),
            st.tuples(st.just("trace"), st.booleans(), st.none()),
            st.tuples(st.just("assign"), st.none(), st.none()),
        ),
        max_size=25,
    )
)
def test_a_model(steps: list[Any]) -> None:
    """Against a list of pairs that are tried in order."""
    f = new()
    model: list[tuple[type, int]] = []
    for step, one, two in steps:
        if step == "add":
            name: dict[str, Any] = {}
            exec(f"def quick(x):\n    y = [x, {two}]\n    return 'fast', {two}", name)
            tagalong.specialize(f, name["quick"], [guards.ArgType(0, one)])
            model.append((one, two))
        elif step == "remove":
            if one < len(model):
                tagalong.remove_specialized(f, one)
                del model[one]
        elif step == "trace":
            tagalong.trace(f) if one else tagalong.untrace(f)
        elif step == "assign":
            f.__code__ = f.__code__
            model.clear()
        else:
            expected = next((("fast", number) for kind, number in model if type(one) is kind), ("slow", one))
            assert f(one) == expected
    hand_made = [
        code for code, _ in tagalong.get_specialized(f) if not isinstance(code, tagalong.RecordedGraph)
    ]
    assert len(hand_made) == len(model)
