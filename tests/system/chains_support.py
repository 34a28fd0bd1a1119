"""Support of the tests of fused array operations: programs, run eagerly and traced, and compared."""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import FunctionType
from typing import Any

import numpy as np

import arrays_support
import tagalong
from array_object_programs import Objects
from array_programs import Operands, Parts, Passes, Program, Targets
from array_scalar_programs import Scalars
from arrays_support import ERRSTATES, described
from tagalong import _core

Function = Callable[..., Any]

CALLS = 12  # calls of each random program


class FusionRuns:
    """Plans fusion groups even if they do not pay, and counts them from the beginning of the test."""

    before = 0

    @classmethod
    def begin(cls) -> None:
        _core.set_option("fusion", 2)
        cls.before = _core.counter("groups_run")


def groups_run() -> int:
    """The number of groups run since `FusionRuns.begin()`."""
    return _core.counter("groups_run") - FusionRuns.before


def operations(traced: Any) -> list[int]:
    """The numbers of operations of the groups that have run more than once, from the report."""
    lines = str(tagalong.explain(traced)).splitlines()
    words = [line.split() for line in lines if "array operations as one, " in line]
    return [int(line[line.index("array") - 1]) for line in words if int(line[line.index("one,") + 1]) > 1]


class Outcome:
    """One call: results, exception, warnings with their lines, error callbacks, and the operands afterwards."""

    def __init__(self, function: Function, operands: list[Any], errstate: dict[str, Any]) -> None:
        calls: list[Any] = []

        def call(kind: str, flag: int) -> None:
            calls.append((kind, flag, sys._getframe(1).f_lineno))

        self.result: Any = None
        self.error: Any = None
        with warnings.catch_warnings(record=True) as caught, np.errstate(call=call, **errstate):
            warnings.simplefilter("always")
            try:
                self.result = function(*operands)
            except Exception as error:  # noqa: BLE001 - whatever it is, it has to be the same
                lines = []
                traceback = error.__traceback__
                while traceback is not None:
                    lines.append(traceback.tb_lineno)
                    traceback = traceback.tb_next
                self.error = (type(error), str(error), lines[1:])
        self.warnings = [(w.category, str(w.message), w.filename, w.lineno) for w in caught]
        results = self.result if isinstance(self.result, tuple) else (self.result,)
        same = [[one is other for other in (*results, *operands)] for one in results]
        self.compared = (
            [described(r) for r in results],
            same,
            self.error,
            self.warnings,
            calls,
            [described(o) for o in operands],
        )

    def is_without_memory(self) -> bool:
        return self.error is not None and issubclass(self.error[0], MemoryError)

    def held(self) -> int:
        """The bytes of the results."""
        results = self.result if isinstance(self.result, tuple) else (self.result,)
        return sum(result.nbytes for result in results if isinstance(result, np.ndarray))


def check(eager: Function, traced: Function, make: Callable[[], list[Any]], errstate: Any = None) -> None:
    state = errstate or {"all": "warn"}
    expected = Outcome(eager, make(), state)
    if expected.is_without_memory():
        return  # the order of deaths without references is not defined
    actual = Outcome(traced, make(), state)
    if actual.is_without_memory() and expected.held() > 1 << 28:
        return  # eager's results were not in eager's way
    assert actual.compared == expected.compared


def both(source: str, **names: Any) -> tuple[Function, Function]:
    """The function `f` of the source: eager, and traced."""
    space = {"np": np, **names}
    exec(compile(source, "<program>", "exec"), space)  # noqa: S102
    function = space["f"]
    eager = FunctionType(function.__code__.replace(), space, "eager")
    return eager, tagalong.trace(function)


def compare_first_calls(
    source: str, make: Callable[[], list[Any]], errstate: Any = None, **names: Any
) -> tuple[int, int]:
    """Compares the first two calls with eager execution.

    Returns how many expressions the first call has computed as one fusion group, and how many operation by operation.
    """
    eager, traced = both(source, **names)
    state = errstate or {"all": "warn"}
    expected = Outcome(eager, make(), state)
    before = (_core.counter("expressions_as_one"), _core.counter("expressions_one_by_one"))
    first = Outcome(traced, make(), state)
    after = (_core.counter("expressions_as_one"), _core.counter("expressions_one_by_one"))
    assert first.compared == expected.compared
    second = Outcome(traced, make(), state)
    assert second.compared == expected.compared
    assert tagalong.stats(traced).records >= 1
    return after[0] - before[0], after[1] - before[1]


WAITING_LAYOUTS = arrays_support.FLAT_IN_LAYOUTS | {"read-only": lambda x: np.broadcast_to(x, (3, x.size))}


def compare_in_layout(source: str, layout: str, size: int, *, is_left: bool) -> None:
    """Compares first calls of an expression of `x` and `y`, one of which has this layout; `size` is a square number."""
    side = round(size**0.5)
    if layout == "column":
        made = [np.linspace(-1.0, 4.0, side).reshape(-1, 1), np.linspace(2.0, -2.0, 10 * side)]
    else:
        made = [np.linspace(-1.0, 4.0, size), np.linspace(2.0, -2.0, size)]
        made[0] = WAITING_LAYOUTS[layout](made[0])
        if made[0].ndim == 2 and layout not in ("subclass", "read-only"):
            made[1] = made[1].reshape(side, side)
    if not is_left:
        made.reverse()
    program = f"def f(x, y):\n    return {source}"
    compare_first_calls(program, lambda: [array.copy("K") for array in made])
    compare_first_calls(program, lambda: list(made))


