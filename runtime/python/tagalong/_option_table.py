"""The one table of options: a row describes all of one option."""

from __future__ import annotations

from tagalong._option_values import (
    LIMITS,
    LOG_TOPICS,
    UPPER_LIMITS,
    Mode,
    OptionError,
    read_count,
    read_file,
    read_internal,
    read_limits,
    read_mode,
    read_patterns,
    read_switch,
    read_topics,
)

TYPE_CHECKING = False  # as in options.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Option:
    """One row: everything about one option.

    `allowed` completes the sentence "… is not allowed; allowed: …"; `default` is a text, read by `parse` like any
    other; `examples` are pairs of a text and its value, `refused` texts that must raise: the tests read them. `older`
    has the names of the variable and the flag before they were renamed: for one release they work, with a warning.
    """

    __module__ = "tagalong.options"

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
        parse=read_mode,
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
        parse=read_patterns,
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
        parse=read_patterns,
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
        parse=read_topics,
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
        parse=read_switch,
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
        parse=read_count,
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
        parse=read_switch,
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
        parse=read_switch,
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
        parse=read_limits,
        default="",
        allowed=f"a comma separated list of name=number with a number of at least 1 ({UPPER_LIMITS}) and the names "
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
        parse=read_switch,
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
        parse=read_file,
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
        parse=read_internal,
        default="",
        allowed="a comma separated list of name=number",
        help="knobs of the engine for those who work on tagalong, such as stages that are switched off; "
        "`python -m tagalong info --internal` lists them",
        examples=(("", {}), ("stage_fold=0, group_limit=3", {"stage_fold": 0, "group_limit": 3})),
        refused=("stage_fold", "stage_fold=-1", "stage_fold=off", "=1"),
    ),
)

BY_NAME = {option.name: option for option in TABLE}
