"""Loops that iterate in an executor react to signals, other threads, exceptions sent to them, and watchers."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

import pytest

import tagalong
from subprocesses import run
from tagalong import _core

HEAD = """
import ctypes, signal, sys, threading, time
import tagalong
import tagalong.testing
from tagalong import _core
_core.set_option("loops", 1)
_core.set_option("retire_after", 0)

def f(n):
    total = 0
    half = 0.5
    for i in range(n):
        if i & 1:
            total += i & 7
        else:
            total = total + (i & 7)
        half = half * 0.5 + i
    return total, half

def g(x, n):
    return x + f(n)[0]

eager = {n: f(n) for n in (40, 1000, 3_000_000)}
tagalong.trace(f)
tagalong.trace(g)
with tagalong.testing.events() as events:
    for _ in range(6):
        assert f(40) == eager[40], f(40)
        assert g(1, 40) == 1 + eager[40][0]
assert "exit" in events, events
assert ("grow" in events) == (_core.limits()["grow_after"] < 100), events
"""

INTERRUPT = """
class Stop(Exception):
    pass

seen = []
def handler(number, frame):
    seen.append((frame.f_code.co_name, frame.f_lineno, frame.f_locals["i"], frame.f_locals["total"]))
    raise Stop

signal.signal(signal.SIGALRM, handler)
totals = {}
for call in (lambda: f(10**12), lambda: g(1, 10**12)):
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    start = time.monotonic()
    try:
        call()
    except Stop as error:
        entry = error.__traceback__
        while entry.tb_frame.f_code is not f.__code__:
            entry = entry.tb_next
        names = entry.tb_frame.f_locals
        assert time.monotonic() - start < 5
    else:
        raise AssertionError("nothing has been stopped")
    name, line, i, total = seen.pop()
    assert name == "f" and i > 1000, (name, i)
    assert total == sum(k & 7 for k in range(i % 8 + 1)) + i // 8 * 28 == names["total"], (total, i, names)
    assert line - f.__code__.co_firstlineno in (3, 4, 5, 7, 8), line
assert f(1000) == eager[1000]
print("fine")
"""

CONTROL_C = """
import os
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where it is ignored, as in what a shell runs beside it
for call in (lambda: f(10**12), lambda: g(1, 10**12)):
    child = os.fork()
    if child == 0:
        time.sleep(0.1)
        os.kill(os.getppid(), signal.SIGINT)
        os._exit(0)
    start = time.monotonic()
    try:
        call()
    except KeyboardInterrupt as error:
        assert time.monotonic() - start < 5
        entry = error.__traceback__
        while entry.tb_frame.f_code is not f.__code__:
            entry = entry.tb_next
        assert entry.tb_frame.f_locals["i"] > 1000
    else:
        raise AssertionError("nothing has been stopped")
    os.waitpid(child, 0)
assert f(1000) == eager[1000]
print("fine")
"""

THREADS = """
sys.setswitchinterval(0.001)
ticks, results, ready = [], [], threading.Event()
def tick():
    ready.wait()
    while len(results) < 3:
        ticks.append(time.monotonic())
        time.sleep(0.0005)
def work():
    ready.wait()
    for _ in range(3):
        results.append(f(3_000_000) == eager[3_000_000])
threads = [threading.Thread(target=tick), threading.Thread(target=work), threading.Thread(target=work)]
for thread in threads:
    thread.start()
ready.set()
for thread in threads:
    thread.join()
assert results == [True] * 6, results
assert len(ticks) > 3, len(ticks)

class Sent(Exception):
    pass
outcome = []
def endless():
    try:
        f(10**12)
    except Sent as error:
        outcome.append(error.__traceback__.tb_next.tb_frame.f_code.co_name)
thread = threading.Thread(target=endless)
thread.start()
time.sleep(0.05)
ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Sent))
thread.join(20)
assert outcome == ["f"], outcome
print("fine")
"""

WATCHED = """
lines = []
def watch(frame, event, argument):
    if frame.f_code is f.__code__:
        lines.append(event)
        if len(lines) > 50:
            sys.settrace(None)
            frame.f_trace = None
            return None
    return watch
def handler(number, frame):
    frame.f_trace = watch
    sys.settrace(watch)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.01)
assert f(3_000_000) == eager[3_000_000]
assert len(lines) > 50, lines

# A look at the frames of all threads finds the numbers of one moment.
states = []
def look():
    while len(states) < 20:
        for frame in sys._current_frames().values():
            if frame.f_code is f.__code__:
                names = frame.f_locals
                states.append(("i" in names, names.get("total")))
        time.sleep(0.001)
thread = threading.Thread(target=look)
thread.start()
while thread.is_alive():
    assert f(3_000_000) == eager[3_000_000]
thread.join()
assert any(total for _, total in states), states
print("fine")
"""


NEVER = 1_000_000_000


@pytest.mark.parametrize("native_after", [0, 1], ids=["interpreted", "native"])
@pytest.mark.parametrize("grow_after", [NEVER, 2], ids=["linked", "tree"])
@pytest.mark.parametrize(
    "program",
    [INTERRUPT, CONTROL_C, THREADS, WATCHED],
    ids=["interrupt", "control_c", "threads", "watched"],
)
def test_reactions(program: str, grow_after: int, native_after: int) -> None:
    options = f"""
from tagalong import _core
_core.set_option("grow_after", {grow_after})
_core.set_option("native_after", {native_after})
"""
    result = run("-c", options + HEAD + program)
    assert result.stdout == "fine\n", f"{result.returncode}\n{result.stdout}\n{result.stderr[-4000:]}"


@pytest.mark.parametrize("native_after", [0, 1], ids=["interpreted", "native"])
def test_an_index_may_look_at_its_caller(native_after: int) -> None:
    """The recorded index, an int, cannot do so."""
    _core.set_option("native_after", native_after)
    seen: list[Any] = []

    class Index:
        def __index__(self) -> int:
            frame = sys._getframe(1)
            names = frame.f_locals
            seen.append((frame.f_lineno - frame.f_code.co_firstlineno, names["i"], names["t"]))
            return 0

    def f(items: list[float], index: Any, n: int) -> float:
        t = 0.5
        i = 0
        for i in range(n):
            t = t * 1.5 + i
            t += items.pop(index)
            items.append(i)
        return t

    traced = tagalong.trace(f)
    eager = FunctionType(f.__code__.replace(), globals(), "eager")
    for index in (0, 0, 0, 0, Index(), Index(), -1, Index()):
        for n in (5, 40):
            expected = eager([1, 2, 3], index, n), seen[:]
            seen.clear()
            assert (traced([1, 2, 3], index, n), seen) == expected
            seen.clear()
