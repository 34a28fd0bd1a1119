"""Whole programs from the field of interpreters, by CPython and with all their functions traced, as TAGALONG=1 does it.

Each program is loaded twice from the same source and run until its traces are settled; then runs of both are timed in
turn, by what they take of a processor. `numbers` are loops over plain ints and floats, `objects` are classes, calls,
strings and generators. Where there is a `pypy3` its time is printed beside them, for reference: a compiler with an
object model of its own.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tagalong
from benchmarks.measure import Figure, pair
from tagalong import _core

TITLE = "CPython / replayed: whole programs"
PROGRAMS = Path(__file__).parent / "programs"
QUIET_RUNS = 8  # without anything new, before a program is measured
SETTLING_RUNS = 200  # at most
LEAST = {"numbers": 3.0, "objects": 0.98}
LEAST_MEAN = 2.0


def load(path: Path, traced: bool) -> types.ModuleType:
    """The program as a module of its own."""
    module = types.ModuleType(path.stem)
    code = compile(path.read_text(), str(path), "exec")
    exec(_core.wrap_module_code(code) if traced else code, module.__dict__)
    return module


def figures(rounds: int) -> Iterator[Figure]:
    _core.set_option("retire_after", 32)  # as TAGALONG=1 does
    ratios = []
    for path in sorted(PROGRAMS.glob("[a-z]*.py")):
        figure = _figure(path, rounds)
        ratios.append(figure.value)
        yield figure
    mean = statistics.geometric_mean(ratios)
    yield Figure("geometric mean", mean, "x", f"{len(ratios)} programs", bar=LEAST_MEAN, at_least=True)


def _figure(path: Path, rounds: int) -> Figure:
    plain, mine = load(path, False), load(path, True)
    size: Any = plain.SIZE
    expected = plain.run(size)
    quiet = 0
    for _ in range(SETTLING_RUNS):
        before = tagalong.stats()
        if mine.run(size) != expected:
            raise RuntimeError(f"{path.stem} gives another result when traced")
        after = tagalong.stats()
        news = (
            after.records - before.records,
            after.bridges - before.bridges,
            after.retired - before.retired,
        )
        quiet = 0 if any(news) else quiet + 1
        if quiet == QUIET_RUNS:
            break
    eager, replay, ratio = pair(plain.run, mine.run, (size,), rounds, 1, clock=time.process_time)
    beside = f"{eager / 1e6:.2f} ms / {replay / 1e6:.2f} ms, {plain.KIND}{_by_pypy(path, rounds, expected)}"
    return Figure(path.stem, ratio, "x", beside, bar=LEAST[plain.KIND], at_least=True)


def _by_pypy(path: Path, rounds: int, expected: Any) -> str:
    """What PyPy takes for the program; nothing where there is none, or where it cannot run the program."""
    pypy = shutil.which("pypy3")
    if pypy is None:
        return ""
    elsewhere = Path(__file__).with_name("elsewhere.py")
    words = [pypy, str(elsewhere), str(path), str(rounds)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "; PyPy does not come to an end"
    if done.returncode != 0:
        return f"; PyPy: {(done.stderr.splitlines() or ['failed'])[-1]}"
    seen = json.loads(done.stdout)
    if seen["result"] != repr(expected):
        return "; PyPy gives another result"
    return f"; PyPy {seen['ns'] / 1e6:.2f} ms"
