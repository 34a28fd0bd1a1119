"""The command line; `scripts/fuzz` prepares the machine and calls it."""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from pathlib import Path

from . import oracle, pool
from .assembly import FEATURES, generate
from .shrink import paste_ready, shrunk


def parsed(words: list[str]) -> argparse.Namespace:
    """Parses the arguments."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description="random programs, eagerly and traced")
    parser.add_argument("--count", type=int, default=1000, help="programs to run")
    parser.add_argument("--seed", type=int, default=1, help="the first seed; they go on one by one")
    parser.add_argument("--size", type=int, default=30, help="statements of a program, about")
    parser.add_argument("--time", type=float, help="seconds after which no more programs are started")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--keep", type=Path, help="a folder for what is found")
    parser.add_argument("--off", default="", help=f"features to leave out, of {', '.join(FEATURES)}")
    parser.add_argument("--loops", action="store_true", help="with the engine option `loops`")
    parser.add_argument("--finds", type=int, default=20, help="give up after so many")
    parser.add_argument("--no-shrink", action="store_true", help="only say what differs")
    parser.add_argument("--shrink-time", type=float, default=60.0, help="seconds for shrinking one program")
    parser.add_argument(
        "--show", action="store_true", help="print the program of the seed and what comes of it"
    )
    return parser.parse_args(words)


class Totals:
    """Counts of a run."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.statuses: Counter[str] = Counter()
        self.events: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.excused: Counter[str] = Counter()
        self.calls = self.raised = self.recorded = self.hit = 0

    def add(self, result: pool.Result) -> None:
        self.statuses[result.status] += 1
        self.events += result.events
        if result.status == "skipped":
            self.skipped[result.text] += 1
        if result.excused:
            self.excused[result.excused] += 1
        self.calls += result.calls
        self.raised += result.raised
        self.recorded += result.events["record"] > 0
        self.hit += result.events["hit"] > 0

    def lines(self) -> list[str]:
        seconds = time.monotonic() - self.start
        programs = sum(self.statuses.values())
        stops = {e.removeprefix("stop:"): n for e, n in self.events.most_common() if e.startswith("stop:")}
        rate = programs / seconds if seconds else 0.0
        return [
            f"{programs} programs in {seconds:.0f} s ({rate:.0f} a second): "
            + ", ".join(f"{n} {status}" for status, n in sorted(self.statuses.items())),
            f"{self.calls} calls, {self.raised} of them raised",
            f"functions recorded {self.events['record']}, hits {self.events['hit']}, misses {self.events['miss']}, "
            f"exits {self.events['exit']}, bridges {self.events['bridge']}, stitches {self.events['stitch']}; "
            f"programs that recorded {self.recorded}, that hit {self.hit}",
            f"stops: {stops}",
            f"skipped: {dict(self.skipped)}; same as eager execution in one of its two ways: {dict(self.excused)}",
        ]


def show(arguments: argparse.Namespace, off: frozenset[str]) -> int:
    """Prints one program and its verdict."""
    from .oracle import limits_of

    generated = generate(arguments.seed, arguments.size, off)
    result = pool.outcome_of(generated, limits_of(arguments.seed))
    print(generated.source)
    for call in generated.calls:
        print(f"# {call.times} times: {call.text}")
    print(f"# limits {result.limits}\n{result.status}\n{result.text}\n{dict(result.events)}")
    return result.status not in ("same", "skipped")


def report(result: pool.Result, arguments: argparse.Namespace, off: frozenset[str]) -> None:
    """Prints a find, after shrinking it."""
    print(
        f"==== seed {result.seed}: {result.status}, limits {result.limits}\n{result.text[:2500]}", flush=True
    )
    text = result.text
    if not arguments.no_shrink and "phase generate" not in text and "phase eager" not in text:
        generated = generate(result.seed, arguments.size, off)
        small = shrunk(generated, result, arguments.shrink_time)
        text = paste_ready(*small)
        print(f"---- shrunk\n{text}", flush=True)
    if arguments.keep:
        pool.kept(arguments.keep, f"{result.seed}_{result.status}.py", text)


def main(words: list[str]) -> int:
    """Returns 0 if nothing was found."""
    arguments = parsed(words)
    off = frozenset(arguments.off.split(",")) - {""}
    if off - set(FEATURES):
        sys.exit(f"fuzz: --off: not a feature: {', '.join(off - set(FEATURES))}")
    oracle.with_loops = arguments.loops
    pool.ready()
    if arguments.show:
        return show(arguments, off)
    totals = Totals()
    seeds = itertools.islice(itertools.count(arguments.seed), arguments.count)
    until = None if arguments.time is None else time.monotonic() + arguments.time
    said = time.monotonic()
    finds = 0
    for result in pool.run_all(seeds, arguments.size, off, arguments.jobs, until):
        totals.add(result)
        if result.status in ("differs", "crash", "hang"):
            finds += 1
            report(result, arguments, off)
            if finds >= arguments.finds:
                print("enough found")
                break
        if time.monotonic() - said > 20:
            said = time.monotonic()
            print(totals.lines()[0], flush=True)
    print(*totals.lines(), sep="\n")
    return finds > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
