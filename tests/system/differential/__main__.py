"""`python -m differential [--eager | --shuffled SEED | --limits | --loops] [--here] [name ...]`: what differs.

Names are those of programs or topics.

Every program runs in a process of its own, so that a crash is told as a crash; `--here` runs all in this one.

--eager     compares two eager runs, which shows programs that do not behave the same twice
--shuffled  all functions of the program traced, calls in random order; events are not compared
--limits    the graph limited to so few nodes that the recording stops in the middle, six times; events are not compared
--loops     jumps back close traces, which are entered and linked early, with --shuffled or without; events are not
            compared
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from random import Random

from .program import Program, load
from .runner import LIMITS, Seen, differences, run

Run = tuple[str, list[Seen], list[Seen]]


def runs(program: Program, arguments: argparse.Namespace) -> Iterator[Run]:
    """Pairs of runs that must be equal, with a text for each pair."""
    if arguments.eager:
        yield "two eager runs", run(program), _without_events(run(program))
        return
    import tagalong.testing
    from tagalong import _core

    if program.only_as_written and (arguments.shuffled is not None or arguments.limits or arguments.loops):
        return
    trace, events = partial(tagalong.trace, retire=True), tagalong.testing.events
    if arguments.loops:
        for name, value in (("loops", 1), ("heat", 2), ("grow_after", 2)):
            LIMITS[name] = value
            _core.set_option(name, value)
    if arguments.shuffled is not None:
        key = f"{program.name}{arguments.shuffled}"
        eager, again = run(program, order=Random(key)), run(program, order=Random(key))
        if not differences(eager, again):  # caches of the standard library can make runs differ
            yield f"shuffled by {arguments.shuffled}", eager, run(program, trace, events, Random(key))
    elif arguments.limits:
        eager, again = run(program), _without_events(run(program))
        limits = sorted(Random(program.name).sample(range(2, 60), k=6))
        for limit in limits if not differences(eager, again) else []:
            _core.set_option("nodes", limit)
            yield f"at most {limit} nodes", eager, _without_events(run(program, trace, events))
    elif arguments.loops:
        for what, LIMITS["native_after"] in (("with loops that are interpreted", 0), ("with loops", 1)):
            yield what, run(program), _without_events(run(program, trace, events))
    else:
        yield "as written", run(program), run(program, trace, events)


def _without_events(seen: list[Seen]) -> list[Seen]:
    for one in seen:
        one.expected = None
    return seen


def check_here(programs: list[Program], arguments: argparse.Namespace) -> int:
    """Runs all programs here; returns the number that differ."""
    bad = 0
    counts: Counter[str] = Counter()
    for program in programs:
        for what, eager, other in runs(program, arguments):
            counts.update(event for seen in other for event in seen.events)
            found = differences(eager, other)
            if found:
                bad += 1
                steps = "\n".join(f"  {seen.text}: {' '.join(seen.events)}" for seen in other)
                print(f"=== {program.name}, {what}", steps, *found, sep="\n", flush=True)
    print(f"events: {dict(counts)}")
    return bad


def check_apart(programs: list[Program], flags: list[str]) -> int:
    """Runs each program in a process of its own; returns the number that differ."""
    bad = 0
    for program in programs:
        command = [sys.executable, "-X", "faulthandler", "-m", __package__, *flags, "--here", program.name]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if result.returncode != 0:
            bad += 1
            print(
                f"=== {program.name} ({result.returncode})\n{result.stdout}{result.stderr[-2000:]}",
                flush=True,
            )
    print(f"{bad} of {len(programs)} programs differ")
    return bad


def main(words: list[str]) -> int:
    """The command line; returns 1 if something differs."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}")
    parser.add_argument("--eager", action="store_true")
    parser.add_argument("--shuffled", type=int, metavar="SEED")
    parser.add_argument("--limits", action="store_true")
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("--here", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args(words)
    programs = [p for p in load() if not arguments.names or {p.name, p.path.stem} & set(arguments.names)]
    if arguments.here:
        return check_here(programs, arguments) > 0
    flags = [word for word in words if word not in arguments.names]
    return check_apart(programs, flags) > 0


sys.exit(main(sys.argv[1:]))
