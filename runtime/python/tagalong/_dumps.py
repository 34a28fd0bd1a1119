"""Dumps: what a function becomes, from graph to machine code, as text. For the command line and for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from tagalong import _core
from tagalong._functions import function_with_code

LOWERED = ("steps", "loops", "kernels", "code")
"""The dumps of what graphs are lowered to; topics of the log have the same names."""

Call = tuple[tuple[Any, ...], Mapping[str, Any]]


def dumps_of(
    function: FunctionType, make_call: Callable[[], Call], calls: int = 3, disassembles: bool = True
) -> dict[str, list[str]]:
    """All dumps after so many calls of a traced copy of the function.

    - `make_call`: the arguments of the next call.
    - `disassembles`: whether the code is disassembled, if a disassembler is installed.

    Loops are recorded and compiled at once. Exceptions of the calls are ignored. The keys are graph, guards, steps,
    loops, kernels and code.
    """
    # A code object of its own has no recordings yet.
    copy = function_with_code(function, _core.original_code(function).replace())
    _core.trace(copy, False, {"heat": 1, "native_after": 1})
    for _ in range(calls):
        args, kwargs = make_call()
        try:
            copy(*args, **kwargs)
        except Exception:
            continue
    return _core._dumps(copy, disassembles)
