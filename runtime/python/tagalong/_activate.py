"""Tracing of an unmodified program: the code of the user's modules is changed as it is executed.

Whatever finds, loads, rewrites or compiles it: a module's body, a cell of a notebook, or the script that another tool
runs is executed by `exec` or `eval`, and these show us the code object first (`runtime/exec_hook.h`). What loaders
read from and write to `.pyc` files stays the original code. The code of a script that the interpreter itself runs is
changed when its frame starts.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys

# importlib.machinery has it from there; the interpreter has it from its start, importlib takes long to load.
from _frozen_importlib import ModuleSpec

from tagalong import _core
from tagalong._core import rewriter_RewriteError as RewriteError
from tagalong._select import Selection, main_name, matches, our_paths
from tagalong.options import Mode, Settings

TYPE_CHECKING = False  # as in options.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    Change = Callable[[CodeType], CodeType]
    ChangeExecuted = Callable[[CodeType, object, object, object], CodeType]


def _change_main(change: Change, selection: Selection) -> Change:
    def change_main(code: CodeType) -> CodeType:
        selection.lift_opacity(main_name(), code.co_filename)
        return change(code) if selection.wants(main_name(), code.co_filename) else code

    return change_main


def _change_executed(change: Change, selection: Selection) -> ChangeExecuted:
    def change_executed(code: CodeType, name: object, spec: object, file: object) -> CodeType:
        """`name`, `spec` and `file` are what the namespace has under these names, and may be anything."""
        found = spec if type(spec) is ModuleSpec else None
        if name is None and code.co_filename.startswith("<"):
            # An empty namespace: the code belongs to the module that runs it.
            caller = sys._getframe(1).f_globals
            name, file = caller.get("__name__"), caller.get("__file__")
        if found is not None and name == "__main__":
            name = found.name  # with `python -m package.module` the real one
        source: str | None = code.co_filename
        if found is not None and type(found.origin) is str and found.origin.endswith(".pyc"):
            source = found.origin  # the code has the name of a file that was compiled elsewhere
        elif code.co_filename.startswith("<") and type(file) is str:
            source = file  # a cell, a doctest: the user's own where the module is
        if type(name) is str:
            selection.lift_opacity(name, code.co_filename)
        if code.co_filename.startswith("<frozen ") or not selection.wants(
            name if type(name) is str else "", source
        ):
            return code
        try:
            return change(code)
        except RewriteError:  # damaged code runs as it is, as far as it gets
            return code

    return change_executed


def _change_module(mode: Mode) -> Change:
    if mode is Mode.COMPARE:
        from tagalong import _watch  # brings NumPy along, which a traced program may not need

        return _watch.start()
    return _core.wrap_module_code


def _kept_for_report(change: Change) -> Change:
    """The body of a module ends before the report is written, and what is known of it ends with its code."""
    kept = []

    def change_and_keep(code: CodeType) -> CodeType:
        changed = change(code)
        if changed is not code:
            kept.append(changed)
        return changed

    return change_and_keep


def start(settings: Settings, main_is_to_come: bool) -> None:
    """Makes the process trace what `settings` select, from now on. Does nothing when the mode is off.

    `main_is_to_come`: whether the main module has not begun to run. Who waits for it in vain slows down every call.
    """
    if settings.mode is Mode.OFF:
        return
    if settings.stress:
        stress()
    else:
        selection = Selection(settings)
        change = _change_module(settings.mode)
        for name, module in [*sys.modules.items()] if settings.include else ():
            spec = getattr(module, "__spec__", None)
            origin = getattr(spec, "origin", None)
            selection.lift_opacity(name, f"<frozen {name}>" if origin == "frozen" else origin)
        if settings.report:
            change = _kept_for_report(change)
        _core.install_exec_hook(_change_executed(change, selection))
        if main_is_to_come:
            _core.install_main_hook(_change_main(change, selection))
        if settings.mode is Mode.TRACE:
            _core.keep_freed_memory()
    tell_at_end(settings)


def tell_at_end(settings: Settings) -> None:
    """Writes the report and the summary when the process ends, where `settings` ask for them."""
    if settings.report:
        atexit.register(report, settings)
    if settings.summary:
        import json  # noqa: F401 - at the end it would hide an unhandled KeyboardInterrupt, see summarise()

        atexit.register(summarise, settings.summary)
        os.register_at_fork(after_in_child=lambda: _begin_child(settings.summary))


def stress() -> None:
    """Traces all functions that there are, and all that will be made."""
    from types import FunctionType

    _core.start_stress([*our_paths(), os.path.dirname(os.path.dirname(__file__)) + "/_tagalong_"])  # noqa: PTH120
    for found in gc.get_objects():
        if type(found) is FunctionType:
            _core.adopt_function(found)


class _Child:
    """What a forked process has to know for its summary."""

    before: dict[str, Any] | None = None  # what had been counted when it was forked
    tells: bool = False


def _begin_child(file: str) -> None:
    """multiprocessing ends the processes that it forks by os._exit, so that functions of atexit do not run there."""
    _Child.before = _counted()
    util = sys.modules.get("multiprocessing.util")
    after_fork = getattr(util, "register_after_fork", None)
    finalize = getattr(util, "Finalize", None)
    if after_fork is None or finalize is None or _Child.tells:
        return
    _Child.tells = True  # and so it is in the processes that this one forks
    # What is to be done at the end is forgotten when the child begins, and then it hears of its fork.
    after_fork(summarise, lambda _: finalize(None, summarise, args=(file,), exitpriority=_LAST))


_LAST = -(10**9)


def _counted() -> dict[str, Any]:
    recorded, replayed = _core.functions_seen()
    counts = {"functions_recorded": recorded, "functions_replayed": replayed, "left_out": _core.left_out()}
    return counts | _core.stats(None)


def _since(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """How much has been counted since; of what is counted by a name, only what has been."""
    return {
        name: _since(value, before.get(name, {})) if isinstance(value, dict) else value - before.get(name, 0)
        for name, value in now.items()
    }


def summarise(file: str) -> None:
    """Appends one line of JSON about this process to a file, without what was counted before it was forked.

    It must not evaluate text, as imports may (namedtuple): the interpreter then takes back that it ends by an unhandled
    KeyboardInterrupt, and with it its exit status.
    """
    import json  # loaded by now

    counts = _counted() if _Child.before is None else _since(_counted(), _Child.before)
    line = {"process": os.getpid(), "arguments": sys.orig_argv, **counts}
    try:
        with open(file, "ab", buffering=0) as stream:  # noqa: PTH123 - pathlib is slow to load
            stream.write(json.dumps(line).encode() + b"\n")
    except OSError as error:
        print(f"tagalong: TAGALONG_SUMMARY: cannot write {file!r}: {error.strerror}", file=sys.stderr)


def _unmet(settings: Settings) -> list[str]:
    """A sentence for each pattern that fits no module: most likely a slip of the pen."""
    if settings.mode is Mode.OFF or settings.stress:
        return []
    names = [main_name(), *(name for name in [*sys.modules] if isinstance(name, str))]
    return [
        f"{variable}: no module that was imported fits {pattern!r}"
        for variable, patterns in (
            ("TAGALONG_INCLUDE", settings.include),
            ("TAGALONG_EXCLUDE", settings.exclude),
        )
        for pattern in patterns
        if not any(matches(name, (pattern,)) for name in names)
    ]


def report(settings: Settings) -> None:
    """Writes what was recorded, replayed and given up to the standard error stream."""
    counts = _core.stats(None)
    stops, limits = counts.pop("stops"), counts.pop("limits")
    line = ", ".join(f"{name} {number}" for name, number in counts.items())
    print(f"tagalong: {line}", file=sys.stderr)
    if settings.mode is Mode.OFF:
        print("tagalong: TAGALONG is not set: only functions traced by name are traced", file=sys.stderr)
    for sentence in [*_core.left_out_texts(), *_unmet(settings)]:
        print(f"tagalong: {sentence}", file=sys.stderr)
    for reason, number in sorted(stops.items(), key=lambda stop: (-stop[1], stop[0])):
        print(f"tagalong: stopped {number} times: {reason}", file=sys.stderr)
    for name, number in sorted(limits.items(), key=lambda limit: (-limit[1], limit[0])):
        print(f"tagalong: limit {name} reached {number} times", file=sys.stderr)
    text = _core.explain(None)
    if text:
        print(text, file=sys.stderr)
