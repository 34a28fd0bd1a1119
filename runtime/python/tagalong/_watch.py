"""The compare mode: every function is watched.

`TAGALONG=compare` needs eager execution and a replay of the same call, from the same state. Copies of the arguments
would not do for functions that read and write globals or their object's attributes, so the whole process is copied: a
call is replayed in a forked child, which sends home a description of what can be observed, and executed eagerly in the
parent, which goes on with the program. Files and sockets are not copied: what a function writes there itself, not
through `print`, is written twice.
"""

from __future__ import annotations

import ast
import atexit
import builtins
import functools
import inspect
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from tagalong import _core
from tagalong._compare import Outcome, original_function
from tagalong._values import Tree

_DECORATOR = "__tagalong_watched__"
_ALWAYS = (
    16  # of each function the first calls are compared, and then every one whose number is a power of two
)
_PATIENCE = 60.0  # seconds to wait for a child that has nothing to say yet


def start() -> Callable[[CodeType], CodeType]:
    """Prepares the process for comparing; returns what is to be done to the code of a module."""
    setattr(builtins, _DECORATOR, watched)
    atexit.register(_summary)
    return _watch_module


class _Watch(ast.NodeTransformer):
    """Decorates every function, innermost, so that the function itself stays what the source says."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        name = ast.Name(id=_DECORATOR, ctx=ast.Load())
        node.decorator_list.append(ast.copy_location(name, node))
        return node


def _watch_module(code: CodeType) -> CodeType:
    """The module compiled again from its source, with every function watched; `code` itself where there is none."""
    try:
        with open(code.co_filename, "rb") as file:  # noqa: PTH123 - a path from a code object, read as it is
            tree = ast.parse(file.read(), code.co_filename)
    except (OSError, SyntaxError, ValueError):
        print(f"tagalong: compare: no source, not compared: {code.co_filename}", file=sys.stderr)
        return code
    return compile(_Watch().visit(tree), code.co_filename, "exec", dont_inherit=True)


class _Counts:
    compared = 0
    differing = 0
    replaying = False  # true in a child: everything runs traced, nothing is compared


def _due(number: int) -> bool:
    return number <= _ALWAYS or number & (number - 1) == 0


def watched(function: Any) -> Any:
    """Wraps a function so that its replays are compared with eager execution. Generators are left as they are."""
    if not isinstance(function, FunctionType) or inspect.isgeneratorfunction(function):
        return function
    eager = original_function(function)
    traced = _core.trace(function)
    calls = 0

    @functools.wraps(function)
    def watching(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        if _Counts.replaying:
            return traced(*args, **kwargs)
        calls += 1
        if calls == 1:
            return traced(*args, **kwargs)
        if not _due(calls):
            return eager(*args, **kwargs)
        child = _Child(traced, args, kwargs)
        outcome = Outcome.of(eager, args, kwargs)
        child.compare(outcome, traced, calls)
        if outcome.exception is not None:
            raise outcome.exception
        return outcome.result

    return watching


class _Child:
    """A copy of the process that replays one call and tells what came of it."""

    def __init__(self, traced: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._reader, writer = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            # Nothing of this process may come back into the program: it ends here, whatever happens.
            try:
                os.close(self._reader)
                self._replay(writer, traced, args, kwargs)
            finally:
                os._exit(0)
        os.close(writer)

    @staticmethod
    def _replay(writer: int, traced: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        _Counts.replaying = True
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        before = _core.stats(traced)["hits"]
        outcome = Outcome.of(traced, args, kwargs)
        replayed = _core.stats(traced)["hits"] > before
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump((replayed, outcome.tree), pipe)

    def _told(self) -> tuple[bool, Tree] | None:
        parts = []
        try:
            while True:
                ready, _, _ = select.select([self._reader], [], [], _PATIENCE)
                part = os.read(self._reader, 1 << 20) if ready else None
                if part is None:
                    os.kill(self._process, signal.SIGKILL)
                    return None
                if not part:
                    break
                parts.append(part)
        finally:
            os.close(self._reader)
            _, status = os.waitpid(self._process, 0)
        if not parts or status != 0:
            return None
        told: tuple[bool, Tree] = pickle.loads(b"".join(parts))
        return told

    def compare(self, eager: Outcome, traced: FunctionType, number: int) -> None:
        """Compares with the eager outcome and writes what differs to the standard error stream."""
        told = self._told()
        if told is not None and not told[0]:
            return  # the guards of no graph held: there was no replay to compare
        _Counts.compared += 1
        lines = ["the replay came to no end, or ended the process"]
        if told is not None:
            lines = eager.differences(Outcome(None, None, told[1]), "eager", "replay")
        if lines:
            _Counts.differing += 1
            code = traced.__code__
            place = f"{traced.__module__}.{traced.__qualname__} ({code.co_filename}:{code.co_firstlineno})"
            for line in lines:
                print(f"tagalong: compare: {place}, call {number}: {line}", file=sys.stderr)


def _summary() -> None:
    if not _Counts.replaying:
        print(
            f"tagalong: compare: {_Counts.compared} replays compared, {_Counts.differing} differ",
            file=sys.stderr,
        )
