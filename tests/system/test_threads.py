"""Threads, forks, sub-interpreters, the end of the process: what happens to current recordings and replays."""

from __future__ import annotations

from pathlib import Path

import pytest

from subprocesses import forks_beside_threads, run

STRESS = Path(__file__).parent.parent / "stress"


@pytest.mark.timeout(120)
def test_eight_threads_for_a_while() -> None:
    """The same for ten minutes: `scripts/threads`."""
    result = run(str(STRESS / "threads.py"), "--seconds", "20", "--seed", "7", timeout=110)
    assert result.returncode == 0, f"{result.returncode}\n{result.stdout}\n{result.stderr[-4000:]}"
    numbers = [int(word) for word in result.stdout.replace(",", " ").split() if word.isdigit()]
    calls, changes, threads, recorded, hits = numbers[:5]
    assert calls > 1000
    assert changes > 100
    assert threads == 8
    assert recorded > 100
    assert hits > recorded


DAEMONS = """
import sys, threading, time
import tagalong
tagalong._core.set_option("retire_after", 0)

def nap(x):
    time.sleep(0.0001)
    return [x]

class Slow:
    def __del__(self):
        time.sleep(0)

def work(x):
    a, s = [x], Slow()
    b = nap(x)
    for i in range(5):
        time.sleep(0)
    return a, b, sorted([3, 2, 1], key=lambda v: (time.sleep(0), v))

tagalong.trace(work)
def loop():
    i = 0
    while True:
        work(i)
        i += 1
        if i % 20 == 0:
            tagalong.untrace(work)
            tagalong.trace(work)

sys.setswitchinterval(1e-5)
for _ in range(6):
    threading.Thread(target=loop, daemon=True).start()
time.sleep(0.1)
while tagalong.stats().hits < 50:
    time.sleep(0.01)
print("end")
"""


def test_daemon_threads_when_the_process_ends() -> None:
    """They stop wherever they are, in recordings and replays."""
    for _ in range(8):
        result = run("-c", DAEMONS)
        assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


FORK = """
import os, threading, time
import tagalong
import tagalong.testing

def split(x):
    pid = os.fork()
    if pid == 0:
        return "child"
    assert os.waitpid(pid, 0)[1] == 0
    return "parent"

def f(x):
    a = [x]
    who = split(x)
    a.append(x + 1)
    return who, a

def other(x):
    time.sleep(0.001)
    return [x]

tagalong.trace(f)
stop = []
def loop():
    while not stop:
        tagalong.untrace(other)
        tagalong.trace(other)
        other(1)

threads = [threading.Thread(target=loop) for _ in range(3)]
for thread in threads:
    thread.start()
for i in range(6):
    who, a = f(i)
    assert a == [i, i + 1]
    if who == "child":
        with tagalong.testing.events() as events:
            assert f.__name__ == "f" and split.__name__ == "split"
            g = tagalong.trace(lambda x: [x, len([x])])
            assert [g(1), g(2)] == [[1, 1], [2, 1]]
            assert other(5) == [5]
        os._exit(0 if events[:2] == ["record", "hit"] else 1)
stop.append(True)
for thread in threads:
    thread.join()
stats = tagalong.stats(f)
print(stats.records, stats.hits)
"""


@forks_beside_threads
def test_fork_in_the_middle() -> None:
    """A fork in a recording and in replays, while other threads record: the child continues, and can record."""
    result = run("-c", FORK)
    assert (result.returncode, result.stdout, result.stderr) == (0, "1 5\n", "")


FORK_WHILE_OTHERS_RECORD = """
import ctypes, os, sys, threading
import tagalong
import tagalong.testing
tagalong._core.set_option("loops", 0)  # rounds are written out, so recordings last

api = ctypes.pythonapi
api.PyInterpreterState_Get.restype = ctypes.c_void_p
api._PyInterpreterState_GetEvalFrameFunc.restype = ctypes.c_void_p
default = ctypes.cast(api._PyEval_EvalFrameDefault, ctypes.c_void_p).value

interpreter = ctypes.c_void_p(api.PyInterpreterState_Get())

def is_hooked():
    return api._PyInterpreterState_GetEvalFrameFunc(interpreter) != default

def work(x):
    total = 0
    for i in range(60):
        total += abs(i - x)
    return total

def child():
    assert not is_hooked()
    tagalong.untrace(work)
    tagalong.trace(work)

    def again():
        with tagalong.testing.events() as events:
            found.append([work(3), work(3)])
        found.append(events)

    found = []
    again()
    thread = threading.Thread(target=again)  # it may get the place in memory of one that is gone
    thread.start()
    thread.join()
    assert found[0] == found[2] == [expected, expected], found
    # Frames of threads that are gone may hold the replay code, with what they had recorded.
    assert found[1] in (["record", "hit"], ["hit", "hit"]) and found[3] == ["hit", "hit"], found
    assert not is_hooked()

expected = work(3)
stop = []
def loop():
    while not stop:
        work(3)
        tagalong.untrace(work)
        tagalong.trace(work)

tagalong.trace(work)
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=loop, daemon=True) for _ in range(4)]
for thread in threads:
    thread.start()
hooked = rounds = 0
while hooked < 8 and rounds < 2000:
    rounds += 1
    # Not by is_hooked(): the hook is taken away as soon as a frame starts in this thread.
    busy = api._PyInterpreterState_GetEvalFrameFunc(interpreter) != default
    hooked += busy
    if busy or rounds % 50 == 0:
        pid = os.fork()
        if pid == 0:
            stop.append(True)
            code = 1
            try:
                child()
                code = 0
            finally:
                if code:
                    import traceback
                    traceback.print_exc()
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
stop.append(True)
for thread in threads:
    thread.join()
assert hooked, "no thread recorded at any fork"
print("end")
"""


