"""Nothing leaks: memory over thousands of record/replay/discard rounds, and reference counts on every path."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
import tagalong.testing
from conftest import is_sanitized, no_thread_asking
from tagalong import _core

ROUNDS = 10_000
WARM_UP = 1_000
BLOCKS = 200  # detects a leak of one small object in forty-five rounds
BYTES = 2 << 20  # and one of 230 bytes a round outside of the small-object allocator


def helper(x: Any, into: list[Any]) -> Any:
    into.append(x)
    if x > 0:
        return x * 2
    return -x


def plain(x: Any, into: list[Any]) -> Any:
    z = x + 1
    y = helper(x, into)

    def inner() -> Any:
        return y, x

    return [inner()[0] + z - x, into]


def failing(x: Any, into: list[Any]) -> Any:
    try:
        return [10 // x, into[0]]
    except ZeroDivisionError:
        into.append("handled")
        return helper(x, into)


def raising(x: Any, into: list[Any]) -> Any:
    local = [x, into]
    return local[into[5]]


def arrays(x: Any, into: list[Any]) -> Any:
    a = np.arange(4.0) * x + 1
    into.append(a)
    return (a - 1).sum() if x else a


def fresh(function: FunctionType) -> FunctionType:
    """A new function with a new code object."""
    return FunctionType(function.__code__.replace(), function.__globals__, function.__name__)


def resident() -> int:
    """Resident memory of the process in bytes; under a sanitizer, which keeps freed memory, the allocated bytes."""
    if is_sanitized():
        allocated = ctypes.CDLL(None).__sanitizer_get_current_allocated_bytes
        allocated.restype = ctypes.c_size_t
        return int(allocated())
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096


def assert_no_growth(one_round: Callable[[int], None], rounds: int = ROUNDS) -> None:
    for i in range(WARM_UP):
        one_round(i)
    gc.collect()
    with no_thread_asking():
        memory, blocks = resident(), sys.getallocatedblocks()
        for i in range(rounds):
            one_round(i)
        gc.collect()
        more_blocks, more_memory = sys.getallocatedblocks() - blocks, resident() - memory
    assert more_blocks < BLOCKS, f"{more_blocks} blocks more after {rounds} rounds"
    assert more_memory < BYTES, f"{more_memory} bytes more after {rounds} rounds"


def test_record_replay_discard_does_not_grow() -> None:
    def one_round(i: int) -> None:
        recording = tagalong.record(fresh(plain), 3, [])
        assert recording.result[0] == 7
        assert recording.replay(i + 1, [])[0] == 2 * i + 3
        with pytest.raises(tagalong.GuardFailed):
            recording.replay(2.5, [])

    assert_no_growth(one_round)


def test_trace_call_discard_does_not_grow() -> None:
    # record, hit, side exit, miss with a second recording, an exception in a node; then everything is dropped
    _core.set_option("loops", 0)  # with loops, other types take side exits

    def one_round(i: int) -> None:
        f = tagalong.trace(fresh(plain))
        f(3, [])
        assert f(i + 1, [])[0] == 2 * i + 3
        assert f(-5, [])[0] == 6
        assert f(2.5, [])[0] == 6.0
        try:
            f(1, None)
        except AttributeError:
            pass

    with tagalong.testing.events() as events:
        one_round(1)
    assert events[:2] == ["record", "hit"]
    assert events.count("record") >= 2
    assert events.count("exit") >= 1
    assert_no_growth(one_round)


class Overloading:
    """Has methods for operators, branches, attributes and builtins; refuses what it is told to refuse."""

    def __init__(self, *args: Any, **refused: Any) -> None:
        object.__setattr__(self, "refused", refused)

    def __bool__(self) -> Any:
        return self.refused.get("bool", True)

    def __len__(self) -> Any:
        return self.refused.get("len", 3)

    def __contains__(self, item: Any) -> Any:
        return [item]

    def __iter__(self) -> Any:
        return iter([self])

    def __radd__(self, other: Any) -> Any:
        return NotImplemented if "radd" in self.refused else [other]

    def __eq__(self, other: object) -> Any:
        return NotImplemented if other is None else [other]

    def __getattr__(self, name: str) -> Any:
        if name == "bad":
            raise AttributeError(name)
        return [name, self]

    def __setattr__(self, name: str, value: Any) -> None:
        raise KeyError(name)

    def __format__(self, spec: str) -> Any:
        return spec + "x"


def overloads(token: Any, given: tuple[Any, ...], refused: dict[str, Any]) -> list[Any]:
    a = Overloading(*given, **refused)
    found: list[Any] = []
    for item in Overloading():
        found.append([token in item, item != token, 2.5 == item, f"{item:5}", item.foo, bool(item)])
    try:
        found.append(1 if a else 2)
    except TypeError:
        found.append(token)
    try:
        found.append(len(a))
    except ValueError:
        found.append(token)
    try:
        found.append(token + a)
    except TypeError:
        found.append(token)
    try:
        found.append(a.bad)
    except AttributeError:
        found.append(token)
    try:
        a.foo = token
    except KeyError:
        found.append(token)
    return found


def test_hits_of_special_methods_do_not_grow() -> None:
    # results that are accepted or refused (an exception in the graph), and a side exit in each second call
    f = tagalong.trace(fresh(overloads))
    token = object()

    def one_round(i: int) -> None:
        f(token, (i, token), {"bool": 3, "len": -1, "radd": True})
        f(token, (i, token), {"bool": False, "len": 5 + i, "sub": token})

    one_round(0)
    before = sys.getrefcount(token)
    assert_no_growth(one_round, 3_000)
    assert sys.getrefcount(token) == before
    assert tagalong.stats(f).hits > 3_000


def yielding(n: Any, into: list[Any]) -> Any:
    try:
        for i in range(n):
            got = yield [i, into]
            into.append(got)
        result = yield from iter([n])
    except ValueError as error:
        yield error
    finally:
        into.append("finally")
    return result


def counting(n: Any, into: list[Any]) -> Any:
    for i in range(n):
        into.append([i])
        yield into
        if into[-1] is None:
            raise ValueError


def consuming(n: Any, into: list[Any], made: Any) -> Any:
    for x in made(n, into):
        if len(x) == 5:
            return x
        x.append([n])
    return len(into)


async def awaiting(n: Any, into: list[Any]) -> Any:
    async def inner(x: Any) -> Any:
        into.append(x)
        return await asyncio.sleep(0, [x])

    return [await inner(i) for i in range(n)]


def test_generators_do_not_grow() -> None:
    # run to the end, recorded and replayed; abandoned halfway, closed, thrown into, collected in a cycle
    def one_round(i: int) -> None:
        g = tagalong.trace(fresh(yielding))
        assert [x if x == 2 else x[0] for x in g(2, [])] == [0, 1, 2]
        assert [x if x == 3 else x[0] for x in g(3, [])] == [0, 1, 2, 3]
        suspended = g(3, [])
        next(suspended)
        suspended.send([i])
        thrown = g(3, [])
        next(thrown)
        assert isinstance(thrown.throw(ValueError("v")), ValueError)
        cycle: list[Any] = []
        cycle.append(g(3, cycle))
        next(cycle[0])
        cycle[0].send(cycle)

    with tagalong.testing.events() as events:
        one_round(1)
    assert events.count("record") >= 3
    assert events.count("hit") >= 8
    assert_no_growth(one_round, 4000)


def test_consumed_generators_do_not_grow() -> None:
    # recorded into the consumer: to the end, abandoned halfway, more rounds than recorded, an exception in the body
    _core.set_option("loops", 0)  # with loops, a consumer's rounds are not unrolled

    class Odd(list[Any]):
        def append(self, item: Any) -> None:
            super().append(None if len(self) == 1 else item)

    def one_round(i: int) -> None:
        made, f = tagalong.trace(fresh(counting)), tagalong.trace(fresh(consuming))
        assert f(2, [], made) == 4
        assert f(2, [], made) == 4
        assert len(f(3, [], made)) == 5
        assert f(1, [], made) == 2
        with pytest.raises(ValueError):
            f(2, Odd(), made)

    with tagalong.testing.events() as events:
        one_round(1)
    assert events[:2] == ["record", "hit"]
    assert events.count("exit") >= 2
    assert_no_growth(one_round, 2000)


def test_coroutines_do_not_grow() -> None:
    loop = asyncio.new_event_loop()

    def one_round(i: int) -> None:
        f = tagalong.trace(fresh(awaiting))
        assert loop.run_until_complete(f(2, [])) == [[0], [1]]
        assert loop.run_until_complete(f(3, [])) == [[0], [1], [2]]
        f(3, []).close()

    with tagalong.testing.events() as events:
        one_round(1)
    assert events.count("record") >= 2
    assert events.count("hit") >= 2
    try:
        assert_no_growth(one_round, 2000)
    finally:
        loop.close()


def test_untrace_does_not_grow() -> None:
    f = fresh(plain)

    def one_round(i: int) -> None:
        tagalong.trace(f)
        f(3, [])
        f(4, [])
        tagalong.untrace(f)

    assert_no_growth(one_round)


@pytest.mark.parametrize("function", [failing, raising, arrays], ids=lambda function: function.__name__)
def test_other_paths_do_not_grow(function: FunctionType) -> None:
    def one_round(i: int) -> None:
        f = tagalong.trace(fresh(function))
        for x, into in ((3, [1]), (4, [2]), (0, [1]), (5, []), (2.5, [1])):
            try:
                f(x, into)
            except (IndexError, TypeError):
                pass

    assert_no_growth(one_round, 3000)


@pytest.mark.parametrize(
    "function", [plain, failing, raising, arrays], ids=lambda function: function.__name__
)
def test_replays_of_one_function_do_not_grow(function: FunctionType) -> None:
    f = tagalong.trace(fresh(function))

    def one_round(i: int) -> None:
        for x, into in ((3, [1]), (i, [2]), (0, [1]), (5, []), (2.5, [1]), (-3, [1])):
            try:
                f(x, into)
            except (IndexError, TypeError):
                pass

    assert_no_growth(one_round)
    assert tagalong.stats(f).hits > ROUNDS


class Thing:
    """An argument whose reference count is checked."""

    def __init__(self, n: Any) -> None:
        self.n = n


def by_object(thing: Any, other: Any) -> Any:
    pair = (thing, other)
    kept = {"k": pair}
    if thing.n > 0:
        return kept["k"][0]
    return other


def exits(thing: Any, other: Any) -> Any:
    box = [thing, other]
    print(end="")
    if thing.n > 0:
        return box
    return [other, box]


def raises(thing: Any, other: Any) -> Any:
    box = [thing, other]
    return inner_raises(box, thing)


def inner_raises(box: list[Any], thing: Any) -> Any:
    mine = [box, thing]
    return mine[thing.n]


def handles(thing: Any, other: Any) -> Any:
    try:
        return inner_raises([other], thing)
    except IndexError as error:
        return [other, error.args]


def closes_over(thing: Any, other: Any) -> Any:
    def inner() -> Any:
        return thing, other

    return inner


def rebinds(thing: Any, other: Any) -> Any:
    first = thing
    thing = other
    other = [first, thing]
    del first
    return other


def deep(thing: Any, other: Any) -> Any:
    return [by_object(thing, other), closes_over(other, thing)(), rebinds(thing, other)]


PATHS = [by_object, exits, raises, handles, closes_over, rebinds, deep]
# The values of `thing.n`, one for each call: recorded, hit, exit or miss, exception.
COURSES = {
    "recorded": [1],
    "hits": [1, 1, 1, 1],
    "exits": [1, -1, 1, -1, -1],
    "misses": [1, 1.5, "s", 1, 1.5],
    "out_of_range": [1, 9, 1, 9],
}


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("function", PATHS, ids=lambda function: function.__name__)
def test_reference_counts_return(function: FunctionType, course: str) -> None:
    f = fresh(function)
    code: CodeType = f.__code__
    thing, other = Thing(1), Thing("other")
    watched = [thing, other, f, code, f.__globals__, Thing, list, by_object, by_object.__code__, inner_raises]
    gc.collect()
    with no_thread_asking():
        before = [sys.getrefcount(item) for item in watched]
        tagalong.trace(f)
        with tagalong.testing.events() as events:
            for n in COURSES[course]:
                thing.n = n
                try:
                    f(thing, other)
                except (IndexError, TypeError):
                    pass
        assert events[0] == "record"
        assert [sys.getrefcount(item) for item in watched][:2] == before[:2], "arguments are held"
        tagalong.untrace(f)
        gc.collect()
        after = [sys.getrefcount(item) for item in watched]
    assert after == before
    assert f.__code__ is code


def test_results_are_held_by_their_receiver_only() -> None:
    @tagalong.trace
    def f(x: Any) -> Any:
        y = [x]
        return {"k": y}

    def eager(x: Any) -> Any:
        y = [x]
        return {"k": y}

    with tagalong.testing.assert_events("record", "hit", "hit"):
        results = [f(object()) for _ in range(3)]
    expected = [eager(object()) for _ in range(3)]
    for result, model in zip(results, expected, strict=True):
        assert sys.getrefcount(result) == sys.getrefcount(model)
        assert sys.getrefcount(result["k"]) == sys.getrefcount(model["k"])
        assert sys.getrefcount(result["k"][0]) == sys.getrefcount(model["k"][0])


def test_a_recording_frees_what_it_held() -> None:
    class Local:
        pass

    import weakref

    thing = Local()
    gone = weakref.ref(thing)
    recording = tagalong.record(fresh(closes_over), thing, 1)
    del recording, thing
    gc.collect()
    assert gone() is None


def test_dropping_a_traced_function_frees_its_code() -> None:
    import weakref

    f = tagalong.trace(fresh(plain))
    f(1, [])
    f(2, [])
    function, code = weakref.ref(f), weakref.ref(f.__code__)
    del f
    gc.collect()
    assert function() is None
    assert code() is None
