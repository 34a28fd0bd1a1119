"""Tracing of an unmodified program: the code of the user's modules is changed as it is executed.

The body of a module, a cell of a notebook, or a script that another tool runs is executed by `exec` or `eval`, whatever
has found, loaded or compiled it, and the exec hook sees its code object first (`runtime/exec_hook.h`). `.pyc` files
contain the original code. The code of a script that the interpreter itself runs is changed when its frame starts.
"""

from __future__ import annotations

import gc
import os
import sys

# The interpreter has loaded this module at its start; importlib.machinery, which has the class, too, loads slowly.
from _frozen_importlib import ModuleSpec

from tagalong import _core
from tagalong._core import rewriter_RewriteError as RewriteError
from tagalong._select import Selection, main_name, our_paths
from tagalong.options import Mode, Settings

TYPE_CHECKING = False  # as in options.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    Change = Callable[[CodeType], CodeType]
    ChangeExecuted = Callable[[CodeType, object, object, object], CodeType]


def _change_main(change: Change, selection: Selection) -> Change:
    def change_main(code: CodeType) -> CodeType:
        selection.lift_opacity(main_name(), code.co_filename)
        return change(code) if selection.wants(main_name(), code.co_filename) else code

    return change_main


def _change_executed(change: Change, selection: Selection) -> ChangeExecuted:
    def change_executed(code: CodeType, name: object, spec: object, file: object) -> CodeType:
        """`name`, `spec` and `file` are the values in the namespace, and may be of any type."""
        found = spec if type(spec) is ModuleSpec else None
        if name is None and code.co_filename.startswith("<"):
            # An empty namespace: the code belongs to the module that runs it.
            caller = sys._getframe(1).f_globals
            name, file = caller.get("__name__"), caller.get("__file__")
        if found is not None and name == "__main__":
            name = found.name  # with `python -m package.module`: the real name
        source: str | None = code.co_filename
        if found is not None and type(found.origin) is str and found.origin.endswith(".pyc"):
            source = found.origin  # the source may have been compiled elsewhere
        elif code.co_filename.startswith("<") and type(file) is str:
            source = file  # a cell or a doctest belongs to the module's file
        if type(name) is str:
            selection.lift_opacity(name, code.co_filename)
        if code.co_filename.startswith("<frozen ") or not selection.wants(
            name if type(name) is str else "", source
        ):
            return code
        try:
            return change(code)
        except RewriteError:  # damaged code runs unchanged
            return code

    return change_executed


def _change_module(mode: Mode) -> Change:
    if mode is Mode.COMPARE:
        from tagalong import _watch  # imports NumPy, which a traced program may not need

        return _watch.start()
    return _core.wrap_module_code


def _kept_for_report(change: Change) -> Change:
    """Keeps the code of module bodies for the report: their records end with the code, before the report is written."""
    kept = []

    def change_and_keep(code: CodeType) -> CodeType:
        changed = change(code)
        if changed is not code:
            kept.append(changed)
        return changed

    return change_and_keep


def start(settings: Settings, main_is_to_come: bool) -> None:
    """Makes the process trace what `settings` select, from now on. Does nothing if the mode is off.

    `main_is_to_come`: whether the main module has not started yet. The hook that waits for it slows down every call.
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
    if settings.report or settings.summary:
        from tagalong._at_end import tell_at_end

        tell_at_end(settings)


def stress() -> None:
    """Traces all functions that exist, and all that will be made."""
    from types import FunctionType

    _core.start_stress([*our_paths(), os.path.dirname(os.path.dirname(__file__)) + "/_tagalong_"])  # noqa: PTH120
    for found in gc.get_objects():
        if type(found) is FunctionType:
            _core.adopt_function(found)
