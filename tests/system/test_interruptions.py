"""Interruptions from outside while tagalong works: exceptions of signal handlers, and running out of memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from subprocesses import run

COUNTED = """
import signal, threading, time
import tagalong
from tagalong import _core
_core.set_option("share", 1000)

calls = [0]
def handler(number, frame):
    calls[0] += 1
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
LIMIT = time.monotonic() + 40
def count(function, *args, rounds):
    caught = 0
    for turn in range(rounds):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0004 + turn * 0.00001)
            function(*args)
        except KeyboardInterrupt:
            caught += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    return caught
"""

LOOP = """
import signal, threading, time
calls = [0]
caught = [0]
def handler(number, frame):
    calls[0] += 1
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
class Manager:
    count = 0
    def __enter__(self): Manager.count += 1
    def __exit__(self, *exception): Manager.count -= 1; return False
lock = threading.Lock()
def body(turn):
    with lock:
        t = 0
        while True:
            for i in range(50): t += i
            with Manager(): t -= 1
            if t > 10 ** 8 and time.monotonic() > limit: raise SystemExit("an exception was lost")
limit = time.monotonic() + 8
for turn in range(150):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 + turn * 0.00001)
        body(turn)
    except KeyboardInterrupt:
        caught[0] += 1
assert caught == calls and calls[0] > 100, (caught, calls)
"""

LONG_NUMBERS = (
    COUNTED
    + """
def products(a, b):
    x = 1
    while True:
        for i in range(40):
            x = a * b
            x = x // b
        if x != a: raise SystemExit("wrong")
        if time.monotonic() > LIMIT: raise SystemExit("an exception was lost")
a, b = 3 ** 6000, 7 ** 4000
tagalong.trace(products)
assert count(products, a, b, rounds=150) == calls[0] > 0, calls
calls[0] = 0
def quotients(a, b):
    x = 0.0
    while True:
        for i in range(40):
            x += (a + i) / b
        if time.monotonic() > LIMIT: raise SystemExit("an exception was lost")
tagalong.trace(quotients)
assert count(quotients, 2 ** 62 - 50, 2 ** 61 - 1, rounds=150) == calls[0] > 0, calls
assert tagalong.stats().hits > 40
"""
)


def test_the_end_of_a_recording_runs_no_handler(tmp_path: Path) -> None:
    program, counts = tmp_path / "program.py", tmp_path / "counts"
    program.write_text(LOOP)
    for _ in range(3):  # each recording ends at another moment
        result = run(str(program), variables={"TAGALONG": "1", "TAGALONG_SUMMARY": str(counts)})
        assert result.returncode == 0, result.stderr[-3000:]
    assert all(json.loads(line)["hits"] > 100 for line in counts.read_text().splitlines())


def test_handlers_that_arithmetic_runs() -> None:
    result = run("-c", LONG_NUMBERS, variables={"TAGALONG": "1"})
    assert result.returncode == 0, result.stderr[-3000:]


NO_MEMORY = """
import _testcapi
import tagalong
from tagalong import _core
_core.set_option("share", 1000)

async def leaf(i): return i * 500.5
async def middle(n):
    total = 0
    for i in range(n): total += await leaf(i)
    return total
def run(coroutine):
    try: coroutine.send(None)
    except StopIteration as end: return end.value
def loop(n):
    numbers = []
    for i in range(n): numbers.append(i * 1.5)
    return numbers
def recursive(n): return [n] if n == 0 else recursive(n - 1) + [n]
wanted = run(middle(6)), loop(9), recursive(7)
for text in ("run(middle(6))", "loop(9)", "recursive(7)"):
    code = compile(text, "<call>", "eval")
    right = eval(code)
    for number in range(1, 120):
        for stop in (number + 1, 0):
            for function in (leaf, middle, loop, recursive):
                if number % 10 == 0:
                    function.__code__ = function.__code__.replace()
                    tagalong.trace(function)
            _testcapi.set_nomemory(number, stop)
            try: result = eval(code)
            except MemoryError: result = right
            finally: _testcapi.remove_mem_hooks()
            assert result == right, (text, number, stop, result)
assert tagalong.stats().hits > 500
"""


NO_MEMORY_IN_TRIALS = """
import sys
import _testcapi
class Part:
    def __init__(self, x): self.x = x
    def __add__(self, other): return Part(self.x + other.x)
    def scaled(self): return self.x * 2.5
def loop(n):
    total, numbers = 0.0, []
    for i in range(n): total += i * 1.5; numbers.append(total)
    return numbers
def objects(n):
    a = Part(0)
    for i in range(n): a = a + Part(i * 1000)
    return a.scaled()
def generator(n):
    for i in range(n): yield i * 1000.5
def generators(n): return sum(generator(n)), list(generator(3)), [x for x in generator(3)]
def exceptions(n):
    r = 0
    for i in range(n):
        try:
            if i % 2: raise KeyError(i)
            r += 1000
        except KeyError as error: r += error.args[0]
        finally: r += 1
    return r
def closures(n):
    made = []
    for i in range(n):
        def part(y=i): return y + n * 1000
        made.append(part)
    return [part() for part in made]
ended = 0
calls = [(loop, (30,)), (objects, (15,)), (generators, (10,)), (exceptions, (12,)), (closures, (6,))]
if sys.version_info >= (3, 12): calls.pop()  # there CPython itself dies where it has no memory for a function
for f, a in calls:
    wanted = f(*a)
    for warm in (0, 3, 40):
        for _ in range(warm): f(*a)
        for mode in (1, 0):
            for n in range(1, 90):
                _testcapi.set_nomemory(n, n + 1 if mode else 0)
                try: r = f(*a)
                except MemoryError: r = None
                except BaseException as error: r = error
                _testcapi.remove_mem_hooks()
                if r is None: ended += 1
                elif r != wanted: raise SystemExit(repr((f, warm, mode, n, r)))
assert ended > 100
"""


def test_no_memory_for_measuring(tmp_path: Path) -> None:
    pytest.importorskip("_testcapi")
    program, counts = tmp_path / "program.py", tmp_path / "counts"
    program.write_text(NO_MEMORY_IN_TRIALS)
    result = run(str(program), variables={"TAGALONG": "1", "TAGALONG_SUMMARY": str(counts)})
    assert result.returncode == 0, result.stderr[-3000:]
    assert json.loads(counts.read_text())["hits"] > 100


def test_no_memory_for_the_end_of_a_recording() -> None:
    pytest.importorskip("_testcapi")
    result = run("-W", "ignore", "-c", NO_MEMORY, variables={"TAGALONG": "1"})
    assert result.returncode == 0, result.stderr[-3000:]
