"""The Python functions inside what callers give, and sentences about what they gave instead."""

from __future__ import annotations

import functools
import inspect
from types import AsyncGeneratorType, CodeType, CoroutineType, FunctionType, GeneratorType, MethodType
from typing import Any

from tagalong import _core

# What the engine learns about NumPy once per process, it learns here and not in the first call of a function.
_core._meet_numpy()


def _instead(verb: str, thing: object) -> str:
    """A hint what to give instead of `thing`, which is no Python function; empty if there is none."""
    if isinstance(thing, (staticmethod, classmethod, MethodType)):
        return _instead(verb, thing.__func__)
    if isinstance(thing, type):
        found = [name for name, member in vars(thing).items() if isinstance(member, FunctionType)]
        own = f", for example {thing.__name__}.{found[0]}" if found else ""
        return f"; {verb} its methods one by one{own}"
    if isinstance(thing, functools.partial):
        return f"; {verb} the function in it, its attribute func"
    if isinstance(thing, property):
        return f"; {verb} its getter, its attribute fget, or put the decorator below @property"
    if isinstance(thing, (functools.cached_property, functools.partialmethod)):
        return f"; {verb} the function in it, its attribute func"
    if isinstance(thing, (GeneratorType, CoroutineType, AsyncGeneratorType)):
        return f"; {verb} the function that makes it"
    if isinstance(inspect.getattr_static(thing, "__wrapped__", None), FunctionType):
        return f"; {verb} the function in it, its attribute __wrapped__"
    if isinstance(thing, CodeType):
        return f"; {verb} the function that has it"
    if isinstance(inspect.getattr_static(type(thing), "__call__", None), FunctionType):
        return f"; {verb} {type(thing).__name__}.__call__"
    if callable(thing):
        return "; it is written in C, so there is no bytecode to record"
    return ""


def _refuse(what: str, thing: object) -> TypeError:
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    shown = f" {name!r}" if isinstance(name, str) else ""
    kind = f"the class {name!r}" if isinstance(thing, type) else f"{type(thing).__name__}{shown}"
    instead = _instead("trace" if what in ("trace", "untrace") else "give", thing)
    if not instead and what in ("record", "compare"):
        instead = f"; write tagalong.{what}(f, arguments), not tagalong.{what}(f(arguments))"
    return TypeError(f"tagalong.{what}: expected a Python function, got {kind}{instead}")


def python_function(what: str, thing: object) -> FunctionType:
    """The Python function inside `thing` (a function, a bound method, a staticmethod or classmethod object).

    Raises TypeError, in the name of the public function `what`, for everything else.
    """
    inner = thing.__func__ if isinstance(thing, (staticmethod, classmethod, MethodType)) else thing
    if not isinstance(inner, FunctionType):
        raise _refuse(what, thing)
    return inner


def function_with_code(function: FunctionType, code: CodeType) -> FunctionType:
    """A function like `function` that runs `code`, with the same globals, cells and defaults."""
    copy = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    return copy


def bind_self(what: str, thing: object, args: tuple[Any, ...]) -> tuple[FunctionType, tuple[Any, ...]]:
    """The function inside `thing`, and its arguments: for a bound method its object comes first."""
    function = python_function(what, thing)
    return (function, (thing.__self__, *args)) if isinstance(thing, MethodType) else (function, args)


_SUSPENDING = (
    (
        inspect.CO_ASYNC_GENERATOR,
        "an asynchronous generator function",
        "generator",
        "[x async for x in {}(…)]",
    ),
    (inspect.CO_COROUTINE, "a coroutine function", "coroutine", "asyncio.run({}(…))"),
    (inspect.CO_GENERATOR, "a generator function", "generator", "list({}(…))"),
)


def why_nothing_runs(function: FunctionType) -> str | None:
    """A sentence if a call of the function runs nothing, since it only makes a generator or a coroutine; or None."""
    for flag, kind, made, example in _SUSPENDING:
        if _core.original_code(function).co_flags & flag:
            name = function.__qualname__
            return (
                f"{name} is {kind}, so a call only makes the {made} and runs nothing of it; "
                f"give a function that runs it to its end, as {example.format(function.__name__)} does"
            )
    return None
