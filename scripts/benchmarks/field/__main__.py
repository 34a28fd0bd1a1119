"""Array programs of many fields, plain and with TAGALONG=1: `scripts/bench field`.

Each program runs in processes of its own, plain and traced in turn; the processor time of its run counts, recording
included, start of the interpreter and imports left out (the column "process" has everything). The bytes of its results
are compared. Beside it, where they are installed and the program has a version for them: numba with loops written by
hand, compilation left out, and numexpr.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Figure, process_pair, processor_time
from benchmarks.tables import Table, duration, ratio

HERE = Path(__file__).parent
APART = HERE.parent / "field_apart"
PROCESS = str(HERE / "process.py")
PEERS = ("numba", "numexpr")
WRITTEN_FOR = {"numba": "def by_hand(", "numexpr": "def by_numexpr("}
ELEMENTWISE = 0.2  # the least share of element-wise work of the programs whose mean has a bar
LEAST_MEAN = 2.5
LEAST = 0.97
ONE_THREAD = {"NUMBA_NUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1", "NUMEXPR_MAX_THREADS": "1"}


@dataclass
class Measured:
    """One program at one size. Ratios are times of plain Python by times of the other, so above 1 is faster."""

    name: str
    size: int
    rounds: int = 0
    share: float = 0.0  # of element-wise work
    plain: float = 0.0  # seconds of a round
    gain: float = 0.0
    process: float = 0.0  # the gain of whole processes
    peers: dict[str, str] = field(default_factory=dict)
    failure: str = ""

    @property
    def what(self) -> str:
        return f"{self.name}, {self.size:,}"


def child(words: list[str]) -> Any:
    return json.loads(processor_time([sys.executable, PROCESS, *words], ONE_THREAD)[1])


def measure(path: Path, size: int, seconds: float, pairs: int, peers: list[str]) -> Measured:
    found = Measured(f"{path.parent.name}/{path.stem}", size)
    try:
        looked = child([str(path), str(size), str(seconds), "look"])
        found.rounds, found.share = looked["rounds"], looked["share"]
        compare(found, path, pairs)
        for peer in peers:
            if WRITTEN_FOR[peer] in path.read_text():
                found.peers[peer] = by_peer(found, path, peer)
    except RuntimeError as error:
        found.failure = str(error)
    return found


def compare(found: Measured, path: Path, pairs: int) -> None:
    words = [sys.executable, PROCESS, str(path), str(found.size), str(found.rounds)]
    gains, processes, plains = [], [], []
    for number in range(pairs):
        plain, traced = process_pair(words, number)
        before, after = json.loads(plain[1]), json.loads(traced[1])
        if before["digest"] != after["digest"]:
            found.failure = f"{found.rounds} rounds: with TAGALONG=1 the results have other bytes"
        gains.append(before["seconds"] / after["seconds"])
        processes.append(plain[0] / traced[0])
        plains.append(before["seconds"])
    found.gain, found.process = statistics.median(gains), statistics.median(processes)
    found.plain = statistics.median(plains) / found.rounds


def by_peer(found: Measured, path: Path, peer: str) -> str:
    answer = child([str(path), str(found.size), str(found.rounds), peer])
    gain = ratio(found.plain * found.rounds / answer["seconds"])
    return gain if answer["close"] else f"{gain} differs"


def programs(folder: Path, asked: list[str]) -> Iterator[Path]:
    """The programs of a folder whose name, or field, begins with one of those that are asked for."""
    for path in sorted(folder.glob("*/[a-z]*.py")):
        names = (path.stem, path.parent.name, f"{path.parent.name}/{path.stem}")
        if not asked or any(name.startswith(word) for name in names for word in asked):
            yield path


def sizes_of(path: Path) -> tuple[int, ...]:
    """Read from the text: the programs are run by processes of their own only."""
    line = next(line for line in path.read_text().splitlines() if line.startswith("SIZES = "))
    sizes: tuple[int, ...] = eval(line.removeprefix("SIZES = "))
    return sizes


def chosen_sizes(path: Path, options: argparse.Namespace) -> list[int]:
    sizes = sizes_of(path)
    if options.size:
        return list(options.size)
    return [sizes[len(sizes) // 2]] if options.quick else list(sizes)


def mean(found: list[Measured]) -> float:
    return statistics.geometric_mean(one.gain for one in found) if found else float("nan")


def print_fields(found: list[Measured], markdown: bool) -> None:
    print("\nBy field: geometric means, the least, and how many runs are below the bar\n")
    table = Table(["field", "runs", "mean", "element-wise", "least", f"below {LEAST}"], markdown)
    for name in sorted({one.name.split("/")[0] for one in found}):
        mine = [one for one in found if one.name.startswith(f"{name}/")]
        some = [one for one in mine if one.share >= ELEMENTWISE]
        least = min(one.gain for one in mine)
        below = sum(one.gain < LEAST for one in mine)
        table.row(
            [name, str(len(mine)), ratio(mean(mine)), ratio(mean(some)), ratio(least), str(below or "")]
        )


def figures(found: list[Measured], failures: list[Measured]) -> Iterator[Figure]:
    some = [one for one in found if one.share >= ELEMENTWISE]
    text = f"{len(some)} of {len(found)} runs, those with a fifth or more of element-wise work"
    yield Figure("geometric mean", mean(some), "x", text, bar=LEAST_MEAN, at_least=True)
    yield Figure("geometric mean of all", mean(found), "x", f"{len(found)} runs")
    processes = statistics.geometric_mean(one.process for one in found)
    yield Figure("geometric mean of all, whole processes", processes, "x", "")
    least = min(found, key=lambda one: one.gain)
    yield Figure("the least", least.gain, "x", least.what, bar=LEAST, at_least=True)
    yield Figure("programs that fail or give other bytes", len(failures), "", "", bar=0)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench field", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one size of each program, short processes")
    parser.add_argument(
        "--program", action="append", metavar="NAME", help="beginning of a program's or field's name"
    )
    parser.add_argument("--size", action="append", type=int, metavar="N", help="instead of a program's sizes")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="of a plain run (default: 1.5; quick: 0.6)"
    )
    parser.add_argument("--pairs", type=int, metavar="N", help="of processes (default: 5; quick: 3)")
    parser.add_argument("--apart", action="store_true", help="the programs that are kept apart, instead")
    parser.add_argument("--no-peers", action="store_true", help="tagalong alone")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a bar is missed")
    options = parser.parse_args()
    options.seconds = options.seconds or (0.6 if options.quick else 1.5)
    options.pairs = options.pairs or (3 if options.quick else 5)
    return options


def main() -> int:
    options = parse()
    peers = [] if options.no_peers else [peer for peer in PEERS if importlib.util.find_spec(peer)]
    print(f"CPython {platform.python_version()}, NumPy {np.__version__}; medians of {options.pairs} pairs")
    for peer in PEERS:
        if peer not in peers:
            print(f"skipped: {peer} ({'not asked for' if options.no_peers else 'not installed'})")
    print("above 1 is faster than plain Python; * element-wise work takes a fifth or more\n")
    columns = ["program", "size", "plain", "element-wise", "tagalong", "process", *peers]
    table = Table(columns, options.markdown, (36, 10, 9))
    found, failures = [], []
    for path in programs(APART if options.apart else HERE, options.program or []):
        for size in chosen_sizes(path, options):
            one = measure(path, size, options.seconds, options.pairs, peers)
            if one.failure:
                failures.append(one)
                print(f"  FAILED: {one.what}: {one.failure}", flush=True)
            if not one.gain:
                continue
            found.append(one)
            share = f"{100 * one.share:.0f} %{' *' if one.share >= ELEMENTWISE else '  '}"
            cells = [duration(one.plain), share, ratio(one.gain), ratio(one.process)]
            table.row([one.name, f"{size:,}", *cells, *(one.peers.get(peer, "") for peer in peers)])
    if not found:
        print("no program has been measured")
        return 1
    print_fields(found, options.markdown)
    slow = sorted((one for one in found if one.gain < LEAST), key=lambda one: one.gain)
    print(f"\n{len(slow)} of {len(found)} runs below {LEAST}")
    for one in slow:
        print(f"  {one.what:46} {ratio(one.gain):>6}  element-wise {100 * one.share:.0f} %")
    print("\nBars\n")
    bars = list(figures(found, failures))
    for bar in bars:
        print(f"  {bar}")
    missed = sum(not bar.kept for bar in bars)
    return 1 if failures or (options.check and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
