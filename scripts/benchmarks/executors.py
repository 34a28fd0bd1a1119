"""The cost of reaching an executor: in a hot loop that has just begun, and the last of eight graphs."""

from __future__ import annotations

import itertools
import statistics
import time

import tagalong
from benchmarks.first_call import fresh
from benchmarks.measure import Figure, without_collector

TITLE = "executors: coming to them"

# A body of 30 instructions; `enter` is called in front of the loop.
LOOP = """
def f(n, x, enter):
    total = y = 0.0
    enter()
    for i in range(n):
        y = x * 0.5 + y
        total = total + y * x - i
        y = y - total * 0.25
    return total
"""
CHOICE = """
def f(a, b, c):
    return a + a, b + b, c + c
"""
ENTRIES_MOST = 200.0  # us
CHOICE_MOST = 2.0


def figures(rounds: int) -> list[Figure]:
    return [_entering(3 * rounds), _choosing(rounds)]


def _entering(rounds: int) -> Figure:
    """From the start of a new loop to the first round in its executor, without the time of the rounds themselves.

    The executor is entered in round `entered`, which is found by calls with more and more rounds. A call that ends
    there has paid for everything in between; the time of these rounds by CPython is subtracted. Processor time is
    measured, so other processes do not count.
    """
    entered = next(n for n in range(2, 400) if _is_entered(n))

    def take_turns() -> list[float]:
        above = []
        for _ in range(rounds):
            times = []
            for function in (tagalong.trace(fresh(LOOP)), fresh(LOOP)):
                start: list[int] = []
                function(entered, 1.5, lambda start=start: start.append(time.thread_time_ns()))
                times.append(time.thread_time_ns() - start[0])
            above.append((times[0] - times[1]) / 1e3)
        return above

    microseconds = statistics.median(without_collector(take_turns))
    beside = f"entered in round {entered}; that many by CPython taken off"
    return Figure("from the start of a loop to its executor", microseconds, "us", beside, bar=ENTRIES_MOST)


def _is_entered(n: int) -> bool:
    function = tagalong.trace(fresh(LOOP))
    function(n, 1.5, int)
    return tagalong.stats(function).hits > 0


def _choosing(rounds: int) -> Figure:
    """Calls whose graph is always the last of eight, against calls whose graph is always the first."""
    values = list(itertools.product((1, 1.5), repeat=3))  # eight kinds of arguments
    function = tagalong.trace(fresh(CHOICE))
    for value in values:
        function(*value)
    if f", {len(values)} graphs" not in tagalong.explain(function):
        raise RuntimeError(f"fewer graphs than kinds of arguments:\n{tagalong.explain(function)}")
    # The newest graph is tried first, the oldest last; a hit exchanges a graph with the first one. So these two calls
    # in turn find their graphs behind all others each time.
    ends = (values[0], values[-1])

    def turn(order: tuple[tuple[float, ...], ...]) -> float:
        start = time.perf_counter_ns()
        for _ in range(200):
            for value in order:
                function(*value)
        return (time.perf_counter_ns() - start) / 200 / len(order)

    def take_turns() -> list[float]:
        ratios = []
        for _ in range(rounds):
            last = turn(ends)
            # Begins and ends with the original order.
            first = statistics.fmean([turn((ends[1],) * 2), turn((ends[0],) * 2)])
            function(*ends[1])
            ratios.append(last / first)
        return ratios

    ratio = statistics.median(without_collector(take_turns))
    return Figure("the last of eight graphs against the first", ratio, "x", "one call", bar=CHOICE_MOST)
