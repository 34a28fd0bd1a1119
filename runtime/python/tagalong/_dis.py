"""The command `dis` of the command line: the code objects, the graph and the dumps of one function."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import inspect
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

from tagalong import _core, rewriter
from tagalong._dumps import LOWERED, dumps_of
from tagalong._recording import list_code, record


def _load(target: str) -> tuple[FunctionType, dict[str, Any]]:
    """The function that FILE.py:FUNCTION names, and the globals of its file. Raises SystemExit with a sentence."""
    file, colon, name = target.rpartition(":")
    if not colon or not file or not name:
        raise SystemExit(f"dis: expected FILE.py:FUNCTION, got {target!r}")
    path = Path(file)
    if not path.is_file():
        raise SystemExit(f"dis: there is no file {file!r}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"dis: {file!r} is not a Python source")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.resolve().parent))
    spec.loader.exec_module(module)
    try:
        found = functools.reduce(getattr, name.split("."), module)
    except AttributeError as error:
        raise SystemExit(f"dis: {file}: {error}") from None
    found = getattr(found, "__func__", found)
    if not isinstance(found, FunctionType):
        raise SystemExit(f"dis: {name} is not a Python function, but {type(found).__name__}")
    return found, vars(module)


def _bare(function: FunctionType) -> inspect.Signature:
    """The signature of the function's code, without `__wrapped__` and `__signature__`."""
    bare = FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    return inspect.signature(bare)


def section(title: str, text: str) -> None:
    """Prints a text under a title."""
    print(f"---- {title}\n{text.rstrip()}\n")


def _wanted_dumps(text: str | None) -> tuple[str, ...]:
    """The names in the list of --dump, in the order of lowering. Raises SystemExit with a sentence."""
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    for name in names:
        if name not in (*LOWERED, "all"):
            raise SystemExit(f"dis: --dump: {name!r} is not allowed; allowed: {', '.join(LOWERED)}, all")
    return LOWERED if "all" in names else tuple(name for name in LOWERED if name in names)


class _Hook:
    """Stands for the recorder in a listing of code that was not recorded."""

    def __call__(self, key: int) -> None:
        pass

    def __repr__(self) -> str:
        return "<hook>"


def dis(arguments: argparse.Namespace) -> int:
    """The command `dis`: prints the code objects of a function, and with --call its graph. Returns the exit code."""
    dumps = _wanted_dumps(arguments.dump)
    if dumps and arguments.call is None:
        raise SystemExit("dis: --dump wants --call, the arguments of the calls")
    function, names = _load(arguments.target)
    if arguments.call is None:
        original = _core.original_code(function)
        section("original code", list_code(original))
        section("recording code", list_code(rewriter.instrument(original, hooks=_Hook())))
        section("replay code", list_code(_core.wrap_code(original)))
        return 0

    def collect(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, kwargs

    def make_call() -> tuple[tuple[Any, ...], dict[str, Any]]:
        call: tuple[tuple[Any, ...], dict[str, Any]] = eval(
            f"__collect({arguments.call})", names | {"__collect": collect}
        )
        return call

    try:
        args, kwargs = make_call()
        _bare(function).bind(*args, **kwargs)
    except Exception as error:
        raise SystemExit(f"dis: --call {arguments.call!r}: {type(error).__name__}: {error}") from None
    recording = record(function, *args, **kwargs)
    section("original code", recording.listing("original"))
    section("recording code", recording.listing("recording"))
    section("replay code", recording.listing("replay"))
    section("graph", recording.graph)
    section("guards", "\n".join(recording.guards))
    if recording.stop_reason is not None:
        section("stopped", recording.stop_reason)
    if recording.exception is not None:
        section("raised", f"{type(recording.exception).__name__}: {recording.exception}")
    if dumps:
        texts = dumps_of(function, make_call)
        for dump in dumps:
            section(dump, "\n".join(texts[dump]) or "none")
    return 0
