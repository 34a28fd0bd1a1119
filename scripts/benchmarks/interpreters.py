"""Whole programs from the field of interpreters, by CPython and with all their functions traced, as with TAGALONG=1.

Each program is loaded twice from the same source and run until no new traces are made; then runs of both are timed
alternately, in processor time. That is done in several processes, of which the median counts: even with identical
machine instructions, the layout of memory makes a difference of one or two percent that lasts as long as the process
(T. Kalibera, R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013).

`numbers` are loops over plain ints and floats, `objects` are classes, calls, strings and generators. If there is a
`pypy3` its time is printed beside them, for reference: a compiler with an object model of its own.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tagalong
from benchmarks.measure import Figure, environment, pair
from tagalong import _core

TITLE = "CPython / replayed: whole programs"
PROGRAMS = Path(__file__).parent / "programs"
QUIET_RUNS = 8  # number of runs without new events before a program is measured
SETTLING_RUNS = 200  # maximum
PROCESSES = 5
LEAST = {"numbers": 3.0, "objects": 0.98}
LEAST_MEAN = 2.0


def load(path: Path, traced: bool) -> types.ModuleType:
    """Loads the program as a new module."""
    module = types.ModuleType(path.stem)
    sys.modules[path.stem] = module  # dataclasses look for the module there
    code = compile(path.read_text(), str(path), "exec")
    exec(_core.wrap_module_code(code) if traced else code, module.__dict__)
    return module


def figures(rounds: int) -> Iterator[Figure]:
    ratios = []
    for path in sorted(PROGRAMS.glob("[a-z]*.py")):
        figure = _figure(path, rounds)
        ratios.append(figure.value)
        yield figure
    mean = statistics.geometric_mean(ratios)
    yield Figure("geometric mean", mean, "x", f"{len(ratios)} programs", bar=LEAST_MEAN, at_least=True)


def _figure(path: Path, rounds: int) -> Figure:
    each = max(3, rounds // 3)
    seen = [_in_a_process(path, each, number % 2 == 1) for number in range(PROCESSES)]
    eager, replay, ratio = (statistics.median(times) for times in zip(*seen, strict=True))
    ratios = [times[2] for times in seen]
    plain = load(path, False)
    beside = (
        f"{eager / 1e6:.2f} ms / {replay / 1e6:.2f} ms, {min(ratios):.2f} to {max(ratios):.2f}, "
        f"{plain.KIND}{_by_pypy(path, rounds, plain.run(plain.SIZE))}"
    )
    return Figure(path.stem, ratio, "x", beside, bar=LEAST[plain.KIND], at_least=True)


def _in_a_process(path: Path, rounds: int, traced_first: bool) -> tuple[float, float, float]:
    """The result of `timed` in a new process. RuntimeError if it fails."""
    words = [sys.executable, "-m", __name__, str(path), str(rounds), str(int(traced_first))]
    done = subprocess.run(
        words, env=environment({"TAGALONG": "0"}), cwd=PROGRAMS.parents[1], capture_output=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.decode()}")
    eager, replay, ratio = json.loads(done.stdout)
    return eager, replay, ratio


def timed(path: Path, rounds: int, traced_first: bool) -> tuple[float, float, float]:
    """The times in ns of a run by CPython and of a replayed run, and their ratio.

    RuntimeError if the results differ.
    """
    _core.set_option("retire_after", 32)  # the same as with TAGALONG=1
    if traced_first:
        mine, plain = load(path, True), load(path, False)
    else:
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
    return pair(plain.run, mine.run, (size,), rounds, 1, clock=time.process_time)


def _by_pypy(path: Path, rounds: int, expected: Any) -> str:
    """PyPy's time for the program; None without PyPy, or if PyPy cannot run the program."""
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


if __name__ == "__main__":
    print(json.dumps(timed(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1")))
