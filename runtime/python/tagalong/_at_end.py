"""What the process writes at its end: the report for people, the summary for programs.

Imported before the end: see `summarise`.
"""

from __future__ import annotations

import atexit
import json
import os
import sys

from tagalong import _core
from tagalong._select import main_name, matches
from tagalong.options import Mode, Settings

TYPE_CHECKING = False  # as in options.py
if TYPE_CHECKING:
    from typing import Any


def tell_at_end(settings: Settings) -> None:
    """Writes the report and the summary when the process ends, if `settings` ask for them."""
    if settings.report:
        atexit.register(report, settings)
    if settings.summary:
        atexit.register(summarise, settings.summary)
        os.register_at_fork(after_in_child=lambda: _begin_child(settings.summary))


class _Child:
    """What a forked process knows for its summary."""

    before: dict[str, Any] | None = None  # the counts when it was forked
    tells: bool = False


def _begin_child(file: str) -> None:
    """For processes that multiprocessing forks: they end by os._exit, without the functions of atexit."""
    _Child.before = _counted()
    util = sys.modules.get("multiprocessing.util")
    after_fork = getattr(util, "register_after_fork", None)
    finalize = getattr(util, "Finalize", None)
    if after_fork is None or finalize is None or _Child.tells:
        return
    _Child.tells = True  # processes that this one forks inherit it
    # multiprocessing clears its list of finalizers in a child before it calls the functions of after_fork.
    after_fork(summarise, lambda _: finalize(None, summarise, args=(file,), exitpriority=_LAST))


_LAST = -(10**9)


def _counted() -> dict[str, Any]:
    recorded, replayed = _core.functions_seen()
    counts = {"functions_recorded": recorded, "functions_replayed": replayed, "left_out": _core.left_out()}
    return counts | _core.stats(None)


def _since(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """The differences of all counts."""
    return {
        name: _since(value, before.get(name, {})) if isinstance(value, dict) else value - before.get(name, 0)
        for name, value in now.items()
    }


def summarise(file: str) -> None:
    """Appends one line of JSON about this process to a file, without what was counted before it was forked.

    It must not import anything: imports may evaluate text (namedtuple), and then the interpreter forgets that an
    unhandled KeyboardInterrupt ends it, and with that its exit status.
    """
    counts = _counted() if _Child.before is None else _since(_counted(), _Child.before)
    line = {"process": os.getpid(), "arguments": sys.orig_argv, **counts}
    try:
        with open(file, "ab", buffering=0) as stream:  # noqa: PTH123 - pathlib is slow to load
            stream.write(json.dumps(line).encode() + b"\n")
    except OSError as error:
        print(f"tagalong: TAGALONG_SUMMARY: cannot write {file!r}: {error.strerror}", file=sys.stderr)


def _unmet(settings: Settings) -> list[str]:
    """A sentence for each pattern that fits no module, which is most likely a typing error."""
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
