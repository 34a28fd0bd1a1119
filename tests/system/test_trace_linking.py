"""Executors that are linked: each completes an instruction, or the interpreter does.

Steps of executors are made to fail: from then on a guard never holds, or the run takes a side exit in front of an
operation as if a tool watched. The results must stay those of eager execution, and the program must end.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from types import FunctionType
from typing import Any

import pytest

import tagalong
import tagalong.testing
from tagalong import _core

sys.path.insert(0, str(Path(__file__).parent))

from differential.program import PROGRAMS, Program, load_topic
from differential.runner import differences, run

pytestmark = pytest.mark.own_stack

# If every function is traced, these tests do not see the executors, so none can be made to fail.
LOOPS = [
    program
    for topic in ("closed_loops.py", "linked_loops.py", "trace_trees.py", "guard_relocation.py")
    for program in load_topic(PROGRAMS / topic)
    if not program.traces_all
]


def places(function: FunctionType) -> list[tuple[int, int]]:
    """(executor, step) for each step of its executors, in order."""
    return [(serial, step) for serial, steps in _core.executors_of(function) for step in range(steps)]


def fail_once(function: FunctionType, order: Iterable[tuple[int, int]]) -> int:
    """Makes each executor fail at the first of these places where it can; returns how many can."""
    failing: set[int] = set()
    for serial, step in order:
        if serial not in failing and _core.fail_at(function, serial, step):
            failing.add(serial)
    return len(failing)


def fail_first(function: FunctionType) -> int:
    """Makes each executor fail at its first possible step."""
    return fail_once(function, places(function))


def fail_last(function: FunctionType) -> int:
    """At the last possible step, when most of its trace has run."""
    return fail_once(function, reversed(places(function)))


def fail_anywhere(seed: int) -> Callable[[FunctionType], int]:
    """At any one step of each executor."""
    random = Random(seed)

    def fail(function: FunctionType) -> int:
        shuffled = places(function)
        random.shuffle(shuffled)
        return fail_once(function, shuffled)

    return fail


def fail_one_in(number: int, seed: int) -> Callable[[FunctionType], int]:
    """At one of this many steps of all executors: one executor may fail at several, another at none."""
    random = Random(seed)

    def fail(function: FunctionType) -> int:
        return sum(
            _core.fail_at(function, *place) for place in places(function) if random.randrange(number) == 0
        )

    return fail


WAYS = {
    "first": fail_first,
    "last": fail_last,
    "anywhere": fail_anywhere(1),
    "anywhere_else": fail_anywhere(2),
    "one_in_5": fail_one_in(5, 1),
    "one_in_20": fail_one_in(20, 1),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", LOOPS, ids=lambda program: program.name)
def test_failing_steps(program: Program, way: str) -> None:
    """Before each call but the first ones, and therefore also for executors made meanwhile."""
    often = replace(program, steps=program.steps * 3)
    traced: list[FunctionType] = []
    failed = calls = 0

    def trace(function: Any) -> Any:
        if isinstance(function, FunctionType):
            traced.append(function)
        return tagalong.trace(function)

    @contextlib.contextmanager
    def events() -> Iterator[list[str]]:
        nonlocal failed, calls
        calls += 1
        if calls > len(program.steps):
            failed += sum(map(WAYS[way], traced))
        with tagalong.testing.events() as collected:
            yield collected

    seen = run(often, trace, events)
    for one in seen:
        one.expected = None
    assert failed > 0 or way.startswith("one_in"), "nothing was made to fail"
    found = differences(run(often), seen)
    assert not found, "\n".join([f"{program.path.name}:{program.line}: {program.name}", *found])


# --- written by hand

USUAL = {"loops": 1, "heat": 2, "grow_after": 0, "entries_per_anchor": 8}


class Traced:
    """A program whose `f` is traced, and the same program eager; options are restored at the end."""

    def __init__(self, source: str, **limits: int) -> None:
        self.eager: dict[str, Any] = {}
        self.names: dict[str, Any] = {}
        exec(source, self.eager)
        exec(source, self.names)
        self.function: FunctionType = self.names["f"]
        self.limits = USUAL | limits

    def __enter__(self) -> Traced:
        self.before = _core.options()
        for name, value in self.limits.items():
            _core.set_option(name, value)
        tagalong.trace(self.function)
        return self

    def __exit__(self, *_: object) -> None:
        for name, value in self.before.items():
            _core.set_option(name, value)

    def call(self, *arguments: Any) -> str:
        """The events of a call, whose result must be eager execution's."""
        expected = self.eager["f"](*arguments)
        with tagalong.testing.events() as events:
            result = self.names["f"](*arguments)
        assert result == expected
        return " ".join(events)

    @property
    def invalidations(self) -> int:
        """How many executors were invalidated because an object that they need has died."""
        return tagalong.stats(self.function).invalidations

    def warm(self, *arguments: Any) -> None:
        """Calls it until nothing new is recorded, and executors are linked."""
        quiet = 0
        for _ in range(40):
            events = self.call(*arguments).split()
            quiet = 0 if {"record", "bridge"} & set(events) else quiet + 1
            if quiet == 4:
                assert "stitch" in events
                return
        raise AssertionError("it goes on recording")


