"""Compare mode: calls are replayed in a copy of the process, and differences are reported.

`TAGALONG=compare` needs eager execution and a replay of the same call, from the same state. Copies of the arguments
are not enough, since functions read and write globals and attributes. So the whole process is copied: a forked child
replays the call and sends a description of what can be observed; the parent executes the call eagerly and continues
with the program. The engine does that around the evaluation of frames, of generators and coroutines from one yield to
the next, and calls `_tell` in the child and `_compare` in the parent at the end. Files and sockets are not copied: what
a function writes there directly, not through `print`, is written twice.
"""

from __future__ import annotations

import atexit
import os
import pickle
import select
import signal
import sys
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any

from tagalong import _core
from tagalong._compare import Outcome
from tagalong._values import Tree

_PATIENCE = 60.0  # seconds to wait for the child
Call = tuple[CodeType, str | None, int]  # the code, its module, the number of the call
Ended = tuple[Any, BaseException | None, bool]  # the result, the exception, whether it has yielded
Told = tuple[bool, bool, Tree]  # whether something was replayed, whether it has yielded, the outcome


class _Counts:
    compared = 0
    differing = 0
    untold = 0
    is_copy = False


def start() -> Callable[[CodeType], CodeType]:
    """Prepares the process for comparing; returns the function that changes the code of a module."""
    _core.set_option("retire_after", 0)  # functions whose replays do not pay are compared, too
    _core.start_comparing(_tell, _compare, _fork)
    atexit.register(_summary)
    return _core.wrap_module_code


def _fork() -> int:
    """Forks. The event loop runs in the copy, too: asyncio would forget it there."""
    events = sys.modules.get("asyncio.events")
    loop = None if events is None else events._get_running_loop()
    process = os.fork()
    if process == 0 and events is not None and loop is not None:
        events._set_running_loop(loop)
    return process


def _outcome(inputs: tuple[Any, ...], ended: Ended) -> Outcome:
    return Outcome.seen(ended[0], ended[1], inputs, {})


def _tell(pipe: int, replayed: bool, inputs: tuple[Any, ...], ended: Ended) -> None:
    """In the child, which ends when this returns: sends the outcome of the replay to the parent."""
    _Counts.is_copy = True
    told: Told = (replayed, ended[2], _outcome(inputs, ended).tree)
    with os.fdopen(pipe, "wb") as stream:
        pickle.dump(told, stream)


def _received(pipe: int, process: int) -> tuple[Told | None, bool]:
    """The outcome that the child sends, and whether the child has crashed.

    None: the replay does not end, or has ended the process.
    """
    parts = []
    try:
        while True:
            ready, _, _ = select.select([pipe], [], [], _PATIENCE)
            if not ready:
                os.kill(process, signal.SIGKILL)
                return None, False
            part = os.read(pipe, 1 << 20)
            if not part:
                break
            parts.append(part)
    finally:
        os.close(pipe)
        _, status = os.waitpid(process, 0)
    if not parts or status != 0:
        return None, os.WIFSIGNALED(status)
    told: Told = pickle.loads(b"".join(parts))
    return told, False


def _compare(pipe: int, process: int, call: Call, inputs: tuple[Any, ...], ended: Ended) -> bool:
    """In the parent: writes the differences to the standard error stream.

    Returns whether the child has replayed anything.
    """
    try:
        told, has_crashed = _received(pipe, process)
        eager = _outcome(inputs, ended)
    except Exception:  # no memory or recursion depth left: the program must not see it
        _Counts.untold += 1
        return True
    if told is not None and not told[0]:
        return False  # the guards of no graph held: there was no replay to compare
    # The child has no other threads, and may wait for one for ever. If its replay switches to another greenlet, that
    # one goes on with the program, to the end of the child.
    needs_others = threading.active_count() > 1 or "greenlet" in sys.modules
    if told is None and needs_others and not has_crashed:
        _Counts.untold += 1
        return True
    _Counts.compared += 1
    lines = ["the replay came to no end, or ended the process"]
    if told is not None:
        lines = eager.differences(Outcome(None, None, told[2]), "eager", "replay")
        if ended[2] != told[1]:
            lines.append(f"{'eager' if ended[2] else 'replay'} yields, the other one returns")
    if lines:
        _Counts.differing += 1
        code, module, number = call
        place = f"{module}.{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
        for line in lines:
            print(f"tagalong: compare: {place}, call {number}: {line}", file=sys.stderr)
    return True


def _summary() -> None:
    if not _Counts.is_copy:
        untold = f", {_Counts.untold} could not be compared" if _Counts.untold else ""
        print(
            f"tagalong: compare: {_Counts.compared} replays compared, {_Counts.differing} differ{untold}",
            file=sys.stderr,
        )
