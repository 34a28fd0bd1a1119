"""What happened to traced functions: stats, explain, Stats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from tagalong import _core
from tagalong._functions import python_function


@dataclass(frozen=True)
class Stats:
    """Counts of one function, or of the whole process, at one moment. `stats` makes it.

    >>> f = tagalong.trace(lambda x: x + 1)
    >>> [f(number) for number in (1, 2, 3)], tagalong.stats(f).records, tagalong.stats(f).hits
    ([2, 3, 4], 1, 2)
    """

    records: int = 0
    """recordings that gave a graph"""
    hits: int = 0
    """calls that were replayed"""
    misses: int = 0
    """calls whose guards held for no graph"""
    exits: int = 0
    """side exits: replays that the original instructions have continued"""
    bridges: int = 0
    """graphs recorded from a side exit"""
    invalidations: int = 0
    """graphs removed because something that they rely on has changed"""
    retired: int = 0
    """functions that were retired because their replays did not pay"""
    stops: dict[str, int] = field(default_factory=dict)
    """recordings that were aborted, by reason"""
    limits: dict[str, int] = field(default_factory=dict)
    """how often each limit of `tagalong.options.LIMITS` was reached, by its name"""
    specialized: tuple[int, ...] = ()
    """of a function: calls that used each specialisation made by hand, in the order of `get_specialized`"""


def stats(f: Callable[..., Any] | CodeType | None = None, /) -> Stats:
    """The counts of a function, or those of the whole process without one.

    - `f`: a Python function or a code object. Functions of the same code share their counts. Those of the process
      include functions that were freed.

    Returns a `Stats`, which does not change later. Raises TypeError if `f` is neither a Python function nor a code
    object.

        >>> f = tagalong.trace(lambda x: x + 1)
        >>> f(1), f(2), f("text")
        Traceback (most recent call last):
        TypeError: can only concatenate str (not "int") to str
        >>> tagalong.stats(f).hits, tagalong.stats(f).misses
        (1, 1)
    """
    if f is None or isinstance(f, CodeType):
        return Stats(**_core.stats(f))
    function = python_function("stats", f)
    return Stats(**_core.stats(function), specialized=tuple(_core.uses_of_specialized(function)))


def explain(f: Callable[..., Any] | CodeType | None = None, /) -> str:
    """Why a function was recorded, replayed, left or retired, with source lines and values; without one, all functions.

    - `f`: a Python function or a code object.

    Returns a text of several lines. Without a function it begins with the calls of traced functions that ran the
    original instructions, and why, and ends with the number of functions that were freed and are not listed. For a
    function its specialisations made by hand come first, in the order in which a call asks them, each with the number
    of calls that used it. Raises TypeError if `f` is neither a Python function nor a code object.

        >>> f = tagalong.trace(lambda x: x + 1)
        >>> f(1), f(2)
        (2, 3)
        >>> print(tagalong.explain(f))  # doctest: +ELLIPSIS
        <lambda> (...)
          1 recorded, 1 hits, 0 misses, 0 exits, 0 bridges, 1 graphs
        ...
    """
    if f is None:
        return "".join(f"{sentence}\n" for sentence in _core.left_out_texts()) + _core.explain(None)
    if isinstance(f, CodeType):
        return _core.explain(f)
    function = python_function("explain", f)
    lines = [
        f"specialised as {code!r} under {', '.join(type(guard).__name__ for guard in guards)}, used {uses} times\n"
        for (code, guards), uses in zip(
            _core.get_specialized(function), _core.uses_of_specialized(function), strict=False
        )
    ]
    return "".join(lines) + _core.explain(function)
