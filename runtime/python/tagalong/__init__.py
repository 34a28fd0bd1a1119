"""tagalong goes along with a Python function while it really runs.

The first call of a traced function is executed as written, while hooks before and after every bytecode instruction
record it. From the second call on, a static graph made from the recording is replayed in C++ as long as its guards
hold; where reality differs, the original bytecode continues at the exact instruction (a side exit).

    import tagalong

    @tagalong.trace
    def f(x, y):
        return 2 * x + y

An unmodified program is traced by `TAGALONG=1 python script.py`. See `tagalong.options` for the variables.

- Tracing: `trace`, `untrace`. What happened: `stats` (`Stats`), `explain`.
- One recording by hand: `record` (`Recording`), `replay`, `GuardFailed`.
- Eager execution against replay: `compare` (`Comparison`).
- Versions of a function made by hand (PEP 510): `specialize`, `get_specialized` (`RecordedGraph`),
  `remove_specialized`, `get_include`, and the guards in `tagalong.guards`.
- `tagalong.options` (`OptionError`), `tagalong.testing` for tests, `tagalong.rewriter` for code objects.
"""

import os as _os
import sys as _sys

# The scripts set the variable: they also build and test for versions that are not supported yet.
if _sys.implementation.name != "cpython" or f"{_sys.version_info.major}.{_sys.version_info.minor}" not in (
    "3.11",
    _os.environ.get("BUILD_PYTHON"),
):
    raise ImportError(
        f"tagalong supports CPython 3.11; this is {_sys.implementation.name} "
        f"{_sys.version_info.major}.{_sys.version_info.minor}"
    )

try:
    from tagalong import _core as _core
except ImportError as _error:
    if _error.name == "tagalong._core":
        raise  # a sub-interpreter
    raise ImportError(
        f"tagalong's library cannot be loaded: {_error}", name="tagalong", path=_error.path
    ) from None

if not _core.in_main_interpreter():
    # CPython has handed on the module of the main interpreter.
    raise ImportError(
        "tagalong works in the main interpreter; this is a sub-interpreter", name="tagalong._core"
    )

from tagalong import options
from tagalong._core import GuardFailed, RecordedGraph
from tagalong._start import apply as _apply
from tagalong.options import OptionError

TYPE_CHECKING = False  # typing's, without importing it
if TYPE_CHECKING:
    from tagalong import guards, rewriter, testing
    from tagalong._compare import Comparison, compare
    from tagalong._recording import Recording, record, replay
    from tagalong._reports import Stats, explain, stats
    from tagalong._specialize import get_include, get_specialized, remove_specialized, specialize
    from tagalong._trace import trace, untrace

# An unmodified program that is traced needs none of these names, so their modules are loaded on first use.
_LATER = {
    **dict.fromkeys(("Comparison", "compare"), "_compare"),
    **dict.fromkeys(("Recording", "record", "replay"), "_recording"),
    **dict.fromkeys(("Stats", "explain", "stats"), "_reports"),
    **dict.fromkeys(("trace", "untrace"), "_trace"),
    **dict.fromkeys(("get_include", "get_specialized", "remove_specialized", "specialize"), "_specialize"),
}


if not TYPE_CHECKING:  # for type checkers it would make every name valid

    def __getattr__(name: str) -> object:
        is_module = name in ("guards", "rewriter", "testing")
        if not is_module and name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # importing a module of the package calls this, too

        if is_module:
            return import_module(f"tagalong.{name}")
        value = getattr(import_module(f"tagalong.{_LATER[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "GuardFailed",
    "OptionError",
    "RecordedGraph",
    "Recording",
    "Stats",
    "compare",
    "explain",
    "get_include",
    "get_specialized",
    "guards",
    "options",
    "record",
    "remove_specialized",
    "replay",
    "rewriter",
    "specialize",
    "stats",
    "testing",
    "trace",
    "untrace",
]

# `python -m tagalong` imports the package first: its user gets a sentence instead of a traceback.
_words = _sys.orig_argv[-len(_sys.argv) :][:1] if getattr(_sys, "argv", ())[:1] == ["-m"] else []
_is_command = _words in (["tagalong"], ["-mtagalong"])

try:
    _settings = options.from_environment()
    _apply(_settings)
except OptionError as _error:
    if not _is_command or "_tagalong_autostart" in _sys.modules:  # that prints the sentence itself
        raise
    print(f"tagalong: {_error}", file=_sys.stderr)
    raise SystemExit(2) from None
if _settings.mode is options.Mode.OFF:
    if (_settings.report or _settings.summary) and not _is_command:
        # The program may trace functions by name.
        from tagalong._at_end import tell_at_end as _tell_at_end

        _tell_at_end(_settings)
elif "_tagalong_autostart" not in _sys.modules:
    # The start file was not read: Python does not look for such files in its folder.
    from tagalong._late import start as _start_late

    _start_late(_settings)
