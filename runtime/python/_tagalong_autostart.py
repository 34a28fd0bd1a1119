"""Imported at the start of the interpreter when TAGALONG is set and is not 0: see `tagalong_autostart.pth`.

That line is run by every interpreter that starts, and most of what it costs is its being compiled: what is only needed
where that variable is set is text in it.

It stands beside the package, not in it, so that what goes wrong while the package is imported has somebody to say it
in one line. A bad option ends the process; an interpreter that tagalong does not support runs the program as it is.
"""

import os
import sys


def _start() -> None:
    try:
        from tagalong import _activate, options

        settings = options.from_environment()
    except ValueError as error:  # OptionError, which may come from the import itself
        print(f"tagalong: {error}", file=sys.stderr, flush=True)
        # SystemExit here would be reported as a failure of the interpreter's own; nothing of the program has begun.
        os._exit(2)
    except ImportError as error:
        if error.name != "tagalong":  # a sub-interpreter says nothing: the program did not ask for it
            print(f"tagalong: not tracing: {error}", file=sys.stderr)
    else:
        _activate.start(settings)


_start()
