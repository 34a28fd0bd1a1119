"""The cost of recording: the whole first call, and one recorded instruction."""

from __future__ import annotations

import dis
import statistics
import time
from types import FunctionType
from typing import Any

import numpy as np

import tagalong
from benchmarks.measure import Figure, without_collector
from tagalong import _core

TITLE = "first call, recording and synthesis included, against the same call of an untraced function"

STEPS = ("x * 1.5", "v + y", "v - 0.25", "v * v", "v / y")


def chain(operations: int) -> str:
    """The source of a function with this many array operations."""
    lines = ["def f(x, y):", "    v = x"]
    lines += [f"    v = {STEPS[number % len(STEPS)]}" for number in range(operations)]
    return "\n".join([*lines, "    return v"])


def sums(operations: int) -> str:
    """The source of a function with this many additions of floats: four instructions each."""
    return "\n".join(["def f(x, y):", *["    x = x + y"] * operations, "    return x"])


class Holder:
    """Has an attribute to look up."""

    items = tuple(range(100))


def lookups(operations: int) -> str:
    """The source of a function with this many lines with a global, a method, a call, an attribute and an item."""
    return "\n".join(
        ["import math", "def f(x, y):", *["    v = math.sin(x) + y.items[1]"] * operations, "    return v"]
    )


def instruction_costs(source: str, arguments: tuple[Any, ...], rounds: int) -> tuple[float, float, float]:
    """Medians in ns for one instruction.

    The overhead of recording over eager execution, synthesis, and eager execution.
    """
    function = fresh(source)
    count = instructions(source)

    def take_turns() -> tuple[list[float], list[float], list[float]]:
        recorded, synthesis, eager = [], [], []
        for _ in range(rounds):
            start = time.perf_counter()
            function(*arguments)
            eager.append(time.perf_counter() - start)
            core = _core.record(function, arguments, {})
            if core.stop_reason is not None:
                raise RuntimeError(f"not recorded to its end:\n{core.explain()}")
            recorded.append(core.recording_seconds - eager[-1])
            synthesis.append(core.synthesis_seconds)
        return recorded, synthesis, eager

    _core.set_option("every_hook", 0)  # only the hooks that a traced function has
    recorded, synthesis, eager = without_collector(take_turns)
    _core.set_option("every_hook", 1)
    return (
        statistics.median(recorded) / count * 1e9,
        statistics.median(synthesis) / count * 1e9,
        statistics.median(eager) / count * 1e9,
    )


def fresh(source: str) -> FunctionType:
    """A function with a code object of its own."""
    names: dict[str, Any] = {}
    exec(compile(source, "<benchmark>", "exec"), names)
    function: FunctionType = names["f"]
    return function


def first_calls(source: str, arguments: tuple[Any, ...], rounds: int) -> tuple[float, float]:
    """Medians in ns of first calls, traced and untraced, measured alternately."""

    def take_turns() -> tuple[list[int], list[int]]:
        traced, plain = [], []
        for number in range(rounds + 3):
            one, two = tagalong.trace(fresh(source)), fresh(source)
            for function, times in (
                ((one, traced), (two, plain)) if number % 2 else ((two, plain), (one, traced))
            ):
                start = time.perf_counter_ns()
                function(*arguments)
                times.append(time.perf_counter_ns() - start)
            if tagalong.stats(one).records != 1:
                raise RuntimeError(f"the first call was not recorded:\n{tagalong.explain(one)}")
        return traced[3:], plain[3:]

    traced, plain = without_collector(take_turns)
    return statistics.median(traced), statistics.median(plain)


def instructions(source: str) -> int:
    return sum(1 for _ in dis.get_instructions(fresh(source)))


def figures(rounds: int) -> list[Figure]:
    arrays = (np.linspace(1.0, 2.0, 10), np.linspace(2.0, 3.0, 10))
    traced, plain = first_calls(chain(20), arrays, 3 * rounds)
    beside = f"{traced / 1e3:.1f} us, untraced {plain / 1e3:.1f} us"
    found = [Figure("20 array operations: above eager", (traced - plain) / 1e6, "ms", beside, bar=1.0)]

    for name, source, arguments in (
        ("sums of floats", sums(200), (1.0, 2.0)),
        ("array operations", chain(100), arrays),
        ("calls and attributes", lookups(50), (1.0, Holder())),
    ):
        recorded, synthesis, eager = instruction_costs(source, arguments, 3 * rounds)
        beside = f"eager {eager:.0f} ns, synthesis {synthesis:.0f} ns more"
        found.append(Figure(f"one recorded instruction, {name}", recorded, "ns", beside, bar=100.0))
    return found
