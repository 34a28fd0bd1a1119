"""What tagalong costs where it does nothing: functions left out and retired, and the start of the interpreter.

Processes with and without tagalong are run in turn. Their own processor time is measured, not the clock on the wall.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import tagalong
from benchmarks.call_programs import PROGRAMS
from benchmarks.measure import Figure, environment, processor_time

TITLE = "with tagalong where it does nothing / plain Python"
HERE = Path(__file__).parent
PACKAGE = Path(tagalong.__file__).parent
AUTOSTART = "tagalong_autostart.pth"
# Of processes. How full the pools are that they take small objects from makes a difference of its own, of up to two
# hundredths either way, which is the same for all processes that have done the same: so each pair has it otherwise.
PAIRS = 9
KEPT = 97  # small objects: more from pair to pair
LEAST_ROUNDS = 15
STATES = {
    "left-out": {"TAGALONG": "1", "TAGALONG_EXCLUDE": "call_programs"},
    "retired": {"TAGALONG": "1"},
}


def figures(rounds: int) -> Iterator[Figure]:
    # Processors differ in what else they do: both of a pair run on the same one.
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(processors)})
    try:
        yield from _figures(rounds)
    finally:
        os.sched_setaffinity(0, processors)


def _figures(rounds: int) -> Iterator[Figure]:
    for state in STATES:
        yield from _calls(state, max(rounds, LEAST_ROUNDS))
    yield from _starts(max(rounds, LEAST_ROUNDS))


class _Worker:
    """A process that times programs when it is asked."""

    def __init__(self, state: str, kept: int) -> None:
        # Started as any script is, so that the main hook and the finder do their work.
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "call_worker.py"), state, str(kept)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(STATES.get(state, {})),
        )
        self._expect("ready")

    def _expect(self, word: str | None = None) -> list[str]:
        assert self._process.stdout
        words = self._process.stdout.readline().split()
        if not words or (word is not None and words != [word]):
            raise RuntimeError(f"a process ended, or said {words}")
        return words

    def time(self, name: str) -> tuple[int, str]:
        """What the program has taken, in ns, and its result."""
        assert self._process.stdin
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        taken, result = self._expect()
        return int(taken), result

    def close(self) -> None:
        self._process.communicate()


def _calls(state: str, rounds: int) -> Iterator[Figure]:
    ratios: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    beside = {}
    for number in range(PAIRS):
        workers = _Worker("plain", number * KEPT), _Worker(state, number * KEPT)
        try:
            for name in PROGRAMS:
                times = _interleaved(workers, name, rounds)
                plain, mine = (min(column) for column in zip(*times, strict=True))
                ratios[name].append(mine / plain)
                beside[name] = f"{mine / 1e6:.2f} ms / {plain / 1e6:.2f} ms"
        finally:
            for worker in workers:
                worker.close()
    for name in PROGRAMS:
        yield Figure(f"{name}, {state}", statistics.median(ratios[name]), "x", beside[name], bar=1.02)


def _interleaved(workers: tuple[_Worker, _Worker], name: str, rounds: int) -> list[tuple[int, int]]:
    times = []
    for number in range(rounds):
        results = set()
        taken = [0, 0]
        for index in (0, 1) if number % 2 == 0 else (1, 0):
            taken[index], result = workers[index].time(name)
            results.add(result)
        times.append((taken[0], taken[1]))
        if len(results) != 1:
            raise RuntimeError(f"{name} gives another result with tagalong: {results}")
    return times


def _starts(rounds: int) -> Iterator[Figure]:
    """Each time two environments that differ in nothing but our files, since `.pth` files are read by whoever starts.

    In one that `python -m venv` has made, setuptools has a `.pth` already, up to CPython 3.11. In a bare one ours is
    the first whose line has to be compiled: it pays for what the compiler does but once.
    """
    for kind, with_pip in (("as python -m venv makes it", True), ("bare", False)):
        with tempfile.TemporaryDirectory() as folder:
            without, having = _environments(Path(folder), with_pip)
            times = _start_times(without, having, rounds)
        plain, unset, switched_on = (min(column) for column in times)
        ratio = statistics.median(two / one for one, two in zip(*times[:2], strict=True))
        beside = f"{unset * 1e3:.2f} ms / {plain * 1e3:.2f} ms"
        yield Figure(f"python -c pass, installed, TAGALONG unset, venv {kind}", ratio, "x", beside, bar=1.01)
        beside = f"{switched_on * 1e3:.2f} ms / {plain * 1e3:.2f} ms"
        more = (switched_on - plain) * 1e3
        yield Figure(f"python -c pass, TAGALONG=1, more, venv {kind}", more, "ms", beside, bar=15.0)


def _environments(folder: Path, with_pip: bool) -> tuple[str, str]:
    """The interpreters of one without the package and of one with it."""
    pythons = []
    for name in ("without", "with"):
        place = folder / name
        venv.create(place, with_pip=with_pip, symlinks=True)
        pythons.append(str(place / "bin" / "python"))
    packages = next((folder / "with" / "lib").glob("python3*")) / "site-packages"
    (packages / PACKAGE.name).symlink_to(PACKAGE)
    for found in (PACKAGE.with_name("_tagalong_autostart.py"), _autostart_file()):
        shutil.copy(found, packages)  # as an installer does; each start reads one of them
    return pythons[0], pythons[1]


def _autostart_file() -> Path:
    for place in (PACKAGE.with_name(AUTOSTART), HERE.parent.parent / "runtime" / "python" / AUTOSTART):
        if place.exists():
            return place
    raise RuntimeError(f"there is no {AUTOSTART}")


def _start_times(without: str, having: str, rounds: int) -> tuple[list[float], list[float], list[float]]:
    """Of starts without the package, with it, and (fewer) with TAGALONG=1.

    The first two differ by a hundredth, single starts by a tenth: it takes many, each beside one of the other.
    """
    starts = [(without, {}), (having, {}), (having, {"TAGALONG": "1"})]
    times: tuple[list[float], list[float], list[float]] = ([], [], [])

    def start(index: int) -> float:
        python, settings = starts[index]
        return processor_time([python, "-c", "pass"], settings, isolated=True)[0]

    for index in range(len(starts)):  # keeps the bytecode of what is imported
        start(index)
    for number in range(60 * rounds):
        order = [0, 1] if number % 2 == 0 else [1, 0]
        if number % 5 == 0:
            order.append(2)
        for index in order:
            times[index].append(start(index))
    return times
