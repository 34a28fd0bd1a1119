"""Imported at the start of the interpreter when TAGALONG is set and is not 0: see `tagalong_autostart.pth`.

That line is run by every interpreter that starts, and most of what it costs is its being compiled: what is only needed
where that variable is set is text in it.

It stands beside the package, not in it, so that what goes wrong while the package is imported has somebody to say it
in one line. A bad option ends the process; an interpreter that tagalong does not support runs the program as it is.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as typing has it
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
        # SystemExit here would be reported as a failure of the interpreter's own; nothing of the program has begun.
        os._exit(2)
    except ImportError as error:
        if error.name != "tagalong._core":  # a sub-interpreter says nothing: the program did not ask for it
            print(f"tagalong: not tracing: {error}", file=sys.stderr)
    else:
        _activate.start(settings, main_is_to_come="__main__" not in _running_modules())


if not sys.flags.ignore_environment:  # python -E and -I: as for Python's own variables
    _start()
