"""The C stack: other threads use none of it while a recording waits in C, and replays leave enough for the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from subprocesses import run

# The C code in which a recorded function waits, without the GIL, for about two seconds; then `later` is called.
WAITS = {
    "sleep": "time.sleep(2)",
    "lock": "lock = threading.Lock(); lock.acquire(); later(lock.release); lock.acquire()",
    "event": "event = threading.Event(); later(event.set); event.wait()",
    "queue": "import queue; q = queue.SimpleQueue(); later(lambda: q.put(1)); q.get()",
    "socket": "import socket; a, b = socket.socketpair(); later(lambda: b.send(b'x')); a.recv(1)",
    "select": "import select; select.select([], [], [], 2)",
    "pipe": "import os; r, w = os.pipe(); later(lambda: os.write(w, b'x')); os.read(r, 1)",
    "process": "import subprocess; subprocess.run(['sleep', '2'])",
    "join": "t = threading.Thread(target=time.sleep, args=(2,)); t.start(); t.join()",
    "signal": "import signal; signal.sigtimedwait([signal.SIGUSR2], 2)",
}
WAITING = """
import sys, threading, time
sys.setrecursionlimit(10**6)
def later(function):
    threading.Timer(2, function).start()
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
done = []
def waiter():
    WAIT
    done.append(1)
thread = threading.Thread(target=waiter)
thread.start()
time.sleep(0.3)
assert not done
print(depth(200_000))
thread.join()
print(done)
"""


@pytest.mark.parametrize("kind", WAITS)
@pytest.mark.parametrize("stress", ["0", "1"])
def test_others_recurse_while_a_recording_waits_in_c(kind: str, stress: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(WAITING.replace("WAIT", WAITS[kind]))
    result = run(str(path), variables={"TAGALONG": "1", "TAGALONG_STRESS": stress}, timeout=100)
    assert (result.returncode, result.stdout) == (0, "200000\n[1]\n"), result.stderr[-3000:]


SMALL = """
import collections, functools, heapq, json, math, random, re, sys, threading
def g(n): return 0 if n == 0 else 1 + g(n - 1)
def recursion(): return g(60), g(400)
def loops():
    s = 0.0
    for i in range(3000):
        s += i * 0.5 if i % 3 else -1
    return s
class Point:
    def __init__(self, x): self.x = x
    def __add__(self, other): return Point(self.x + other.x)
    def __lt__(self, other): return self.x < other.x
def objects():
    return functools.reduce(lambda a, b: a + b, [Point(i) for i in range(50)]).x, min(map(Point, range(9))).x
def generators(): return sum(x * x for x in range(200)), list(zip(*[iter(range(30))] * 3))
def exceptions():
    found = 0
    for i in range(200):
        try:
            if i % 3 == 0: raise KeyError(i)
        except KeyError as error:
            found += error.args[0]
    return found
def texts():
    swapped = re.sub(r"(a+)(b*)", lambda m: m[2] + m[1], "aabbab" * 20)
    return swapped, json.loads(json.dumps({"a": [1, 2, {"b": None}]}))
def sorting():
    drawn = random.Random(1).sample(range(1000), 200)
    return sorted(drawn, key=lambda v: (v % 7, -v))[:5], heapq.nsmallest(3, range(100), key=lambda v: -v)
def closures():
    total = 0
    def add(n):
        nonlocal total
        total += n
        return total
    return [add(i) for i in range(40)][-1]
def mappings():
    counts = collections.Counter(i % 7 for i in range(300))
    return sorted(counts.items()), {k: v for k, v in counts.items() if v > 42}
def numbers(): return [math.gcd(i, 36) for i in range(50)], divmod(10**30, 7), f"{math.pi:.5f}"
KINDS = [recursion, loops, objects, generators, exceptions, texts, sorting, closures, mappings, numbers]
def work():
    for kind in KINDS:
        for _ in range(30):
            result = kind()
        print(kind.__name__, result)
for module in (re, json): module  # imported by a thread with room
texts()
threading.stack_size(int(sys.argv[1]) * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@pytest.mark.parametrize("kibibytes", [64, 96, 160, 256])
def test_threads_with_small_stacks(kibibytes: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(SMALL)
    plain = run(str(path), str(kibibytes), variables={"TAGALONG": "0"})
    assert plain.returncode == 0, plain.stderr[-3000:]
    limits = {"TAGALONG_LIMITS": "heat=2,grow_after=2,native_after=2,share=100000,retire_after=1000000"}
    for variables in ({}, {"TAGALONG_STRESS": "1"}, limits):
        traced = run(str(path), str(kibibytes), variables={"TAGALONG": "1"} | variables)
        assert (traced.returncode, traced.stdout) == (0, plain.stdout), traced.stderr[-3000:]


def test_replays_nest_while_there_is_stack() -> None:
    """A thread with a large stack nests replays; enough is left at the end to continue."""
    program = """
import sys, threading, tagalong
sys.setrecursionlimit(10**6)
def f(n):
    s = 0.0
    for i in range(20): s += i * 0.5
    return s if n == 0 else s + f(n - 1)
expected = 95.0 * 50_001
tagalong._core.set_option("retire_after", 0)
tagalong.trace(f)
for _ in range(30): f(3)
before = tagalong.stats(f).hits
assert f(50_000) == expected
print(tagalong.stats(f).limits["stack"] > 0, tagalong.stats(f).hits - before > 100)
"""
    result = run("-c", program)
    assert result.stdout == "True True\n", result.stderr[-3000:]


LITTLE = """
import sys, threading
def double(x): return 2 * x
def work():
    return sum(double(i) for i in range(100))
def in_thread(kibibytes):
    threading.stack_size(kibibytes * 1024)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
for word in sys.argv[1:]: in_thread(int(word))
"""
THREAD = "too little C stack was left"
FIRST = "tagalong: all calls of 3 functions run as written, because too little C stack was left at the first one ("
LATER = " functions ran as written, because too little C stack was left ("


@pytest.mark.parametrize(
    ("sizes", "said"),
    [(["64", "64"], FIRST), (["128", "8192"], FIRST), (["8192", "64"], LATER), (["8192", "8192"], "")],
)
def test_calls_on_small_stacks_are_reported(sizes: list[str], said: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LITTLE)
    variables = {"TAGALONG": "1", "TAGALONG_REPORT": "1", "TAGALONG_LIMITS": "retire_after=1000000"}
    done = run(str(path), *sizes, variables=variables)
    assert done.returncode == 0, done.stderr
    first, second = done.stderr.splitlines()[:2]
    assert first.startswith("tagalong: records ")
    assert said in second and (said or THREAD not in done.stderr), done.stderr
    assert (said == FIRST) == ("\nwork (" not in done.stderr), done.stderr


def test_a_named_function_reports_calls_on_small_stacks(tmp_path: Path) -> None:
    program = (
        LITTLE + "import tagalong\ntagalong.trace(double)\nin_thread(64)\nprint(tagalong.explain(double))"
    )
    done = run("-c", program)
    assert "\n  100 calls ran as written, because too little C stack was left (" in done.stdout, done.stderr
