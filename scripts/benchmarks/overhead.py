"""The cost of tagalong where it does nothing: functions left out and retired, and the start of the interpreter.

Processes with and without tagalong are run in turn. Their own processor time is measured, not the clock on the wall.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import tagalong
from benchmarks.call_programs import PROGRAMS
from benchmarks.measure import Figure, environment, processor_time

TITLE = "with tagalong where it does nothing / plain Python"
HERE = Path(__file__).parent
PACKAGE = Path(tagalong.__file__).parent
AUTOSTART = "tagalong_autostart.pth"
# The fill level of the pools for small objects makes a difference of up to two hundredths in either direction, which is
# the same for all processes with the same history. So each pair of processes has another fill level.
PAIRS = 9
KEPT = 97  # number of small objects: more from pair to pair
LEAST_ROUNDS = 15
STATES = {
    "left-out": {"TAGALONG": "1", "TAGALONG_EXCLUDE": "call_programs"},
    "retired": {"TAGALONG": "1"},
}


def figures(rounds: int) -> Iterator[Figure]:
    # Processors have different other loads, so both processes of a pair run on the same one.
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
    """A process that times programs on request."""

    def __init__(self, state: str, kept: int) -> None:
        # Started like any script, so that the main hook and the finder work.
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
        """The time of the program, in ns, and its result."""
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
    """The start of pairs of interpreters that differ only in our files, since every start reads `.pth` files.

    An installation reads and compiles our line once, a virtual environment twice, because it goes through its
    site-packages twice (CPython issue 75723, fixed in 3.15). In a virtual environment made by `python -m venv`,
    setuptools already has a `.pth` file, up to CPython 3.11. In a bare one ours is the only one.
    """
    kinds: dict[str, Callable[[Path], Path]] = {
        "an installation": _installation,
        "venv as python -m venv makes it": lambda place: _environment(place, with_pip=True),
        "venv, bare": lambda place: _environment(place, with_pip=False),
    }
    for kind, make in kinds.items():
        with tempfile.TemporaryDirectory() as folder:
            without, having = (make(Path(folder).resolve() / name) for name in ("without", "with"))
            _install(having)
            times = _start_times(str(without), str(having), rounds)
        plain, unset, switched_on = (min(column) for column in times)
        ratio = statistics.median(two / one for one, two in zip(*times[:2], strict=True))
        beside = f"{unset * 1e3:.2f} ms / {plain * 1e3:.2f} ms"
        yield Figure(f"python -c pass, TAGALONG unset, {kind}", ratio, "x", beside, bar=1.01)
        beside = f"{switched_on * 1e3:.2f} ms / {plain * 1e3:.2f} ms"
        more = (switched_on - plain) * 1e3
        yield Figure(f"python -c pass, TAGALONG=1, more, {kind}", more, "ms", beside, bar=15.0)


def _environment(place: Path, *, with_pip: bool) -> Path:
    """The interpreter of a virtual environment."""
    venv.create(place, with_pip=with_pip, symlinks=True)
    return place / "bin" / "python"


def _installation(place: Path) -> Path:
    """The interpreter of a copy of this installation, without packages. RuntimeError if it does not work as one.

    The standard library is linked. The executable is a copy, because an interpreter looks for its library beside
    itself, past links.
    """
    library = Path(sysconfig.get_path("stdlib"))
    python = place / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    own_library = place / "lib" / library.name
    for made in (python.parent, own_library / "site-packages"):
        made.mkdir(parents=True)
    shutil.copy(os.path.realpath(sys.executable), python)
    for entry in library.iterdir():
        if entry.name not in ("site-packages", "sitecustomize.py"):
            (own_library / entry.name).symlink_to(entry)
    told = processor_time(
        [str(python), "-c", "import sys; print(sys.prefix, sys.base_prefix)"], {}, isolated=True
    )[1]
    if told.decode().split() != [str(place), str(place)]:
        raise RuntimeError(f"{python} takes {told.decode()} for its place")
    return python


def _install(python: Path) -> None:
    """Installs as an installer does: each start reads one of the files."""
    packages = next((python.parent.parent / "lib").glob("python3*")) / "site-packages"
    (packages / PACKAGE.name).symlink_to(PACKAGE)
    for found in (PACKAGE.with_name("_tagalong_autostart.py"), _autostart_file()):
        shutil.copy(found, packages)


def _autostart_file() -> Path:
    for place in (PACKAGE.with_name(AUTOSTART), HERE.parent.parent / "runtime" / "python" / AUTOSTART):
        if place.exists():
            return place
    raise RuntimeError(f"there is no {AUTOSTART}")


def _start_times(without: str, having: str, rounds: int) -> tuple[list[float], list[float], list[float]]:
    """Times of starts without the package, with it, and (fewer) with TAGALONG=1.

    The first two differ by a hundredth, and single starts by a tenth: it takes many, each beside one of the other kind.
    """
    starts = [(without, {}), (having, {}), (having, {"TAGALONG": "1"})]
    times: tuple[list[float], list[float], list[float]] = ([], [], [])

    def start(index: int) -> float:
        python, settings = starts[index]
        return processor_time([python, "-c", "pass"], settings, isolated=True)[0]

    for index in range(len(starts)):  # writes the bytecode of the imported modules
        start(index)
    for number in range(60 * rounds):
        order = [0, 1] if number % 2 == 0 else [1, 0]
        if number % 5 == 0:
            order.append(2)
        for index in order:
            times[index].append(start(index))
    return times
