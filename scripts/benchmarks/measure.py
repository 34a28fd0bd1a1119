"""Measuring: pairs of programs, interleaved in one process, medians of many rounds.

Every figure is a ratio or a difference of two programs measured in turn, so that what disturbs the machine disturbs
both. A replay that did not happen is an error, not a fast result: `replayed` makes sure.
"""

from __future__ import annotations

import gc
import os
import resource
import statistics
import subprocess
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tagalong


@dataclass(frozen=True)
class Figure:
    """One line of the report. `bar` is the promised limit for `value`; a line without one is for information."""

    what: str
    value: float
    unit: str
    beside: str
    bar: float | None = None
    at_least: bool = False

    @property
    def kept(self) -> bool:
        """Whether the promise is kept; true if there is none."""
        if self.bar is None:
            return True
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    def __str__(self) -> str:
        text = f"{self.what:58} {self.value:9.2f} {self.unit:4} {self.beside}"
        if self.bar is None:
            return text
        verdict = "kept" if self.kept else "MISSED"
        return f"{text}\n{'':6}bar: at {'least' if self.at_least else 'most'} {self.bar:g} {self.unit}: {verdict}"


def pair(
    one: Callable[..., Any],
    two: Callable[..., Any],
    arguments: tuple[Any, ...],
    rounds: int,
    loops: int,
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float, float]:
    """Medians of the time of one call of each, in ns, and the median of the rounds' ratios one / two.

    Whole programs without threads may be timed by `time.process_time`: what others take of the machine is not in it.
    """
    names = [f"a{number}" for number in range(len(arguments))]
    call = f"f({', '.join(names)})"
    timers = [
        timeit.Timer(
            "; ".join([call] * 10),
            timer=clock,
            globals=dict(zip(names, arguments, strict=True)) | {"f": function},
        )
        for function in (one, two)
    ]
    for timer in timers:
        timer.timeit(max(1, loops // 10))
    times: list[tuple[float, float]] = []
    for number in range(rounds):
        # they take turns in going first
        order = (0, 1) if number % 2 == 0 else (1, 0)
        taken = [0.0, 0.0]
        for index in order:
            taken[index] = timers[index].timeit(loops) / loops / 10 * 1e9
        times.append((taken[0], taken[1]))
    return (
        statistics.median(a for a, _ in times),
        statistics.median(b for _, b in times),
        statistics.median(a / b for a, b in times),
    )


def replayed(function: Any, *arguments: Any) -> Any:
    """Traces `function`, lets it record, and returns it; RuntimeError if its next calls are not replayed."""
    tagalong.trace(function)
    for _ in range(3):
        function(*arguments)
    before = tagalong.stats(function).hits
    function(*arguments)
    if tagalong.stats(function).hits <= before:
        raise RuntimeError(f"{function.__name__} is not replayed:\n{tagalong.explain(function)}")
    return function


def without_collector(work: Callable[[], Any]) -> Any:
    """Runs `work` with the garbage collector disabled, as timeit does."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if enabled:
            gc.enable()


def environment(settings: dict[str, str]) -> dict[str, str]:
    """The environment of a child that is timed: none of our variables but `settings`, one thread, the same hashes.

    Nothing of the interpreter's, either, but where the package is: one that may not keep bytecode compiles the package
    each time.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name == "PYTHONPATH" or not name.startswith(("TAGALONG", "PYTHON"))
    }
    return kept | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "TAGALONG_THREADS": "1"} | settings


def processor_time(words: list[str], settings: dict[str, str], isolated: bool = False) -> tuple[float, bytes]:
    """What a process takes of the processor, in s, and what it writes. RuntimeError if it fails.

    `isolated`: without PYTHONPATH.
    """
    surroundings = environment(settings)
    if isolated:
        surroundings.pop("PYTHONPATH", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, env=surroundings, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0 or b"tagalong: not tracing" in done.stderr:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.decode()}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


def process_pair(words: list[str], number: int) -> tuple[tuple[float, bytes], tuple[float, bytes]]:
    """`processor_time` of a process plain and with TAGALONG=1; with odd numbers the second one goes first."""
    taken = [(0.0, b""), (0.0, b"")]
    for index in (0, 1) if number % 2 == 0 else (1, 0):
        # The order of sets decides how long some programs take.
        settings = {"PYTHONHASHSEED": str(number)} | ({"TAGALONG": "1"} if index else {})
        taken[index] = processor_time(words, settings)
    return taken[0], taken[1]
