"""Whole programs from the field of interpreters, by CPython and with all their functions traced, as TAGALONG=1 does it.

Each program is loaded twice from the same source and run until its traces are settled; then runs of both are timed in
turn. `numbers` are loops over plain ints and floats, `objects` are classes, calls, strings and generators.
"""

from __future__ import annotations

import statistics
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure, pair
from tagalong import _core

TITLE = "CPython / replayed: whole programs"
PROGRAMS = Path(__file__).parent / "programs"
SETTLING_RUNS = 8
LEAST = {"numbers": 3.0, "objects": 0.98}
LEAST_MEAN = 2.0


def load(path: Path, traced: bool) -> types.ModuleType:
    """The program as a module of its own."""
    module = types.ModuleType(path.stem)
    code = compile(path.read_text(), str(path), "exec")
    exec(_core.wrap_module_code(code) if traced else code, module.__dict__)
    return module


def figures(rounds: int) -> Iterator[Figure]:
    # What is promised is promised for closed loops.
    _core.set_option("loops", 1)
    _core.set_option("retire_after", 32)
    ratios = []
    try:
        for path in sorted(PROGRAMS.glob("[a-z]*.py")):
            figure = _figure(path, max(3, rounds // 3))
            ratios.append(figure.value)
            yield figure
    finally:
        _core.set_option("loops", 0)
        _core.set_option("retire_after", 0)
    mean = statistics.geometric_mean(ratios)
    yield Figure("geometric mean", mean, "x", f"{len(ratios)} programs", bar=LEAST_MEAN, at_least=True)


def _figure(path: Path, rounds: int) -> Figure:
    plain, mine = load(path, False), load(path, True)
    size: Any = plain.SIZE
    expected = plain.run(size)
    for _ in range(SETTLING_RUNS):
        if mine.run(size) != expected:
            raise RuntimeError(f"{path.stem} gives another result when traced")
    eager, replay, ratio = pair(plain.run, mine.run, (size,), rounds, 1)
    beside = f"{eager / 1e6:.2f} ms / {replay / 1e6:.2f} ms, {plain.KIND}"
    return Figure(path.stem, ratio, "x", beside, bar=LEAST[plain.KIND], at_least=True)
