"""Finds what makes a traced program differ from the same program run plain.

usage: scripts/bisect [--timeout SECONDS] PROGRAM [ARGUMENTS]
       scripts/bisect [--timeout SECONDS] -m MODULE [ARGUMENTS]

The program must give the same output each time that it runs plain. It is run traced with the first N functions
recorded, with the first N stages switched off (replay/ir/stages.def), and with the first N fusion groups formed, each
time with N halfway between a run that was right and one that was wrong. Variables TAGALONG_... hold for the traced
runs. Exit code: 0 if nothing differs, 1 if something does, 2 if the program cannot be compared.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest

from tagalong import _core, options

# Without these options, timing decides what is recorded and replayed.
STEADY = {"measuring": 0, "retire_after": 0, "share": 999_999_999, "threads": 1}
# And with these, everything happens as soon as possible.
EARLY = {"heat": 2, "grow_after": 2, "native_after": 2, "fusion": 2}
STAGES = [name for name, _, _ in _core.internals()[1] if name.startswith("stage_")]
MEANING = {name: meaning for name, _, meaning in _core.internals()[1]}
OF_GROUPS = ("stage_vector_code", "stage_multi_pass", "stage_fusion_groups")

# What to look at next: topics of TAGALONG_LOG, as far as there are such topics, and where the code is. All other stages
# are passes, each in replay/passes in a file of its name.
NEXT = {
    "stage_vector_code": (("kernels", "code"), "replay/codegen/vector: the emitters"),
    "stage_multi_pass": (("kernels",), "replay/arrays/planning/multi_pass_builder.cpp"),
    "stage_fusion_groups": (("kernels", "graph"), "replay/arrays/forming and replay/arrays/fusion"),
    "stage_native_code": (("steps", "loops", "code"), "replay/codegen/scalar: the compiler of loop programs"),
    "stage_trace_trees": (("exits", "cache", "loops"), "replay/executor/trace_trees.cpp"),
    "stage_trace_links": (("exits", "graph"), "replay/executor/machine/trace_link.cpp"),
    "stage_unboxing": (("graph", "steps", "loops"), "replay/loops: what lowering makes of the loop's nodes"),
    "stage_inlining": (("record", "graph"), "recorder/inlining"),
    "stage_replaying": (
        ("graph", "guards", "steps", "exits"),
        "none of the passes and compilers: either the recorder has made a wrong graph (recorder/), or the executor "
        "lowers or runs a right graph wrongly (replay/executor/). Compare the graph with the source",
    ),
    "stage_deferred_arrays": (("record",), "recorder/deferred: the first call is wrong, not a replay"),
    "stage_recording": (("record",), "recorder/: the first call is wrong, not a replay"),
}


@dataclass
class Result:
    """What a run of the program has shown."""

    ending: str
    output: str
    errors: str

    def difference(self, other: Result) -> str | None:
        """A sentence about the first difference from `other`; None if there is none."""
        if self.ending != other.ending:
            return f"plain, it {self.ending}; traced, it {other.ending}"
        for name, ours, others in (
            ("output", self.output, other.output),
            ("errors", self.errors, other.errors),
        ):
            lines = zip_longest(ours.splitlines(), others.splitlines())
            for number, (one, two) in enumerate(lines, start=1):
                if one != two:
                    return f"line {number} of the standard {name}: plain {one!r}, traced {two!r}"
        return None


@dataclass
class Search:
    """The program, and how it is run."""

    command: list[str]
    given: dict[str, int]
    timeout: float | None
    runs: int = 0
    steady: dict[str, int] = field(default_factory=dict)
    plain: Result = field(default_factory=lambda: Result("", "", ""))

    def run(self, variables: dict[str, str]) -> Result:
        """Runs the program once with these variables."""
        self.runs += 1
        ours = {
            name: text for name, text in os.environ.items() if name not in ("TAGALONG_LOG", "TAGALONG_REPORT")
        }
        environment = {"PYTHONHASHSEED": "0"} | ours | variables
        try:
            done = subprocess.run(
                [sys.executable, *self.command],
                env=environment,
                timeout=self.timeout,
                capture_output=True,
                text=True,
                errors="backslashreplace",
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Result(f"does not end within {self.timeout:.0f} s", "", "")
        ended = (
            f"ends with exit code {done.returncode}"
            if done.returncode >= 0
            else f"dies of signal {-done.returncode}"
        )
        return Result(ended, done.stdout, done.stderr)

    def variables(self, settings: dict[str, int]) -> dict[str, str]:
        """The variables of a traced run with these knobs."""
        knobs = self.given | self.steady | settings
        text = ",".join(f"{name}={value}" for name, value in knobs.items())
        return {"TAGALONG": "1", "TAGALONG_INTERNAL": text}

    def difference(self, **settings: int) -> str | None:
        """What differs in a traced run with these knobs; None if nothing does."""
        return self.plain.difference(self.run(self.variables(settings)))

    def run_plain(self) -> bool:
        """Whether the program shows the same each time without tagalong."""
        start = time.monotonic()
        self.plain = self.run({"TAGALONG": "0"})
        if self.timeout is None:
            self.timeout = 30 + 20 * (time.monotonic() - start)
        return self.plain.difference(self.run({"TAGALONG": "0"})) is None

    def make_it_differ(self) -> str | None:
        """Finds settings with which the traced program differs, reliably if possible."""
        for self.steady in (STEADY, STEADY | EARLY, {}):
            found = self.difference()
            if found is not None:
                # Without inlining the function is found more precisely.
                apart = self.difference(stage_inlining=0)
                self.steady = self.steady | ({} if apart is None else {"stage_inlining": 0})
                return found if apart is None else apart
        return None


def first(is_wrong: Callable[[int], bool], right: int, wrong: int | None = None) -> int:
    """The first wrong number, given one that is right. All larger numbers are assumed to be wrong, too."""
    step = 1
    while wrong is None:
        if is_wrong(right + step):
            wrong = right + step
        else:
            right += step
            step *= 2
    while wrong - right > 1:
        middle = (right + wrong) // 2
        if is_wrong(middle):
            wrong = middle
        else:
            right = middle
    return wrong


def find_stage(search: Search, limits: dict[str, int]) -> tuple[str, bool]:
    """The last stage of the smallest set without which the program is right, and whether it alone is to blame."""

    def off(count: int) -> dict[str, int]:
        return dict.fromkeys(STAGES[:count], 0)

    # numbers of stages that are switched off, from all to none: the first one with which the program is wrong
    left = first(
        lambda number: search.difference(**limits, **off(len(STAGES) - number)) is not None,
        0,
        len(STAGES),
    )
    stage = STAGES[len(STAGES) - left]
    return stage, search.difference(**limits, **{stage: 0}) is None


def find_group(search: Search, limits: dict[str, int]) -> dict[str, int]:
    """The limits, and that of the first fusion group of a replay that makes a difference, if there is one."""
    # While a recording runs, other groups are formed, which have no limit.
    for settings in (limits, limits | {"stage_deferred_arrays": 0}):
        if search.difference(**settings) is not None and search.difference(**settings, group_limit=0) is None:
            number = first(lambda n: search.difference(**settings, group_limit=n) is not None, 0)  # noqa: B023
            return settings | {"group_limit": number}
    return limits


def find(search: Search, what: str) -> None:
    """Finds function, stage and fusion group, and prints what was found."""
    print(f"differs:   {what}")
    if search.difference(function_limit=0) is not None:
        print("function:  none: it differs although nothing is recorded. Look at runtime/exec_hook.cpp and")
        print("           runtime/records/replay_code.cpp: original instructions run with stubs between them")
        return
    limits = {"function_limit": first(lambda n: search.difference(function_limit=n) is not None, 0)}
    stage, is_alone = find_stage(search, limits)
    if stage in OF_GROUPS:
        limits = find_group(search, limits)
    variables = search.variables(limits)
    log = search.run(variables | {"TAGALONG_LOG": "record"}).errors
    for word, kind in (("function", "function_limit"), ("group", "group_limit")):
        if kind in limits:
            sort = "function that is recorded" if word == "function" else "fusion group that is formed"
            place = re.search(rf"^.*record: (.*): the last {sort}, (?:it ends in )?(.*)$", log, re.MULTILINE)
            text = f"{place[1]}, {place[2]}" if place else "not named in the log"
            print(f"{word + ':':10} {text} (number {limits[kind]})")
    print(f"stage:     {stage.removeprefix('stage_')}")
    if is_alone:
        print(f"           it is right with {stage}=0 alone ({MEANING[stage].removeprefix('0: ')})")
    else:
        earlier = ", ".join(name.removeprefix("stage_") for name in STAGES[: STAGES.index(stage)])
        print(f"           it is right without this one and these together: {earlier}")
    topics, where = NEXT.get(stage, (("graph",), f"replay/passes/{stage.removeprefix('stage_')}.cpp"))
    topics = tuple(topic for topic in topics if topic in options.LOG_TOPICS) or ("graph",)
    again = " ".join(f"{name}={value}" for name, value in variables.items())
    print(f"next:      {where}")
    if stage not in NEXT:
        print(f"           compare the graphs with and without {stage}=0")
    print(f"again:     {again} TAGALONG_LOG={','.join(topics)} python {' '.join(search.command)}")


def main() -> int:
    """The entry point; returns the exit code."""
    assert __doc__
    parser = argparse.ArgumentParser(
        prog="scripts/bisect", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="for each run (default: 30 and 20 times as long as plain)",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module name")
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    given = parser.parse_args()
    command = [*(["-m"] if given.module else []), given.program, *given.arguments]
    search = Search(command, options.from_environment().internal, given.timeout)
    if not search.run_plain():
        print(
            "cannot compare: the program shows something else each time that it runs plain", file=sys.stderr
        )
        return 2
    what = search.make_it_differ()
    if what is None:
        print(f"nothing differs, in {search.runs} runs")
        return 0
    find(search, what)
    print(f"runs:      {search.runs}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
