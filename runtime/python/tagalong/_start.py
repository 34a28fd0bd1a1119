"""Passes the settings of the process to the engine."""

from __future__ import annotations

from tagalong import _core
from tagalong._select import opaque_paths, our_paths
from tagalong.options import OptionError

TYPE_CHECKING = False  # as in options.py
if TYPE_CHECKING:
    from tagalong.options import Settings


def apply(settings: Settings) -> None:
    """Sets the options of the engine from `settings`."""
    for name, value in settings.limits.items():
        _core.set_option(name, value)
    _core.set_option("loops", int(settings.loops))
    _core.set_option("fusion", int(settings.fusion))
    _core.set_option("threads", settings.threads)
    _core.set_option("stress", int(settings.stress))
    for name, value in settings.internal.items():
        try:
            _core.set_option(name, value)
        except ValueError as error:
            raise OptionError(f"TAGALONG_INTERNAL: {error}") from None
    _core.set_opaque_paths(list(our_paths() if settings.stress else opaque_paths()))
    _core.set_log(list(settings.log))
