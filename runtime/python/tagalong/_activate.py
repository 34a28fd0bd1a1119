"""Tracing of an unmodified program: the code of the user's modules is changed as it is imported.

A finder stands before the others and asks them; where they find a source module that is to be traced, its loader gets
a `get_code` of its own. What the loader reads from and writes to `.pyc` files stays the original code. The main
module's code is changed when its frame starts.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys

# importlib.machinery has them from there; the interpreter has it from its start, importlib takes long to load.
from _frozen_importlib_external import SourceFileLoader, SourcelessFileLoader

from tagalong import _core
from tagalong._select import Selection, main_name, our_paths
from tagalong.options import Mode, Settings

TYPE_CHECKING = False  # as in options.py
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])
    Change = Callable[[CodeType], CodeType]


def _of_importlib(function: F) -> F:
    """In a traceback and for warnings the frames of such a function are importlib's own: they are left out as those
    around them are.
    """
    function.__code__ = function.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
    return function


class Finder:
    """Finds nothing itself: changes the loaders of what the finders behind it find."""

    def __init__(self, selection: Selection, change: Change) -> None:
        self._selection = selection
        self._change = change
        self.changed: list[CodeType] = []

    @_of_importlib
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The finder protocol of `sys.meta_path`."""
        spec: ModuleSpec | None = None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            if find is not None:
                spec = find(name, path, target)
                if spec is not None:
                    break
        if spec is None:
            return None
        self._selection.lift_opacity(name, spec)
        loader = spec.loader
        # Loaders of other kinds (zip archives, editable installs with their own machinery) are left as they are.
        if isinstance(loader, (SourceFileLoader, SourcelessFileLoader)) and self._selection.wants(
            name, spec.origin
        ):
            self._hook(loader)
        return spec

    def _hook(self, loader: SourceFileLoader | SourcelessFileLoader) -> None:
        inherited = loader.get_code

        @_of_importlib
        def get_code(fullname: str) -> CodeType | None:
            code = inherited(fullname)
            return None if code is None else self.apply(code)

        loader.get_code = get_code  # type: ignore[method-assign]

    @_of_importlib
    def apply(self, code: CodeType) -> CodeType:
        """The traced form of a module's code; code that already has it is left alone."""
        if any(code is known for known in self.changed):
            return code
        changed = self._change(code)
        self.changed.append(changed)
        return changed


def _change_main(finder: Finder, selection: Selection) -> Change:
    def change(code: CodeType) -> CodeType:
        return finder.apply(code) if selection.wants(main_name(), code.co_filename) else code

    return change


def _change_module(mode: Mode) -> Change:
    if mode is Mode.COMPARE:
        from tagalong import _watch  # brings NumPy along, which a traced program may not need

        return _watch.start()
    return _core.wrap_module_code


def start(settings: Settings) -> None:
    """Makes the process trace what `settings` select, from now on. Does nothing when the mode is off."""
    if settings.mode is Mode.OFF:
        return
    if settings.stress:
        stress()
    else:
        selection = Selection(settings)
        finder = Finder(selection, _change_module(settings.mode))
        for name, module in [*sys.modules.items()] if settings.include else ():
            selection.lift_opacity(name, getattr(module, "__spec__", None))
        sys.meta_path.insert(0, finder)
        _core.install_main_hook(_change_main(finder, selection))
        if settings.mode is Mode.TRACE:
            _core.keep_freed_memory()
    if settings.report:
        atexit.register(report)
    if settings.summary:
        import json  # noqa: F401 - at the end it would hide an unhandled KeyboardInterrupt, see summarise()

        atexit.register(summarise, settings.summary)


def stress() -> None:
    """Traces all functions that there are, and all that will be made."""
    from types import FunctionType

    _core.start_stress([*our_paths(), os.path.dirname(os.path.dirname(__file__)) + "/_tagalong_"])  # noqa: PTH120
    for found in gc.get_objects():
        if type(found) is FunctionType:
            _core.adopt_function(found)


def summarise(file: str) -> None:
    """Appends one line of JSON about this process to a file. It must not evaluate text, as imports may (namedtuple):
    the interpreter then takes back that it ends by an unhandled KeyboardInterrupt, and with it its exit status.
    """
    import json  # loaded by now

    counts = _core.stats(None)
    recorded, replayed = _core.functions_seen()
    line = {
        "process": os.getpid(),
        "arguments": sys.orig_argv,
        "functions_recorded": recorded,
        "functions_replayed": replayed,
        **counts,
    }
    with open(file, "ab", buffering=0) as stream:  # noqa: PTH123 - pathlib is slow to load
        stream.write(json.dumps(line).encode() + b"\n")


def report() -> None:
    """Writes what was recorded, replayed and given up to the standard error stream."""
    counts = _core.stats(None)
    stops, limits = counts.pop("stops"), counts.pop("limits")
    line = ", ".join(f"{name} {number}" for name, number in counts.items())
    print(f"tagalong: {line}", file=sys.stderr)
    for reason, number in sorted(stops.items(), key=lambda stop: (-stop[1], stop[0])):
        print(f"tagalong: stopped {number} times: {reason}", file=sys.stderr)
    for name, number in sorted(limits.items(), key=lambda limit: (-limit[1], limit[0])):
        print(f"tagalong: limit {name} reached {number} times", file=sys.stderr)
    text = _core.explain(None)
    if text:
        print(text, file=sys.stderr)
