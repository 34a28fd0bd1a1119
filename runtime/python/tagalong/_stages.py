"""What becomes of a function, stage by stage, as text: for the command line and for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from tagalong import _core

LOWERED = ("steps", "loops", "kernels", "code")
"""The stages behind the graph, as the topics of the log are called."""

Call = tuple[tuple[Any, ...], Mapping[str, Any]]


def _twin(function: FunctionType) -> FunctionType:
    """The same function with a code object of its own, which nothing is known about."""
    code = _core.original_code(function).replace()
    twin = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__ = function.__qualname__
    twin.__module__ = function.__module__
    return twin


def stage_texts(
    function: FunctionType, make_call: Callable[[], Call], calls: int = 3, disassembles: bool = True
) -> dict[str, list[str]]:
    """The texts of all stages after so many calls of a traced twin of the function.

    - `make_call`: the arguments of the next call.
    - `disassembles`: whether the code is disassembled, where a disassembler is installed.

    Loops are recorded and compiled at once. What a call raises is its own business. The keys are graph, guards, steps,
    loops, kernels and code.
    """
    twin = _twin(function)
    _core.trace(twin, False, {"heat": 1, "native_after": 1})
    for _ in range(calls):
        args, kwargs = make_call()
        try:
            twin(*args, **kwargs)
        except Exception:
            continue
    return _core._texts(twin, disassembles)
