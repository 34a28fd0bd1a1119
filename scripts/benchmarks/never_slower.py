"""Whole processes with TAGALONG=1 and without: programs of all kinds, none of which may become slower.

The demonstration's programs, those of the other benchmarks, ordinary scripts, of which most gain nothing, and two field
sets: array programs at several sizes, and programs with objects, for at least two seconds each. The processor time from
the start of the interpreter to its end is compared: the median of the ratios of pairs.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.interpreters import PROGRAMS, load
from benchmarks.measure import Figure, process_pair

TITLE = "a process with TAGALONG=1 / one of plain Python"
HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
ORDINARY = HERE / "ordinary"
DEMO = {"photograph": 1, "pricing": 4, "terrain": 2, "walk": 4}  # how often each one repeats its work
SECONDS = 0.5  # for each program of the other benchmarks
LEAST_ROUNDS = 11
MORE = 5  # factor of repetitions if the result is close: single processes vary by a tenth
MOST = 1.05
FIELD_SECONDS = 2.0
FIELD_ROUNDS = 3
FIELD_SIZES = (10, 1_000, 100_000, 1_000_000)
SETS = ("ordinary", "demo", "bench", "arrays", "objects")
CLOSE = 1.03  # ratios from here on, on both sides of the bar, are close


@dataclass(frozen=True)
class Program:
    name: str
    kind: str
    words: list[str]


def figures(rounds: int, sets: Sequence[str] = SETS) -> Iterator[Figure]:
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(processors)})
    try:
        for program in programs(sets):
            is_field = program.kind in ("arrays", "objects")
            yield _figure(program, FIELD_ROUNDS if is_field else max(LEAST_ROUNDS, rounds // 2))
    finally:
        os.sched_setaffinity(0, processors)


def programs(sets: Sequence[str]) -> Iterator[Program]:
    makers = {
        "ordinary": _ordinary,
        "demo": _demo,
        "bench": _bench,
        "arrays": _field_arrays,
        "objects": _field_objects,
    }
    for name in sets:
        yield from makers[name]()


def _ordinary() -> Iterator[Program]:
    for path in sorted(ORDINARY.glob("[a-z]*.py")):
        yield Program(path.stem, "ordinary", [str(path)])


def _demo() -> Iterator[Program]:
    for name, repeat in DEMO.items():
        yield Program(name, "demo", [str(EXAMPLES / f"{name}.py"), "--repeat", str(repeat)])


def _bench() -> Iterator[Program]:
    for path in sorted(PROGRAMS.glob("[a-z]*.py")):
        repeat = max(1, round(SECONDS / _seconds(path)))
        yield Program(path.stem, "bench", [str(HERE / "run_program.py"), path.stem, str(repeat)])


def _field_arrays() -> Iterator[Program]:
    for path in sorted(HERE.glob("field_arrays/[a-z]*.py")):
        for size in FIELD_SIZES:
            yield _field(path, "arrays", size)


def _field_objects() -> Iterator[Program]:
    for path in sorted(HERE.glob("field_objects/[a-z]*.py")):
        yield _field(path, "objects", None)


def _field(path: Path, kind: str, size: int | None) -> Program:
    plain = load(path, False)
    data = () if size is None else plain.data(size)
    plain.run(*data)
    start, calls = time.process_time(), 0
    while time.process_time() - start < FIELD_SECONDS / 20:
        plain.run(*data)
        calls += 1
    repeat = max(1, round(FIELD_SECONDS / (time.process_time() - start) * calls))
    words = [str(HERE / "run_field.py"), str(path), str(repeat)]
    return Program(
        path.stem if size is None else f"{path.stem}, {size}",
        kind,
        words if size is None else [*words, str(size)],
    )


def _seconds(path: Path) -> float:
    plain = load(path, False)
    plain.run(plain.SIZE)
    start = time.process_time()
    plain.run(plain.SIZE)
    return time.process_time() - start


def _figure(program: Program, rounds: int) -> Figure:
    words = [sys.executable, *program.words]
    pairs = [_pair(words, number) for number in range(rounds)]
    if _median_ratio(pairs) >= CLOSE:
        pairs += [_pair(words, number) for number in range(rounds, MORE * rounds)]
    plain, traced = (statistics.median(column) for column in zip(*pairs, strict=True))
    beside = f"{traced * 1e3:.0f} ms / {plain * 1e3:.0f} ms, {program.kind}, {len(pairs)} pairs"
    return Figure(program.name, _median_ratio(pairs), "x", beside, bar=MOST)


def _median_ratio(pairs: list[tuple[float, float]]) -> float:
    return statistics.median(traced / plain for plain, traced in pairs)


def _pair(words: list[str], number: int) -> tuple[float, float]:
    plain, traced = process_pair(words, number)
    if plain[1] != traced[1]:
        raise RuntimeError(f"{' '.join(words)} writes something else with TAGALONG=1")
    return plain[0], traced[0]
