"""Support of the tests of specialised functions."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from tagalong import guards

Function = Callable[..., Any]


class Says(guards.Guard):
    """Returns what it was told to return, and keeps the arguments of its calls."""

    def __init__(self, answer: Any = 1, first: Any = 0) -> None:
        self.answer, self.first = answer, first
        self.asked: list[Any] = []

    def init(self, function: Any) -> int:
        self.function = function
        if isinstance(self.first, BaseException):
            raise self.first
        return self.first

    def check(self, args: tuple[Any, ...] = (), kwargs: Any = None) -> int:
        self.asked.append((args, kwargs))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer() if callable(self.answer) else self.answer


def slow(x: Any) -> Any:
    return "slow", x


def fast(x: Any) -> Any:
    return "fast", x


def new(function: Any = slow) -> Any:
    """A copy of the function with the globals of the calling module, where specialised code finds its names."""
    made = types.FunctionType(
        function.__code__.replace(),
        sys._getframe(1).f_globals,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


class Error(Exception):
    pass
