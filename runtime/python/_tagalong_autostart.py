"""Imported at the start of the interpreter when TAGALONG is set and is not 0: see `tagalong_autostart.pth`.

Every interpreter that starts executes that file, and compiling its line takes most of the time. So the code that is
needed only with the variable is a string in it.

This module lies beside the package, not in it, so that it can report in one line why the package cannot be imported. A
bad option ends the process; an interpreter that tagalong does not support runs the program without tagalong.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing's, without importing it
if TYPE_CHECKING:
    from types import FrameType


def _running_modules() -> set[object]:
    names = set()
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        names.add(frame.f_globals.get("__name__"))
        frame = frame.f_back
    return names


def _start() -> None:
    try:
        from tagalong import _activate, options

        settings = options.from_environment()
    except ValueError as error:  # OptionError, which may come from the import itself
        print(f"tagalong: {error}", file=sys.stderr, flush=True)
        # SystemExit would be reported as a failure of the interpreter itself; the program has not started yet.
        os._exit(2)
    except ImportError as error:
        if error.name != "tagalong._core":  # in a sub-interpreter nothing is printed
            print(f"tagalong: not tracing: {error}", file=sys.stderr)
    else:
        _activate.start(settings, main_is_to_come="__main__" not in _running_modules())


if not sys.flags.ignore_environment:  # python -E and -I ignore Python's own variables, too
    _start()
