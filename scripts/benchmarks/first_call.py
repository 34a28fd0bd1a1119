"""The cost of recording and planning: the first two calls, one recorded instruction, and memory.

As a program, `-m benchmarks.first_call FORM OPERATIONS plain|traced` calls one function a few times and prints the
memory that its process has needed, in KiB.
"""

from __future__ import annotations

import dis
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import FunctionType
from typing import Any

import numpy as np

import tagalong
from benchmarks.measure import Figure, environment, without_collector
from tagalong import _core

TITLE = "first calls, recording and planning included, against the same calls of an untraced function"

SCRIPTS = Path(__file__).parents[1]
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


# --- Functions of many operations


def steps(random: Random, names: list[str]) -> str:
    """Three operations, whose results are between the operands."""
    one, two = (random.choice(names[-8:]) for _ in range(2))
    return f"({one} - {two}) * {random.randrange(1, 100) / 100} + {two}"


def one_name(operations: int, random: Random) -> list[str]:
    """A chain that always assigns to the same name."""
    return ["v = y", *(f"v = {steps(random, ['x', 'y', 'v'])}" for _ in range(operations // 3)), "return v"]


def many_names(operations: int, random: Random) -> list[str]:
    """Each line assigns to a name of its own, and reads some of the last ones."""
    names, lines = ["x", "y"], []
    for number in range(operations // 3):
        lines.append(f"t{number} = {steps(random, names)}")
        names.append(f"t{number}")
    return [*lines, f"return {names[-1]}"]


def in_loop(operations: int, random: Random) -> list[str]:
    """The body of a loop of few rounds."""
    body = [f"    v = {steps(random, ['x', 'y', 'v'])}" for _ in range(operations // 3)]
    return ["v = y", "for i in range(5):", *body, "return v"]


def in_loops(operations: int, random: Random) -> list[str]:
    """One loop of few rounds after the other."""
    lines = ["v = y"]
    for _ in range(operations // 9):
        body = [f"    v = {steps(random, ['x', 'y', 'v'])}" for _ in range(3)]
        lines += ["for i in range(5):", *body]
    return [*lines, "return v"]


FORMS: dict[str, Callable[[int, Random], list[str]]] = {
    "one name": one_name,
    "many names": many_names,
    "in a loop": in_loop,
    "in loops": in_loops,
}
OPERATIONS = (20, 100, 1_000, 10_000)
MOST_OF_TWENTY = 1.0  # ms for 20 operations
MOST_GROWTH = 2.0  # an operation of 10,000 beside one of 1,000
MOST_MEMORY = 1.25  # of the process without tracing


def grown(form: str, operations: int, seed: int) -> str:
    """The source of a function with this many array operations; others for other seeds."""
    return "\n    ".join(["def f(x, y):", *FORMS[form](operations, Random(seed))])


def small_arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.linspace(1.0, 2.0, 10), np.linspace(2.0, 3.0, 10)


def first_two_calls(form: str, operations: int, rounds: int) -> tuple[float, float, float]:
    """Medians in seconds of the processor: the first call and the second one, traced, and an untraced call."""
    arrays = small_arrays()

    def seconds(function: FunctionType) -> float:
        start = time.process_time()
        function(*arrays)
        return time.process_time() - start

    def take_turns() -> list[tuple[float, float, float]]:
        times = []
        for number in range(rounds + 1):
            source = grown(form, operations, number)
            traced, plain = tagalong.trace(fresh(source)), fresh(source)
            seconds(plain)
            eager = seconds(plain)
            times.append((seconds(traced), seconds(traced), eager))
            if tagalong.stats(traced).records < 1:
                raise RuntimeError(f"the first call was not recorded:\n{tagalong.explain(traced)}")
        return times[1:]

    first, second, eager = zip(*without_collector(take_turns), strict=True)
    return statistics.median(first), statistics.median(second), statistics.median(eager)


def growth(form: str, rounds: int) -> Iterator[Figure]:
    each = {}
    for operations in OPERATIONS:
        few = max(3, rounds * OPERATIONS[0] // operations)
        first, second, eager = first_two_calls(form, operations, few)
        above = first + second - 2 * eager
        each[operations] = above / operations
        yield Figure(
            f"{operations:,} operations, {form}: two calls above eager",
            above * 1e3,
            "ms",
            f"{(first - eager) * 1e3:.2f} and {(second - eager) * 1e3:.2f}, eager {eager * 1e3:.2f},"
            f" an operation {above / operations * 1e6:.1f} us",
            bar=MOST_OF_TWENTY if operations == OPERATIONS[0] else None,
        )
    most, before = OPERATIONS[-1], OPERATIONS[-2]
    what = f"{form}: an operation of {most:,} / one of {before:,}"
    yield Figure(what, each[most] / each[before], "x", "", bar=MOST_GROWTH)


def memory(form: str, operations: int) -> Figure:
    taken = {}
    for mode in ("plain", "traced"):
        words = [sys.executable, "-m", "benchmarks.first_call", form, str(operations), mode]
        done = subprocess.run(words, cwd=SCRIPTS, env=environment({}), check=True, stdout=subprocess.PIPE)
        taken[mode] = int(done.stdout) / 1024
    beside = f"{taken['traced']:.1f} MiB / {taken['plain']:.1f} MiB"
    return Figure(
        f"{operations:,} operations, {form}: memory of the process",
        taken["traced"] / taken["plain"],
        "x",
        beside,
        bar=MOST_MEMORY,
    )


def figures(rounds: int) -> Iterator[Figure]:
    arrays = small_arrays()
    traced, plain = first_calls(chain(20), arrays, 3 * rounds)
    beside = f"{traced / 1e3:.1f} us, untraced {plain / 1e3:.1f} us"
    yield Figure("20 array operations: above eager", (traced - plain) / 1e6, "ms", beside, bar=1.0)
    for form in FORMS:
        yield from growth(form, rounds)
    for form in FORMS:
        yield memory(form, OPERATIONS[-1])

    for name, source, arguments in (
        ("sums of floats", sums(200), (1.0, 2.0)),
        ("array operations", chain(100), arrays),
        ("calls and attributes", lookups(50), (1.0, Holder())),
    ):
        recorded, synthesis, eager = instruction_costs(source, arguments, 3 * rounds)
        beside = f"eager {eager:.0f} ns, synthesis {synthesis:.0f} ns more"
        yield Figure(f"one recorded instruction, {name}", recorded, "ns", beside, bar=100.0)


def main() -> None:
    function = fresh(grown(sys.argv[1], int(sys.argv[2]), 1))
    if sys.argv[3] == "traced":
        tagalong.trace(function)
    for _ in range(5):
        function(*small_arrays())
    # Without the memory of the process that has started this one, which getrusage() counts.
    print(re.findall(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[0])


if __name__ == "__main__":
    main()
