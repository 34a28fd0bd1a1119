"""Helpers for tests: the exact sequence of events, not only the result.

A correct answer from a run that was not traced is a failed test:

    with tagalong.testing.assert_events("record", "hit"):
        f(1)
        f(2)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tagalong import _core

_collecting = False


@contextmanager
def events() -> Iterator[list[str]]:
    """Collects what happens to all traced functions while the block runs.

    The list is filled when the block ends: "record", "hit", "miss", "exit", "stop:<reason>", … in order. Blocks do not
    nest: RuntimeError.
    """
    global _collecting
    if _collecting:
        raise RuntimeError("tagalong.testing.events: another block is collecting events")
    collected: list[str] = []
    _core.events_start()
    _collecting = True
    try:
        yield collected
    finally:
        _collecting = False
        collected.extend(_core.events_stop())


@contextmanager
def assert_events(*expected: str) -> Iterator[list[str]]:
    """Asserts that exactly the events `expected` happen in the block, in this order; none at all without arguments.

    Exceptions of the block are propagated.
    """
    with events() as happened:
        yield happened
    if happened != list(expected):
        raise AssertionError(
            f"events differ\n  expected: {', '.join(expected)}\n  happened: {', '.join(happened)}"
        )