def record_no_more() -> None:
    """Prevents new recordings that would replace what fails."""
    _core.set_option("heat", 1_000_000)
    _core.set_option("entries_per_anchor", 0)


BRANCHES = """
def f(n):
    a, b, c = 0, 0.0, []
    for i in range(n):
        if i % 2:
            if i % 3:
                a += i
            else:
                b += i * 0.5
        elif i % 5:
            c.append(i)
        else:
            for k in range(i % 4):
                a -= k
    return a, b, c
"""


def test_no_loop_runs_in_executors_that_all_fail() -> None:
    """If each executor fails at its first step, a round has at most one failed attempt for each side exit."""
    rounds = 60
    with Traced(BRANCHES) as traced:
        traced.warm(rounds)
        count = fail_first(traced.function)
        assert count == len(_core.executors_of(traced.function)) > 5
        record_no_more()
        happened = Counter(traced.call(rounds).split())
    assert set(happened) <= {"hit", "stitch", "exit", "miss"}
    assert happened["stitch"] == 0
    assert happened["miss"] >= rounds
    assert happened.total() <= 4 * rounds


def test_every_pair_of_executors_fails() -> None:
    """Two fail at their first possible step, all others run: each pair that is linked, and each that is not."""
    rounds = 60
    with Traced(BRANCHES) as traced:
        traced.warm(rounds)
        count = len(_core.executors_of(traced.function))
    for first in range(count):
        for second in range(first, count):
            with Traced(BRANCHES) as traced:
                traced.warm(rounds)
                serials = [serial for serial, _ in _core.executors_of(traced.function)]
                assert len(serials) == count
                for serial, steps in _core.executors_of(traced.function):
                    if serial in (serials[first], serials[second]):
                        assert any(_core.fail_at(traced.function, serial, step) for step in range(steps))
                record_no_more()
                happened = Counter(traced.call(rounds).split())
                assert happened.total() <= 6 * rounds
                assert not {"record", "bridge"} & set(happened)


DYING = """
import gc
def make(k):
    class Kind:
        def __init__(self, x):
            self.value = x + k
    return Kind
def replace():
    global Kind
    Kind = make(100)
    gc.collect()
Kind = make(1)
def f(n, last):
    total = 0
    for i in range(n):
        if i % 3 == 2:
            total -= i
            if i == last:
                replace()
        total += Kind(i).value
    return total
"""


def test_parents_end_while_their_bridge_is_recorded() -> None:
    with Traced(DYING) as traced:
        assert traced.call(4, 99) == "record record"
        assert traced.invalidations == 0
        # The class of both dies in the bridge, which is kept: side exits still lead to it.
        assert traced.call(6, 5) == "hit stitch exit hit exit bridge"
        assert traced.invalidations == 2
        assert traced.call(4, 99) == "record record"
        traced.warm(9, 99)


def test_executors_end_while_they_run() -> None:
    with Traced(DYING) as traced:
        traced.call(12, 8)  # that path is recorded, too
        traced.warm(12, 99)
        before, many = traced.invalidations, len(_core.executors_of(traced.function))
        # All executors for the class end in the middle of a chain, including the running one.
        happened = traced.call(12, 11).split()
        assert happened.count("stitch") > 3
        assert traced.invalidations - before >= 3
        assert len(_core.executors_of(traced.function)) < many
        traced.warm(12, 99)


def test_executors_die_with_the_objects_that_they_need() -> None:
    with Traced(DYING, retries=1_000_000) as traced:
        for _ in range(20):
            traced.call(12, 8)
        assert traced.invalidations > 20
        assert len(_core.executors_of(traced.function)) < 12


def test_a_chain_at_its_limits() -> None:
    rounds = 60
    for limits in (
        {"executors": 3},
        {"entries_per_anchor": 1},
        {"retries": 1},
        {"executors": 0},
        {"stack": 1_000_000},
    ):
        with Traced(BRANCHES, **limits) as traced:
            for _ in range(5):
                traced.call(rounds)
            happened = traced.call(rounds).split()
            assert not {"record", "bridge"} & set(happened), limits
            executors = _core.executors_of(traced.function)
            assert len(executors) <= limits.get("executors", 200) + 1  # the call's own does not count
            assert happened or not executors or "stack" in limits


NESTED = """
def f(n, deep):
    total = 0
    for i in range(n):
        if i % 2:
            total += i
        else:
            total -= 1
        if deep and i == n - 1:
            total += max(map(f, [n], [deep - 1]))
    return total
"""


def test_chains_in_chains_end_where_the_stack_is_short() -> None:
    def work() -> None:
        for _ in range(20):
            traced.call(12, 20)
        happened.update(traced.call(12, 20).split())
        few.update(traced.call(12, 3).split())

    happened: Counter[str] = Counter()
    few: Counter[str] = Counter()
    with Traced(NESTED, stack=960) as traced:
        traced.warm(12, 0)
        thread = threading.Thread(target=work)
        size = threading.stack_size(1024 * 1024)
        thread.start()
        threading.stack_size(size)
        thread.join()
    assert 0 < happened["hit"] <= 15
    assert happened["stitch"] > 0
    assert few["hit"] >= 4
