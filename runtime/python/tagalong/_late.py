"""Tracing that begins when the program imports tagalong, because `tagalong_autostart.pth` was not read at its start."""

from __future__ import annotations

import sys

from tagalong import _activate

TYPE_CHECKING = False  # as in options.py
if TYPE_CHECKING:
    from tagalong.options import Settings


def start(settings: Settings) -> None:
    """Makes the process trace what is executed from now on, and prints a note about it."""
    main_is_to_come = sys.argv[:1] == ["-m"]  # `python -m package` imports the package first
    _activate.start(settings, main_is_to_come)
    if not main_is_to_come:
        print(
            f"tagalong: TAGALONG={settings.mode} holds from here on, for what is imported or executed later: "
            "tagalong_autostart.pth is in no folder where Python looks for such files "
            "(python -m tagalong run traces all of a program)",
            file=sys.stderr,
        )
