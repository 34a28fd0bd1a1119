"""The compare mode: calls are replayed in a copy of the process, and what differs is told.

`TAGALONG=compare` needs eager execution and a replay of the same call, from the same state. Copies of the arguments
would not do for functions that read and write globals or their object's attributes, so the whole process is copied: a
call is replayed in a forked child, which sends home a description of what can be observed, and executed eagerly in the
parent, which goes on with the program. The engine does that around the evaluation of frames, of generators and
coroutines from one yield to the next; the two functions here are called at the end of each. Files and sockets are not
copied: what a function writes there itself, not through `print`, is written twice.
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

_PATIENCE = 60.0  # seconds to wait for a child that has nothing to say yet
Call = tuple[CodeType, str | None, int]  # the code, its module, which call it is
Ended = tuple[Any, BaseException | None, bool]  # the result, the exception, whether it has yielded
Told = tuple[bool, bool, Tree]  # whether something was replayed, whether it has yielded, the outcome


class _Counts:
    compared = 0
    differing = 0
    untold = 0
    is_copy = False


def start() -> Callable[[CodeType], CodeType]:
    """Prepares the process for comparing; returns what is to be done to the code of a module."""
    _core.set_option("retire_after", 0)  # what does not pay is compared, too
    _core.start_comparing(_tell, _compare, _fork)
    atexit.register(_summary)
    return _core.wrap_module_code


def _fork() -> int:
    """A copy of the process, in which the same event loop is running: asyncio forgets it in a child."""
    events = sys.modules.get("asyncio.events")
    loop = None if events is None else events._get_running_loop()
    process = os.fork()
    if process == 0 and events is not None and loop is not None:
        events._set_running_loop(loop)
    return process


def _outcome(inputs: tuple[Any, ...], ended: Ended) -> Outcome:
    return Outcome.seen(ended[0], ended[1], inputs, {})


def _tell(pipe: int, replayed: bool, inputs: tuple[Any, ...], ended: Ended) -> None:
    """In the copy, which ends when this returns: sends home what has come of the replay."""
    _Counts.is_copy = True
    told: Told = (replayed, ended[2], _outcome(inputs, ended).tree)
    with os.fdopen(pipe, "wb") as stream:
        pickle.dump(told, stream)


def _received(pipe: int, process: int) -> Told | None:
    """What the copy tells. None: it has come to no end, or has ended the process."""
    parts = []
    try:
        while True:
            ready, _, _ = select.select([pipe], [], [], _PATIENCE)
            if not ready:
                os.kill(process, signal.SIGKILL)
                return None
            part = os.read(pipe, 1 << 20)
            if not part:
                break
            parts.append(part)
    finally:
        os.close(pipe)
        _, status = os.waitpid(process, 0)
    if not parts or status != 0:
        return None
    told: Told = pickle.loads(b"".join(parts))
    return told


def _compare(pipe: int, process: int, call: Call, inputs: tuple[Any, ...], ended: Ended) -> bool:
    """In the process that goes on with the program: writes what differs to the standard error stream.

    Returns whether the copy has replayed anything.
    """
    try:
        told = _received(pipe, process)
        eager = _outcome(inputs, ended)
    except Exception:  # no memory, no more recursion: nothing that the program should see
        _Counts.untold += 1
        return True
    if told is not None and not told[0]:
        return False  # the guards of no graph held: there was no replay to compare
    if told is None and threading.active_count() > 1:
        _Counts.untold += 1  # the copy has no other threads, so it may wait for one for ever
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
