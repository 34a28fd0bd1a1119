"""The options of the process: one table, and everything that is derived from it.

A row of `TABLE` describes one option. The parser of the environment, the flags of the command line, their help, the
table in the documentation (`documentation()`) and the tests come from the rows. This module uses the standard library
only. A bad value raises `OptionError`, which names the variable, the value and what is allowed.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing's, which loads slowly
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping
    from typing import Any


class OptionError(ValueError):
    """A value that an option does not allow; the text names the option, the value and what is allowed.

    Importing tagalong raises it for a bad variable, `tagalong.trace` for a bad setting. It is a ValueError.

        >>> tagalong.trace(retire="yes")
        Traceback (most recent call last):
        tagalong.options.OptionError: tagalong.trace: retire='yes' is not allowed; allowed: True, False
    """


class Mode(str):
    """What happens to the program's own functions: `Mode.OFF`, `Mode.TRACE` or `Mode.COMPARE`."""

    __slots__ = ()
    OFF: Mode
    TRACE: Mode
    COMPARE: Mode

    def __repr__(self) -> str:
        return f"Mode({str(self)!r})"


Mode.OFF, Mode.TRACE, Mode.COMPARE = MODES = (Mode("0"), Mode("1"), Mode("compare"))


LOG_TOPICS = ("record", "graph", "guards", "replay", "exits", "cache", "steps", "loops", "kernels", "code")

# Everything that can grow has a named limit. Name: default, what is counted.
LIMITS: dict[str, tuple[int, str]] = {
    "nodes": (4000, "nodes of one graph"),
    "unroll": (64, "iterations of one loop written out in one graph"),
    "inline_depth": (8, "Python calls inside each other recorded into one graph, at most 23"),
    "recursion": (3, "frames of the same code in one graph at a time"),
    "openings": (4, "beginnings of one loop in one graph, as its variables change their types"),
    "entries_per_anchor": (8, "graphs kept for one place in the code"),
    "executors": (200, "graphs kept for one function, before no more loops and exits are recorded"),
    "retries": (4, "failed recordings at one place, after which it is not recorded any more"),
    "heat": (16, "rounds of a loop, or exits to one place, before it is recorded"),
    "grow_after": (16, "runs that continue in another graph before that becomes a part of the first one"),
    "native_after": (256, "rounds of a graph before native code is made of it"),
    "parts": (24, "graphs that become parts of one graph"),
    "operations": (4000, "operations of a graph with several parts"),
    "stack": (128, "KiB of C stack that a thread must have left for a graph to be run or recorded"),
    "recordings": (8, "recordings of one function under way at a time, on stacks of threads and greenlets"),
    "share": (
        15,
        "per mille of a process's time that recordings of functions not traced by name may cost, which is an "
        "estimate: numbers above 1000 allow more, too",
    ),
    "retire_after": (
        32,
        "runs of a function that together did not pay, after which it runs as written again",
    ),
}


# Limits that the engine itself has.
_MOST = {"inline_depth": 23}
_MOST_OF_ALL = 999_999_999
_EXCEPT = "".join(f"{name}: at most {most}" for name, most in _MOST.items())


def _is_allowed(name: str, number: int) -> bool:
    return name in LIMITS and 1 <= number <= _MOST.get(name, _MOST_OF_ALL)


