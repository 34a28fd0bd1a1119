"""Whole processes with TAGALONG=1 and without: programs of all kinds, none of which may take longer for it.

The demonstration's programs, those of the other benchmarks, and ordinary scripts, of which most gain nothing. What is
compared is the processor's time from the start of the interpreter to its end: the median of the ratios of pairs. Where
others compute on the same core now and then, pairs count that had it for themselves, as far as it shows between them.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.interpreters import PROGRAMS, load
from benchmarks.measure import Figure, processor_time
from benchmarks.peers.core import Core

TITLE = "a process with TAGALONG=1 / one of plain Python"
HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
ORDINARY = HERE / "ordinary"
DEMO = {"photograph": 1, "pricing": 4, "terrain": 2, "walk": 4}  # how often each does its work
SECONDS = 0.5  # of a program of the other benchmarks
LEAST_ROUNDS = 11
MORE = 5  # times as many where that is close: single processes vary by a tenth
MOST_TRIED = 3  # times as many as are to count
MOST = 1.05
CLOSE = 1.03  # from here on, to either side of the bar


@dataclass(frozen=True)
class Pair:
    plain: float
    traced: float
    beside: list[float]  # what the core's work took before, between and after


@dataclass(frozen=True)
class Program:
    name: str
    kind: str
    words: list[str]


def figures(rounds: int) -> Iterator[Figure]:
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(processors)})
    core = Core()
    try:
        for program in programs():
            yield _figure(program, core, max(LEAST_ROUNDS, rounds // 2))
    finally:
        os.sched_setaffinity(0, processors)


def programs() -> Iterator[Program]:
    for path in sorted(ORDINARY.glob("[a-z]*.py")):
        yield Program(path.stem, "ordinary", [str(path)])
    for name, repeat in DEMO.items():
        yield Program(name, "demo", [str(EXAMPLES / f"{name}.py"), "--repeat", str(repeat)])
    for path in sorted(PROGRAMS.glob("[a-z]*.py")):
        repeat = max(1, round(SECONDS / _seconds(path)))
        yield Program(path.stem, "bench", [str(HERE / "run_program.py"), path.stem, str(repeat)])


def _seconds(path: Path) -> float:
    plain = load(path, False)
    plain.run(plain.SIZE)
    start = time.process_time()
    plain.run(plain.SIZE)
    return time.process_time() - start


def _figure(program: Program, core: Core, rounds: int) -> Figure:
    words = [sys.executable, *program.words]
    pairs: list[Pair] = []
    _go_on(words, core, pairs, rounds)
    if _median_ratio(_counted(pairs, core)) >= CLOSE:
        _go_on(words, core, pairs, MORE * rounds)
    counted = _counted(pairs, core)
    plain = statistics.median(each.plain for each in counted)
    traced = statistics.median(each.traced for each in counted)
    many = f"{len(counted)} of {len(pairs)} pairs"
    beside = f"{traced * 1e3:.0f} ms / {plain * 1e3:.0f} ms, {program.kind}, {many}"
    return Figure(program.name, _median_ratio(counted), "x", beside, bar=MOST)


def _go_on(words: list[str], core: Core, pairs: list[Pair], wanted: int) -> None:
    """Until so many pairs had the core for themselves, as long as there is hope."""
    for number in range(len(pairs), MOST_TRIED * wanted):
        if len(_alone(pairs, core)) >= wanted:
            return
        pairs.append(_pair(words, core, number))


def _counted(pairs: list[Pair], core: Core) -> list[Pair]:
    """Those that had the core for themselves; all where these are too few."""
    alone = _alone(pairs, core)
    return alone if len(alone) >= LEAST_ROUNDS else pairs


def _alone(pairs: list[Pair], core: Core) -> list[Pair]:
    return [each for each in pairs if core.was_ours(max(each.beside))]


def _median_ratio(pairs: list[Pair]) -> float:
    return statistics.median(each.traced / each.plain for each in pairs)


def _pair(words: list[str], core: Core, number: int) -> Pair:
    taken = [0.0, 0.0]
    outputs = set()
    beside = [core.work()]
    for index in (0, 1) if number % 2 == 0 else (1, 0):
        # The order of sets decides how long some programs take.
        settings = {"PYTHONHASHSEED": str(number)} | ({"TAGALONG": "1"} if index else {})
        taken[index], output = processor_time(words, settings)
        outputs.add(output)
        beside.append(core.work())
    if len(outputs) != 1:
        raise RuntimeError(f"{' '.join(words)} writes something else with TAGALONG=1")
    return Pair(plain=taken[0], traced=taken[1], beside=beside)
