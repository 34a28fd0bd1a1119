"""Reads the programs of a topic file.

A topic file is Python source in sections. A section is one program; it opens with a header of comment lines:

    # program: add                          its name
    # trace: f, C.method                    what is traced (default: f); `all`: every function of the section
    # limits: nodes=5, unroll=2             engine options while it runs
    # only as written: the reason           never shuffled, nor with recordings cut short
    # until: 3.11                           the last version of Python in which it is run; a note says why
    # note: why something is as it is       any number of these
    # f(1, 2) => record, hit                a step called twice: the events of the first call, the events of the second
    # f(1.0, 2) => miss record, hit
    # do other = [1]                        a step without events: a statement in the program's namespace

and goes on with its source. The source is compiled with the line numbers of the topic file. `trace` is a name that
every program may use as a decorator; it does nothing in eager runs. `none` stands for a call without any event,
`(exit stitch)*3` for the events three times in a row.

Where another version of Python gives other events, because its compiler makes other code, `events/3.13.txt` lists
them, by program, each step with its number among the steps of the program, below a comment that says why:

    # while: the condition is compiled twice
    closed_while
      1 f(10) => hit record hit exit
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

_HEADER = re.compile(r"# program: (\w+)$")
_EVENT = re.compile(r"record|bridge|hit|stitch|miss|exit|grow|retire|none|stop:\w+")
_REPEATED = re.compile(r"\(([^()]*)\)\*(\d+)")

PROGRAMS = Path(__file__).parent / "programs"
EVENTS = Path(__file__).parent / "events"


@dataclass(frozen=True)
class Step:
    """One line of a header: an expression with the events of each of its calls, or a statement (`events` is None)."""

    text: str
    line: int
    events: tuple[tuple[str, ...], ...] | None


@dataclass(frozen=True)
class Program:
    """A section of a topic file."""

    name: str
    path: Path
    line: int
    source: str
    traced: tuple[str, ...]
    steps: tuple[Step, ...]
    limits: tuple[tuple[str, int], ...] = ()
    only_as_written: bool = False
    last_version: tuple[int, ...] = (3, 99)

    @property
    def traces_all(self) -> bool:
        """Whether every function is traced, nested ones too, as in an unmodified program."""
        return self.traced == ("all",)


class ProgramError(Exception):
    """A topic file that does not have the form described above."""


def load() -> list[Program]:
    """All programs of all topics, in order."""
    programs = [program for path in sorted(PROGRAMS.glob("*.py")) for program in load_topic(path)]
    programs = [program for program in programs if program.last_version >= sys.version_info[:2]]
    other_events = events_of_version(*sys.version_info[:2])
    programs = [_with_events(program, other_events.pop(program.name, {})) for program in programs]
    if other_events:
        raise ProgramError(f"events of programs that do not exist: {', '.join(other_events)}")
    names = [program.name for program in programs]
    for name in names:
        if names.count(name) > 1:
            raise ProgramError(f"two programs are called {name}")
    return programs


def events_of_version(major: int, minor: int) -> dict[str, dict[int, str]]:
    """By program, the steps with other events in this version of Python: their lines by number."""
    path = EVENTS / f"{major}.{minor}.txt"
    found: dict[str, dict[int, str]] = {}
    steps: dict[int, str] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("  "):
            number, text = line.split(maxsplit=1)
            steps[int(number)] = text
        elif line and not line.startswith("#"):
            steps = found.setdefault(line.strip(), {})
    return found


def _with_events(program: Program, lines: dict[int, str]) -> Program:
    steps = list(program.steps)
    for number, line in lines.items():
        call, _, events = line.rpartition(" => ")
        where = f"{program.name}, step {number}"
        if number >= len(steps) or steps[number].text != call or steps[number].events is None:
            raise ProgramError(f"{where}: the program has no such step: {call}")
        steps[number] = replace(steps[number], events=_parse_events(events, where))
    return replace(program, steps=tuple(steps))


def load_topic(path: Path) -> list[Program]:
    """The programs of one topic file."""
    lines = path.read_text().splitlines()
    starts = [i for i, line in enumerate(lines) if _HEADER.match(line)]
    return [_parse(path, lines, i, j) for i, j in zip(starts, [*starts[1:], len(lines)], strict=True)]


def _parse(path: Path, lines: list[str], start: int, end: int) -> Program:
    name = lines[start].removeprefix("# program: ")
    traced: tuple[str, ...] = ("f",)
    steps = []
    limits: list[tuple[str, int]] = []
    only_as_written = False
    last_version: tuple[int, ...] = (3, 99)
    body = start + 1
    while body < end and lines[body].startswith("#"):
        text, number = lines[body].removeprefix("# "), body + 1
        body += 1
        if text.startswith("trace:"):
            traced = tuple(part.strip() for part in text.removeprefix("trace:").split(",") if part.strip())
        elif text.startswith("limits:"):
            pairs = [part.strip().split("=") for part in text.removeprefix("limits:").split(",")]
            limits = [(option, int(number)) for option, number in pairs]
        elif text.startswith("only as written:"):
            only_as_written = True
        elif text.startswith("until: "):
            last_version = tuple(int(part) for part in text.removeprefix("until: ").split("."))
        elif text.startswith("do "):
            steps.append(Step(text.removeprefix("do "), number, None))
        elif " => " in text:
            call, _, events = text.rpartition(" => ")
            steps.append(Step(call.strip(), number, _parse_events(events, f"{path.name}:{number}")))
        elif not text.startswith("note:"):
            raise ProgramError(f"{path.name}:{number}: neither a step nor a note: {text}")
    source = "\n" * body + "\n".join(lines[body:end]) + "\n"
    if not any(step.events for step in steps):
        raise ProgramError(f"{path.name}:{start + 1}: {name} asserts no event")
    return Program(
        name, path, start + 1, source, traced, tuple(steps), tuple(limits), only_as_written, last_version
    )


def _parse_events(text: str, where: str) -> tuple[tuple[str, ...], ...]:
    calls = []
    for call in text.split(","):
        events = _REPEATED.sub(lambda found: f"{found[1]} " * int(found[2]), call).split()
        if not events or not all(_EVENT.fullmatch(event) for event in events):
            raise ProgramError(f"{where}: no events: {text}")
        calls.append(tuple(event for event in events if event != "none"))
    return tuple(calls)