def _switch(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError
    return text == "1"


def _mode(text: str) -> Mode:
    for mode in MODES:
        if text == mode:
            return mode
    raise ValueError


def _patterns(text: str) -> tuple[str, ...]:
    patterns = tuple(part.strip() for part in text.split(",") if part.strip())
    if not patterns:
        return ()
    import re

    part = r"(?:[\w*?-]|\[!?[\w-]+\])+"
    for pattern in patterns:
        if not re.fullmatch(rf"{part}(?:\.{part})*", pattern):
            raise ValueError
    return patterns


def _topics(text: str) -> tuple[str, ...]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in (*LOG_TOPICS, "all"):
            raise ValueError
    return LOG_TOPICS if "all" in names else tuple(name for name in LOG_TOPICS if name in names)


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= digits


def _count(text: str) -> int:
    if not _is_number(text, 4):
        raise ValueError
    return int(text)


def _file(text: str) -> str:
    # Processes that inherit the variable may be in other folders.
    if text and (not os.path.isabs(text) or text.endswith(os.sep)):  # noqa: PTH117 - pathlib is slow to load
        raise ValueError
    return text


def _limits(text: str) -> dict[str, int]:
    limits = {name: default for name, (default, _) in LIMITS.items()}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = part.partition("=")
        if not equals or not _is_number(number, 9) or not _is_allowed(name, int(number)):
            raise ValueError
        limits[name] = int(number)
    return limits


def _internal(text: str) -> dict[str, int]:
    # The engine checks the names.
    settings = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = part.partition("=")
        if not name.isidentifier() or not _is_number(number, 18):
            raise ValueError
        settings[name] = int(number)
    return settings


def given_limits(limits: Mapping[str, int], origin: str) -> dict[str, int]:
    """Limits that a program gives by name, for one function. `origin` begins the sentence of an `OptionError`."""
    try:
        given = dict(limits)
    except (TypeError, ValueError):
        raise OptionError(f"{origin}: {limits!r} is not allowed; allowed: a dict of {_LIMIT_NAMES}") from None
    for name, number in given.items():
        if name == "share":
            raise OptionError(
                f"{origin}: 'share' is not a limit of one function: it is about functions that are not traced by name; "
                "TAGALONG_LIMITS=share=… sets it for the process"
            )
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if not is_number or not _is_allowed(name, number):
            raise OptionError(
                f"{origin}: {name!r}: {number!r} is not allowed; allowed: a dict of {_LIMIT_NAMES}"
            )
    return given


_LIMIT_NAMES = f"numbers from 1 to {_MOST_OF_ALL} ({_EXCEPT}) by the names " + ", ".join(
    name for name in LIMITS if name != "share"
)


class Option:
    """One row: everything about one option.

    `allowed` completes the sentence "… is not allowed; allowed: …"; `default` is a text, read by `parse` like any
    other; `examples` are pairs of a text and its value, `refused` texts that must raise: the tests read them. `older`
    has the names of the variable and the flag before they were renamed: for one release they work, with a warning.
    """

    __slots__ = (
        "allowed",
        "default",
        "examples",
        "flag",
        "help",
        "name",
        "older",
        "parse",
        "refused",
        "variable",
    )

    def __init__(
        self,
        *,
        name: str,
        variable: str,
        flag: str,
        parse: Callable[[str], Any],
        default: str,
        allowed: str,
        help: str,
        examples: tuple[tuple[str, Any], ...],
        refused: tuple[str, ...],
        older: tuple[str, str] | None = None,
    ) -> None:
        self.name = name
        self.variable = variable
        self.flag = flag
        self.parse = parse
        self.default = default
        self.allowed = allowed
        self.help = help
        self.examples = examples
        self.refused = refused
        self.older = older

    def read(self, text: str, origin: str) -> Any:
        """The value of `text`; `origin` (a variable or a flag) is named in the error."""
        try:
            return self.parse(text.strip())
        except ValueError:
            raise OptionError(f"{origin}: {text!r} is not allowed; allowed: {self.allowed}") from None


_PATTERNS = "module names or patterns (* ? [abc]), separated by commas; a package stands for its modules too"

TABLE: tuple[Option, ...] = (
    Option(
        name="mode",
        variable="TAGALONG",
        flag="--mode",
        parse=_mode,
        default="0",
        allowed="0, 1, compare",
        help="1: trace the functions of the user's own code; compare: replay a copy as well and report differences",
        examples=(("0", Mode.OFF), ("1", Mode.TRACE), ("compare", Mode.COMPARE)),
        refused=("yes", "2", "Compare"),
    ),
    Option(
        name="include",
        variable="TAGALONG_INCLUDE",
        flag="--include",
        parse=_patterns,
        default="",
        allowed=_PATTERNS,
        help="modules to trace that are not the user's own, such as installed packages; their functions "
        "become part of their callers' graphs, too",
        examples=(("", ()), ("json, scipy.*, [!_]?-x", ("json", "scipy.*", "[!_]?-x"))),
        refused=("a b", "pkg/module", "json..decoder", ".json", "json.", "[json", "!json", "a[]"),
    ),
    Option(
        name="exclude",
        variable="TAGALONG_EXCLUDE",
        flag="--exclude",
        parse=_patterns,
        default="",
        allowed=_PATTERNS,
        help="modules not to trace; stronger than include",
        examples=(("", ()), ("app.tests", ("app.tests",))),
        refused=("a;b",),
    ),
    Option(
        name="log",
        variable="TAGALONG_LOG",
        flag="--log",
        parse=_topics,
        default="",
        allowed="a comma separated list of " + ", ".join((*LOG_TOPICS, "all")),
        help="what to write to the standard error stream while the program runs",
        examples=(("", ()), ("exits,record", ("record", "exits")), ("all", LOG_TOPICS)),
        refused=("everything", "record;exits"),
    ),
    Option(
        name="report",
        variable="TAGALONG_REPORT",
        flag="--report",
        parse=_switch,
        default="0",
        allowed="0, 1",
        help="1: when the program ends, write what was recorded, replayed and given up to the standard error stream",
        examples=(("0", False), ("1", True)),
        refused=("true",),
    ),
    Option(
        name="threads",
        variable="TAGALONG_THREADS",
        flag="--threads",
        parse=_count,
        default="0",
        allowed="a number from 0 to 9999",
        help="threads for large arrays; 0: as many as there are processors",
        examples=(("0", 0), ("4", 4)),
        refused=("-1", "four", "2.0"),
    ),
    Option(
        name="loops",
        variable="TAGALONG_LOOPS",
        flag="--loops",
        parse=_switch,
        default="1",
        allowed="0, 1",
        help="1: loops are replayed as loops, and entered while they run; 0: rounds are written out one by one",
        examples=(("0", False), ("1", True)),
        refused=("2", "yes"),
    ),
    Option(
        name="fusion",
        variable="TAGALONG_FUSION",
        flag="--fusion",
        parse=_switch,
        default="1",
        allowed="0, 1",
        help="1: array operations in a row are run as one, block by block in cache; 0: one by one",
        examples=(("0", False), ("1", True)),
        refused=("2", "on"),
        older=("TAGALONG_REGIONS", "--regions"),
    ),
    Option(
        name="limits",
        variable="TAGALONG_LIMITS",
        flag="--limits",
        parse=_limits,
        default="",
        allowed=f"a comma separated list of name=number with a number of at least 1 ({_EXCEPT}) and the names "
        + ", ".join(LIMITS),
        help="named limits: "
        + ", ".join(f"{name}={default} ({what})" for name, (default, what) in LIMITS.items()),
        examples=(("", {n: d for n, (d, _) in LIMITS.items()}),),
        refused=("nodes", "nodes=0", "nodes=-1", "node=5", "nodes=many", "inline_depth=24"),
    ),
    Option(
        name="stress",
        variable="TAGALONG_STRESS",
        flag="--stress",
        parse=_switch,
        default="0",
        allowed="0, 1",
        help="1: trace every Python function of the process, the standard library's and installed packages' too: "
        "recorded at the first call, replayed from the second, whether it pays or not (for tests, with TAGALONG=1)",
        examples=(("0", False), ("1", True)),
        refused=("on",),
    ),
    Option(
        name="summary",
        variable="TAGALONG_SUMMARY",
        flag="--summary",
        parse=_file,
        default="",
        allowed="the absolute name of a file",
        help="file to which each traced process appends one line of JSON at its end: what was recorded, replayed and "
        "given up",
        examples=(("", ""), ("/var/counts.jsonl", "/var/counts.jsonl")),
        refused=("counts.jsonl", "/var/"),
    ),
    Option(
        name="internal",
        variable="TAGALONG_INTERNAL",
        flag="--internal",
        parse=_internal,
        default="",
        allowed="a comma separated list of name=number",
        help="knobs of the engine for those who work on tagalong, such as stages that are switched off; "
        "`python -m tagalong info --internal` lists them",
        examples=(("", {}), ("stage_fold=0, group_limit=3", {"stage_fold": 0, "group_limit": 3})),
        refused=("stage_fold", "stage_fold=-1", "stage_fold=off", "=1"),
    ),
)

BY_NAME = {option.name: option for option in TABLE}


class Settings:
    """The value of every option; the attributes are the names of the table's rows, in its order."""

    mode: Mode
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    log: tuple[str, ...]
    report: bool
    threads: int
    loops: bool
    fusion: bool
    limits: dict[str, int]
    stress: bool
    summary: str
    internal: dict[str, int]

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Takes exactly one value for each row."""
        for option in TABLE:
            setattr(self, option.name, values[option.name])

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, Settings) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Settings({vars(self)!r})"


if [*Settings.__annotations__] != [option.name for option in TABLE]:
    raise AssertionError("the attributes of Settings are not the rows of the options table")


def process_environment() -> Mapping[str, str]:
    """The variables of the process; none with `python -E` and `-I`, which ignore Python's own, too."""
    return {} if sys.flags.ignore_environment else os.environ


_renamed: set[str] = set()


def _warn_renamed(old: str, new: str) -> None:
    if old not in _renamed:
        _renamed.add(old)
        print(
            f"tagalong: {old} is called {new} now; the old name goes with the next release", file=sys.stderr
        )


def from_environment(environment: Mapping[str, str] | None = None) -> Settings:
    """Reads all options from `environment` (default: the process's, which `python -E` and `-I` ignore).

    Raises `OptionError` for a bad value, and for a variable that begins with TAGALONG_ and is in no row, which is most
    likely a typing error.
    """
    environment = process_environment() if environment is None else environment
    variables = [option.variable for option in TABLE]
    older = {option.older[0]: option for option in TABLE if option.older}
    for variable in environment:
        if variable in older:
            _warn_renamed(variable, older[variable].variable)
        elif variable.startswith("TAGALONG_") and variable not in variables:
            raise OptionError(f"{variable}: there is no such variable; there are: {', '.join(variables)}")
    values = {}
    for option in TABLE:
        names = (option.variable, option.older[0]) if option.older else (option.variable,)
        given = next((name for name in names if name in environment), option.variable)
        text = environment.get(given, "")
        values[option.name] = option.read(option.default if text == "" else text, given)
    return Settings(values)


def add_arguments(parser: argparse.ArgumentParser, names: tuple[str, ...] | None = None) -> None:
    """Adds the flags of the rows `names` (default: all) to a parser of a command line."""
    for option in TABLE:
        if names is None or option.name in names:
            parser.add_argument(
                option.flag,
                dest=option.name,
                metavar="VALUE",
                help=f"{option.help} (allowed: {option.allowed}; variable: {option.variable})".replace(
                    "%", "%%"
                ),
            )
            if option.older:
                parser.add_argument(
                    option.older[1], dest=option.name, type=_renamed_flag(option), help="==SUPPRESS=="
                )


def _renamed_flag(option: Option) -> Callable[[str], str]:
    def same(text: str) -> str:
        if option.older:
            _warn_renamed(option.older[1], option.flag)
        return text

    return same


def environment_of(arguments: argparse.Namespace, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """A copy of the environment `base` with the given flags as variables; flags replace variables.

    Raises `OptionError`, naming the flag, for a bad value.
    """
    environment = dict(os.environ if base is None else base)
    for option in TABLE:
        text = getattr(arguments, option.name, None)
        if text is not None:
            option.read(text, option.flag)
            environment[option.variable] = text
    return environment


def documentation() -> str:
    """The table of the options in Markdown, as the documentation shows it."""
    lines = ["| variable | flag | allowed | default | what it does |", "|---|---|---|---|---|"]
    for option in TABLE:
        default = f"`{option.default}`" if option.default else ""
        cells = (f"`{option.variable}`", f"`{option.flag}`", option.allowed, default, option.help)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