@forks_beside_threads
def test_fork_while_other_threads_record() -> None:
    """In the child no thread records: no hook remains, and what the threads recorded can be recorded again."""
    result = run("-c", FORK_WHILE_OTHERS_RECORD)
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


POOLS = """
import multiprocessing, sys
import tagalong

def work(x):
    total = x
    for i in range(3):
        total += abs(i - x)
    return total

def counted(x):
    return work(x), tagalong.stats().hits

if __name__ == "__main__":
    assert [work(x) for x in range(4)] == [3, 3, 5, 9]
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            found = pool.map(counted, range(8), chunksize=4)
        assert [result for result, _ in found] == [3, 3, 5, 9, 13, 17, 21, 25], found
        if method == "fork":  # the others start anew, as the environment says
            assert found[3][1] > 0 and found[7][1] > 0, found
    print("end")
"""


def test_pools_of_processes(tmp_path: Path) -> None:
    """Processes that a traced program forks or starts work, and forked ones replay."""
    program = tmp_path / "program.py"
    program.write_text(POOLS)
    result = run("-m", "tagalong", "run", str(program))
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


SUB_INTERPRETER = """
import _xxsubinterpreters as interpreters
import tagalong
import tagalong.testing

@tagalong.trace
def f(x):
    return [x, len([x])]

f(1)
other = interpreters.create()
with tagalong.testing.events() as events:
    try:
        interpreters.run_string(other, "import tagalong")
    except interpreters.RunFailedError as error:
        print(error)
    interpreters.run_string(other, "assert [abs(x) for x in (-1, 2)] == [1, 2]")
    f(2)
    interpreters.destroy(other)
    f(3)
print(events)
"""


def test_sub_interpreters_are_refused() -> None:
    result = run("-c", SUB_INTERPRETER)
    text = "tagalong works in the main interpreter; this is a sub-interpreter"
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"<class 'ImportError'>: {text}\n['hit', 'hit']\n"


ENDS_IN_THE_MIDDLE = """
import _thread, threading
import tagalong
import tagalong.testing

def leave(x):
    list(map(lambda v: _thread.exit() if v else None, [x]))
    return [x]

def f(x):
    a = leave(x)
    return a, x

tagalong.trace(f)
with tagalong.testing.events() as events:
    for x in (1, 0, 0, 1, 1, 0):
        thread = threading.Thread(target=f, args=(x,))
        thread.start()
        thread.join()
    assert f(0) == ([0], 0)
assert events[0] == "record" and "hit" in events, events
print("end")
"""


def test_threads_that_end_in_the_middle() -> None:
    """In a recording and in a replay: the thread ends, and the function is as before."""
    result = run("-c", ENDS_IN_THE_MIDDLE)
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


INTERRUPTED = """
import signal, sys
import tagalong

def g(x):
    return [x, x + 1]

def f(n):
    total = 0
    for i in range(n):
        try:
            total += g(i)[1] if i % 2 else -i
        except TimeoutError:
            total += 0
    return total

expected = {n: f(n) for n in range(60)}
tagalong.trace(f)
caught = 0

def handler(number, frame):
    global caught
    if frame.f_code.co_name in ("f", "g"):
        caught += 1
        raise TimeoutError

def call(n):
    try:
        f(n)
    except TimeoutError:
        pass

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
rounds = 0
while caught < 400:
    rounds += 1
    if rounds % 50 == 0:
        tagalong.untrace(f)
        tagalong.trace(f)
    call(rounds % 60)
signal.setitimer(signal.ITIMER_REAL, 0)
assert all(f(n) == expected[n] for n in range(60))
stats = tagalong.stats()
assert stats.hits > 100 and stats.records > 10
print(stats.stops.get("internal", 0))
"""


def test_a_signal_handler_that_raises_anywhere() -> None:
    """In recordings, replays, side exits: no crash, and correct results afterwards."""
    result = run("-c", INTERRUPTED)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0\n", "")
