"""What the values of options are: modes, patterns, topics, limits, and how each is read from a text.

A reader raises `ValueError` for a text that it does not allow; the option says what is allowed.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as in options.py
if TYPE_CHECKING:
    from collections.abc import Mapping


class OptionError(ValueError):
    """A value that an option does not allow; the text names the option, the value and what is allowed.

    Importing tagalong raises it for a bad variable, `tagalong.trace` for a bad setting. It is a ValueError.

        >>> tagalong.trace(retire="yes")
        Traceback (most recent call last):
        tagalong.options.OptionError: tagalong.trace: retire='yes' is not allowed; allowed: True, False
    """

    __module__ = "tagalong.options"


class Mode(str):
    """What happens to the program's own functions: `Mode.OFF`, `Mode.TRACE` or `Mode.COMPARE`."""

    __module__ = "tagalong.options"
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
UPPER_LIMITS = "".join(f"{name}: at most {most}" for name, most in _MOST.items())


def _is_allowed(name: str, number: int) -> bool:
    return name in LIMITS and 1 <= number <= _MOST.get(name, _MOST_OF_ALL)


def read_switch(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError
    return text == "1"


def read_mode(text: str) -> Mode:
    for mode in MODES:
        if text == mode:
            return mode
    raise ValueError


def read_patterns(text: str) -> tuple[str, ...]:
    patterns = tuple(part.strip() for part in text.split(",") if part.strip())
    if not patterns:
        return ()
    import re

    part = r"(?:[\w*?-]|\[!?[\w-]+\])+"
    for pattern in patterns:
        if not re.fullmatch(rf"{part}(?:\.{part})*", pattern):
            raise ValueError
    return patterns


def read_topics(text: str) -> tuple[str, ...]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in (*LOG_TOPICS, "all"):
            raise ValueError
    return LOG_TOPICS if "all" in names else tuple(name for name in LOG_TOPICS if name in names)


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= digits


def read_count(text: str) -> int:
    if not _is_number(text, 4):
        raise ValueError
    return int(text)


def read_file(text: str) -> str:
    # Processes that inherit the variable may be in other folders.
    if text and (not os.path.isabs(text) or text.endswith(os.sep)):  # noqa: PTH117 - pathlib is slow to load
        raise ValueError
    return text


def read_limits(text: str) -> dict[str, int]:
    limits = {name: default for name, (default, _) in LIMITS.items()}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = part.partition("=")
        if not equals or not _is_number(number, 9) or not _is_allowed(name, int(number)):
            raise ValueError
        limits[name] = int(number)
    return limits


def read_internal(text: str) -> dict[str, int]:
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


_LIMIT_NAMES = f"numbers from 1 to {_MOST_OF_ALL} ({UPPER_LIMITS}) by the names " + ", ".join(
    name for name in LIMITS if name != "share"
)
