"""The end of the process while threads are recording."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from subprocesses import run

PROGRAM = """
import random, sys, threading, time
import tagalong

started = set()

def work():
    import os as mod
    while True:
        with open(mod.__file__, "rb") as source:
            some = source.read(200)
            with open(mod.devnull, "wb") as sink:
                sink.write(some)
                time.sleep(random.random() / 1995)
        started.add(threading.current_thread())

for _ in range(40):
    threading.Thread(target=work, daemon=True).start()
while len(started) < 40:
    time.sleep(0.001)
assert tagalong.stats().records > 0
print("end")
sys.exit(3)
"""


def test_daemon_threads_end_with_the_process_while_they_record(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    for _ in range(3):
        result = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-m", "tagalong", "run", "--stress", "1", str(program)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "TAGALONG_LIMITS": "unroll=10000,nodes=100000"},
        )
        assert (result.returncode, result.stdout) == (3, "end\n"), result.stderr


# The thread wakes up while the main thread, which ends the interpreter, sleeps in a finaliser. CPython ends the thread
# in the middle of its work, with references that it would give back while its stack is unwound.
WAKES_TOO_LATE = """
import sys, threading, time
import tagalong
import tagalong.testing

class Loud:
    def __del__(self, thread=threading.get_ident, main=threading.get_ident(), write=sys.stdout.write):
        if thread() != main:
            write("a finaliser ran in the wrong thread")

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

def nap(seconds, sleep=time.sleep):
    sleep(seconds)

asleep = threading.Event()
{functions}

threads = [threading.Thread(target=ends, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
asleep.wait()
time.sleep(0.02)
slow = Slow()
sys.stdout.write("end\\n")
sys.stdout.flush()
"""
TOO_LATE = {
    "in a replay": """
def f(x, seconds):
    a, b = [Loud(), x], (x, Loud())
    if seconds:
        asleep.set()
    c = nap(seconds)
    return a, b, c

tagalong.trace(f)
with tagalong.testing.events() as events:
    keep = [f(1, 0), f(1, 0)]
assert events == ["record", "hit"]
def ends():
    f(1, 0.1)
""",
    "in a recording": """
def ends():
    @tagalong.trace
    def f(x):
        a, b = [Loud(), x], (x, Loud())
        asleep.set()
        c = list(map(nap, [0.1]))
        return a, b, c
    f(1)
""",
    "in a finaliser that a replay runs": """
class Sleepy:
    def __init__(self, seconds):
        self.seconds = seconds
    def __del__(self):
        if self.seconds:
            asleep.set()
            nap(self.seconds)

def f(seconds):
    a = [Loud()]
    Sleepy(seconds)
    b = [Sleepy(seconds)]
    b = 1
    return a

tagalong.trace(f)
keep = [f(0), f(0), f(0)]
def ends():
    f(0.1)
""",
    "in tagalong.record": """
def f(seconds):
    a = [Loud()]
    asleep.set()
    return a, nap(seconds)

def ends():
    tagalong.record(f, 0.1)
""",
    "in the replay of a recording": """
def f(seconds):
    a = [Loud()]
    asleep.set()
    return a, nap(seconds)

recording = tagalong.record(f, 0.0)
asleep.clear()
def ends():
    recording.replay(0.1)
""",
    "in a method of a generator": """
def numbers(seconds):
    loud = Loud()
    for i in range(3):
        if seconds:
            asleep.set()
        yield nap(seconds)

tagalong.trace(numbers)
def f(seconds):
    a = [Loud()]
    return [a, [x for x in numbers(seconds)]]

tagalong.trace(f)
keep = [f(0), f(0)]
def ends():
    f(0.1)
""",
}


@pytest.mark.parametrize("place", TOO_LATE)
def test_daemon_threads_that_wake_up_too_late(place: str) -> None:
    program = WAKES_TOO_LATE.format(functions=TOO_LATE[place])
    result = run("-c", program)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    assert result.stdout == "end\n"
