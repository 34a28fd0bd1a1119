"""The whole differential suite: why recordings end before the function does.

Only limits are allowed, and `watched` where a program asks for it.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from subprocesses import differential

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "differential" / "programs").glob("*.py"))

LIMITS = {"unroll_limit", "node_limit"}
# Programs that install trace or profile functions, or start tracemalloc, in the middle of a call.
WATCHED = {
    "delegation_seen",
    "frame_stack",
    "frame_watching",
    "found",
    "generators_consumed",
    "raising_corners",
    "linked_loops",
}
# An exception from outside (a signal handler, another thread, the recursion limit) while recording.
OUTSIDE = {"interrupted"}
# Operations of large arrays raise behind later loads: test_arrays_deferred.py.
LATE = {"late_exception"}
# Names whose look-up calls the `__eq__` of a key that is not an exact str: test_foreign_keys.py.
KEYS = {"asks_keys"}
# Instructions, and frames that programs write into, which CPython 3.11 does not have.
LATER_VERSIONS = {"own_super", "type_parameters", "stop_iteration", "thrown", "written_local"}


def stops(topic: str) -> Counter[str]:
    """How often recordings of the topic's programs ended for each reason."""
    events = differential(topic)
    assert events["record"] > 0
    assert events["hit"] > 0
    return Counter({name.removeprefix("stop:"): n for name, n in events.items() if name.startswith("stop:")})


@pytest.mark.parametrize("topic", [path.stem for path in PROGRAMS])
def test_only_limits_end_a_recording(topic: str) -> None:
    allowed = set(LIMITS)
    if topic in WATCHED:
        allowed.add("watched")
    if sys.version_info >= (3, 12):
        allowed |= LATER_VERSIONS  # where bytecode and frames can do more
    assert set(stops(topic)) <= allowed


def test_every_reason_is_known() -> None:
    """A reason that no test expects any more can be removed."""
    table = (HERE.parent.parent / "recorder" / "base" / "stops.inc").read_text()
    names = {
        line.split("(")[1].split(",")[0] for line in table.splitlines() if line.startswith("TAGALONG_STOP")
    }
    assert names == LIMITS | OUTSIDE | LATE | KEYS | LATER_VERSIONS | {"watched", "internal"}