def deaths(function: Function, size: int) -> Any:
    """The result of `function(x, make, note)`, and the order in which its arrays die between its notes."""
    seen: list[str] = []

    def make(x: np.ndarray, name: str) -> np.ndarray:
        array = x.copy()
        weakref.finalize(array, seen.append, name)
        return array

    results = function(np.linspace(0.0, 1.0, size), make, seen.append)
    return [described(result) for result in results], seen


def form_of_program(random: Random) -> type[Program]:
    kind = random.random()
    kinds: tuple[type[Program], ...] = (Passes, Parts, Objects, Targets, Scalars)
    return kinds[int(kind / 0.14)] if kind < 0.14 * len(kinds) else Program


def compare_program(random: Random, calls: int, *, loops: bool = False) -> None:
    """Runs one random program on several kinds of operands. AssertionError with its source if a result differs."""
    settings = {}
    if loops:
        settings = {
            "heat": 2,
            "native_after": random.choice((0, 1, 3)),
            "grow_after": random.choice((0, 2)),
        }
        for name, value in settings.items():
            _core.set_option(name, value)
    form = form_of_program(random)
    _core.set_option("min_non_temporal", random.choice((1, 1 << 40)))
    program = form(random, random.randint(2, 9) if loops else 0)
    eager, traced = both(program.source)
    _core.set_option("min_in_place", random.choice((1, 1 << 40)))
    plain = form in (Passes, Parts, Targets) and random.random() < 0.8
    tall = form is Parts and random.random() < 0.8
    kinds = [Operands(random, plain=plain, tall=tall) for _ in range(3)]
    for call in range(calls):
        # Most calls have the recorded kinds of operands, for which fusion groups are planned.
        make = kinds[0] if call < calls // 2 else random.choice(kinds)
        errstate = {"all": "ignore"} if random.random() < 0.7 else random.choice(ERRSTATES)
        try:
            check(eager, traced, make, errstate)
        except AssertionError as error:
            raise AssertionError(
                f"{program.source}call {call}: {make.codes} {make.shapes} {make.layouts} {make.kind} {make.special!r}"
                f" {errstate} {settings or ''}"
            ) from error


def run_programs(first: int, options: argparse.Namespace, end: float, reached: Any) -> int:
    """Runs the programs with these seeds in this process; returns the number of failures."""
    finds = 0
    _core.counters()  # resets the counters
    # An array that gets a new axis in each round would grow without end. A sanitizer has reserved much more before.
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + (4 << 30), resource.RLIM_INFINITY))
    _core.set_option("fusion", 2)
    _core.set_option("threads", options.threads)
    _core.set_option("min_part", 1024)
    _core.set_option("min_deferred", 1)
    for seed in range(first, options.seed + options.count):
        if time.monotonic() > end:
            break
        reached.value = seed
        arrays_support.RNG = np.random.default_rng(seed)
        _core.set_option("most_lanes", 8 if seed % 2 else 4)
        try:
            compare_program(Random(f"arrays {seed}"), CALLS, loops=options.loops)
        except AssertionError as error:
            finds += 1
            print(f"seed {seed}:\n{error}\n", flush=True)
    count = _core.counters()
    print(
        f"fusion groups: {count['groups_planned']} planned, {count['groups_run']} run, {count['whole_groups']} of them "
        f"whole functions, {count['groups_refused']} refused"
    )
    print(
        f"while they were recorded: {count['expressions_as_one']} expressions as one, "
        f"{count['expressions_one_by_one']} one by one"
    )
    print(
        f"in passes: {count['groups_in_passes']}, with memory handed on {count['results_in_reused_buffers']}"
        f"; in place at once {count['groups_in_place']}, twice {count['groups_computed_twice']}"
    )
    reasons = {name: number for name, number in count.items() if name.startswith("not_fused_") and number}
    print(f"one by one: {reasons}", flush=True)
    return finds


def main() -> int:
    """Runs many random programs (scripts/fuzz-arrays)."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz-arrays", description="random programs over arrays")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time", type=float, default=float("inf"))
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    end = time.monotonic() + options.time
    finds = crashes = 0
    context = multiprocessing.get_context("fork")
    reached = context.Value("q", options.seed - 1, lock=False)
    # Each in a process of its own, so that a crash costs only one program.
    while reached.value < options.seed + options.count - 1 and time.monotonic() < end:
        first = reached.value + 1
        found = context.Value("q", 0, lock=False)

        def work(first: int = first, found: Any = found) -> None:
            found.value = run_programs(first, options, end, reached)

        process = context.Process(target=work)
        process.start()
        process.join()
        finds += found.value
        if process.exitcode != 0:
            crashes += 1
            print(f"seed {reached.value}: the process ended with {process.exitcode}\n", flush=True)
    programs = reached.value - options.seed + 1
    print(f"{programs} programs, {programs * CALLS} calls, {finds} finds, {crashes} crashes")
    return 1 if finds or crashes else 0


if __name__ == "__main__":
    sys.exit(main())
