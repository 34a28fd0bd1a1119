"""python runner.py PROGRAM: lets allocations of a call fail, each in turn; writes what is wrong, or "right" and counts.

First of the function as written: what the interpreter itself makes of it is allowed, and some allocations it forgets to
report (SystemError). Then of a call that is replayed, and of one that is recorded.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import failing
import programs

import tagalong
from tagalong import _core

WARM_UP = 8
C_LIBRARY, PYTHON = 1, 2  # whose allocations fail: one of the C library, or all of Python from one on
Program = Callable[[Any], object]


class Wrong(Exception):
    pass


def all_of_them() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


def fewer_and_fewer() -> Iterator[int]:
    number = 1
    while True:
        yield number
        number += 1 + number // 16


def failures(
    name: str,
    what: str,
    function: Callable[[], Program],
    numbers: Callable[[], Iterator[int]],
    allowed: set[type],
) -> int:
    """How often the call failed. `function` gives the function to call."""
    written = programs.PROGRAMS[name]
    expected_state = programs.State()
    expected = written(expected_state)
    arm, disarm = failing.arm, failing.disarm
    count = 0
    # Without memory for an int the interpreter loops forever when it enters a handler. Recording code has one.
    for level in (C_LIBRARY,) if what == "recorded" else (C_LIBRARY, PYTHON):
        for number in numbers():
            call = function()
            state = programs.State()
            result: Any = None
            error: BaseException | None = None
            try:
                arm(number, level)
                result = call(state)
                disarm()
            except BaseException as raised:
                disarm()
                error = raised
            counted = failing.counted()
            where = f"{name}, {what}, allocation {number} of kind {level}"
            rest = iter(expected_state.log)
            if not all(each in rest for each in state.log):
                raise Wrong(f"{where}: {state.log} instead of {expected_state.log}")
            if error is not None:
                count += 1
                if what == "as written":
                    allowed.add(type(error))
                elif type(error) not in allowed:
                    raise Wrong(f"{where}: {error!r}") from error
            elif name == "memory_error_handled" and result is True:
                pass
            elif result != expected or state.log != expected_state.log:
                raise Wrong(f"{where}: {result} instead of {expected}, {state.log}")
            if call(programs.State()) != expected:
                raise Wrong(f"{where}: the next call goes wrong")
            if counted < number:
                break
    return count


def main(name: str) -> int:
    if name not in programs.PROGRAMS:
        import arrays  # noqa: F401
    written = programs.PROGRAMS[name]
    _core.set_option("retire_after", 0)
    _core.set_option("native_after", 1)
    _core.set_option("share", 100_000_000)
    allowed: set[type] = {MemoryError}
    counts = [failures(name, "as written", lambda: written, all_of_them, allowed)]

    replayed = tagalong.trace(copy_of(written))
    for _ in range(WARM_UP):
        replayed(programs.State())
    if tagalong.stats(replayed).hits == 0:
        raise Wrong(f"{name} is not replayed: {tagalong.stats(replayed)}")
    counts.append(failures(name, "replayed", lambda: replayed, all_of_them, allowed))

    counts.append(
        failures(name, "recorded", lambda: tagalong.trace(copy_of(written)), fewer_and_fewer, allowed)
    )
    print("right", *counts)
    return 0


def copy_of(function: Any) -> Any:
    """A copy with its own code object, which has not been recorded."""
    code = function.__code__.replace(co_name=function.__name__)
    return types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )


try:
    sys.exit(main(sys.argv[1]))
except Wrong as wrong:
    sys.exit(str(wrong))
