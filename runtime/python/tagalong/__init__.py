"""tagalong goes along with a Python function while it really runs.

The first call of a traced function is executed as written, while hooks before and after every bytecode instruction
record it. From the second call on, a static graph made from the recording is replayed in C++ as long as its guards
hold; where reality differs, control lands back in the original bytecode, at the exact instruction.

    import tagalong

    @tagalong.trace
    def f(x, y):
        return 2 * x + y

An unmodified program is traced by `TAGALONG=1 python script.py`. See `tagalong.options` for the variables.
"""

import sys as _sys
import typing as _typing

if _sys.implementation.name != "cpython" or _sys.version_info[:2] != (3, 11):
    raise ImportError(
        f"tagalong supports CPython 3.11; this is {_sys.implementation.name} "
        f"{_sys.version_info.major}.{_sys.version_info.minor}"
    )

from tagalong import _core as _core

if not _core.in_main_interpreter():
    # Code objects carry what is known of them at a place that each interpreter numbers for itself.
    raise ImportError("tagalong works in the main interpreter; this is a sub-interpreter", name="tagalong")

from tagalong import options, rewriter, testing
from tagalong._core import GuardFailed
from tagalong._face import Recording, Stats, explain, record, replay, stats, trace, untrace
from tagalong._start import apply as _apply
from tagalong.options import OptionError

if _typing.TYPE_CHECKING:
    from tagalong._compare import Comparison, compare


def __getattr__(name: str) -> object:
    if name in ("Comparison", "compare"):  # they bring NumPy along, which a traced program may not need
        from tagalong import _compare

        return getattr(_compare, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "GuardFailed",
    "OptionError",
    "Recording",
    "Stats",
    "compare",
    "explain",
    "options",
    "record",
    "replay",
    "rewriter",
    "stats",
    "testing",
    "trace",
    "untrace",
]

_apply(options.from_environment())
