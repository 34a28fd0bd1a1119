"""Large groups computed by several threads: the same bits for any number of threads, errors as with one, forks."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import subprocesses
from arrays_support import at_once
from chains_support import both, check, compare_program
from tagalong import _core


@pytest.fixture(params=[1, 2, 3, 8])
def threads(request: pytest.FixtureRequest) -> int:
    _core.set_option("fusion", 2)
    _core.set_option("threads", request.param)
    _core.set_option("min_part", 4096)
    count: int = request.param
    return count


def lines(count: int, code: str = "d") -> Callable[[], list[Any]]:
    return lambda: [
        (np.random.default_rng(seed).standard_normal(count) * 100).astype(code) for seed in range(2)
    ]


def rows(count: int, row: int, code: str = "d") -> Callable[[], list[Any]]:
    return lambda: [array.reshape(count, row) for array in lines(count * row, code)()]


def planes(order: str) -> Callable[[], list[Any]]:
    def make() -> list[Any]:
        first, second = (np.random.default_rng(seed).standard_normal((300, 217)) for seed in range(2))
        return [np.asarray(first, order=order), second[::-1]]

    return make


PROGRAMS: dict[str, tuple[str, Callable[[], list[Any]]]] = {
    "chain": ("return np.sqrt((x * y + x - y) ** 2 * 0.5) + y", lines(100_003)),
    "floats of 32 bits": ("return (x * y + x - y) * 0.5, x - y", lines(70_001, "f")),
    "integers": ("return (x * y + x - y) * 3 // 7, x < y", lines(50_001, "q")),
    "sum": ("return ((x - y) * (x + y)).sum(), np.mean(x * y - y)", lines(100_003)),
    "sum of 32 bits": ("return ((x - y) * (x + y)).sum()", lines(131_072, "f")),
    "sum and result": ("z = (x - y) * 0.5\n    s = z.sum()\n    return z, s", lines(65_537)),
    "sum of an array": ("return x.sum(), np.mean(y)", lines(100_003)),
    "sines": ("return np.sin(x * 0.5) + np.cos(y)", lines(50_001)),
    "largest": ("return ((x - y) * (x + y)).max()", lines(100_003)),
    "in place": ("x *= y\n    x += y\n    x -= 1.0\n    return x", lines(100_003)),
    "part": ("x[5:-7:2] = x[6:-6:2] * y[5:-7:2] + 1.0\n    return x", lines(100_003)),
    "broadcast": ("return (x[:300, None] - y[:401]) * 0.5 + x[:300, None]", lines(1000)),
    "orders": ("return (x * y + x - y) * 0.5", planes("F")),
    "orders and a target": (
        "y[:, 1:-1] = (x[:, 2:] + x[:, :-2]) * 0.5 - y[:, 1:-1]\n    return y",
        planes("C"),
    ),
    "places": ("a = (x - y) * (x + y)\n    return np.argmin(a, axis=1), a", planes("C")),
    "nearest": ("return np.argmin((x[:, None] - y[:8]) ** 2, axis=1), x", lines(20_003)),
    "farthest": ("a = abs(x[:, None] - y[:11])\n    return a, a.argmax(-1), np.argmin(a, 1)", lines(10_007)),
    "places of 32 bits": ("return np.argmax(x[:, None] * y[:30], axis=1)", lines(10_007, "f")),
    "places and rows": (
        "a = x[:, None] * y[:30]\n    return np.argmax(a, axis=1), a.sum(axis=1)",
        lines(10_007),
    ),
    "places and all": ("a = x[:, None] * y[:30]\n    return np.argmax(a, axis=1), a.max()", lines(10_007)),
    "softmax of rows": (
        "e = np.exp(x * 0.01 - x.max(axis=1, keepdims=True))\n    return e / e.sum(axis=1, keepdims=True)",
        rows(7001, 13),
    ),
    "softmax of long rows": (
        "e = np.exp(x * 0.01 - x.max(axis=1, keepdims=True))\n    return e / e.sum(axis=1, keepdims=True)",
        rows(30, 3001),
    ),
    "rows": (
        "a = x * y\n    return a.sum(axis=1), np.max(a, 1), a.min(axis=-1), np.mean(a, axis=1, keepdims=True), a",
        rows(20_001, 5),
    ),
    "sums of long rows": ("return (x * y).sum(axis=1)", rows(90, 1024)),
    "sums of longer rows": ("return (x * y).sum(axis=1)", rows(90, 1025)),
    "sums of rows of 32 bits": ("a = x - y\n    return a.sum(axis=1), a", rows(9001, 11, "f")),
    "norms": ("return x / np.sqrt((x * x).sum(axis=1, keepdims=True))", rows(9001, 11)),
    "columns": ("return (x * y).sum(axis=0)", rows(9001, 11)),
    "rows and columns": ("a = x * y\n    return a.sum(axis=1), a.max(axis=0)", rows(9001, 11)),
    "rows and all": ("a = x * y\n    return a.max(axis=1), a.min()", rows(9001, 11)),
    "rows of integers": ("return (x * y).sum(axis=1)", rows(9001, 11, "q")),
    "powers of integers": ("return (x * x + 1) ** (y * 0 + 2) - x", lines(50_001, "q")),
}
SERIAL = {
    "largest",
    "powers of integers",
    "places and all",
    "sums of longer rows",
    "columns",
    "rows and columns",
    "rows and all",
    "rows of integers",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str, threads: int) -> None:
    body, make = PROGRAMS[name]
    eager, traced = both(f"def f(x, y):\n    {body}\n")
    check(eager, traced, make, {"all": "ignore"})
    before = _core.counter("fusion_parts")  # counts replays: operations in recorded calls run in threads, too
    for _ in range(5):
        check(eager, traced, make, {"all": "ignore"})
    assert (_core.counter("fusion_parts") > before) == (threads > 1 and name not in SERIAL)


@pytest.mark.parametrize("row", [2, 3, 8, 13, 33, 500, 1000, 1024])
def test_places_of_rows(row: int, threads: int) -> None:
    """Parts are whole rows, whatever their contents."""
    eager, traced = both(
        "def f(x, y):\n    a = x - y\n    return np.argmax(a, axis=1), np.argmin(a, axis=-1)\n"
    )
    random = np.random.default_rng(row)
    before = _core.counter("fusion_parts")
    for rows in (*[100_000 // row] * 6, 20_000 // row + 1, 8 * 1024 // row + 1, 1, 7):
        x = random.integers(-20, 20, (rows, row)).astype("d")
        x[random.random((rows, row)) < 0.1 / row] = np.nan
        check(eager, traced, lambda x=x: [x, np.zeros_like(x)])
        check(eager, traced, lambda x=x: [np.nan_to_num(x), -np.nan_to_num(x)[::-1]])
    assert (_core.counter("fusion_parts") > before) == (threads > 1)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("place", [0, 40_000, -1])
def test_errors(place: int) -> None:
    """Whichever thread finds a floating point error, it is reported, and nothing is written before."""
    eager, traced = both("def f(x, y):\n    x *= 2.0\n    z = x / y + 1.0\n    x += z\n    return z\n")

    def make() -> list[Any]:
        x, y = lines(100_003)()
        y[place] = 0.0
        return [x, y]

    for errors in ("ignore", "ignore", "ignore", "warn", "raise", "call", "ignore"):
        check(eager, traced, make, {"all": errors})


@pytest.mark.usefixtures("threads")
def test_exceptions() -> None:
    eager, traced = both("def f(x, y):\n    return (x * 2 + 1) ** (y * 0 + 2 - 3 * (x == 77))\n")

    def make(last: int = 0) -> list[Any]:
        x = np.arange(100_000) % 70
        x[-1] += last
        return [x, x.copy()]

    for last in (0, 0, 0, 77, 0, 77):
        check(eager, traced, lambda last=last: make(last))


@pytest.mark.usefixtures("threads")
def test_random_programs() -> None:
    _core.set_option("min_part", 1024)
    random = Random("threads")
    for number in range(30):
        compare_program(random, 8, loops=number % 2 == 1)


@pytest.mark.usefixtures("threads")
def test_several_callers() -> None:
    eager, traced = both("def f(x, y):\n    return np.sqrt((x * y + x - y) ** 2 * 0.5) + y, (x - y).sum()\n")
    inputs = [[array + number for array in lines(50_000 + number)()] for number in range(4)]
    wanted = [[np.asarray(part).tobytes() for part in eager(*pair)] for pair in inputs]
    traced(*inputs[0])
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(15):
            if [np.asarray(part).tobytes() for part in traced(*inputs[number])] != wanted[number]:
                wrong.append(number)

    at_once(4, work)
    assert not wrong


FORKS = """
import os, sys, threading
import numpy as np
import tagalong
from tagalong import _core

_core.set_option("threads", 3)
_core.set_option("min_part", 4096)

@tagalong.trace
def f(x, y):
    return ((x * y + x - y) * 0.5).sum()

x, y = np.linspace(0, 1, 200_000), np.linspace(1, 2, 200_000)
wanted = [f(x, y) for _ in range(5)][0]
assert _core.counter("fusion_parts") > 0
stop = False
def others():
    while not stop:
        assert f(x, y) == wanted
thread = threading.Thread(target=others)
thread.start()
for number in range(20):
    child = os.fork()
    if child == 0:
        before = _core.counter("fusion_parts")
        assert f(x, y) == wanted and f(x, y) == wanted
        assert _core.counter("fusion_parts") == before
        if number % 2:
            os._exit(0)
        stop = True
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
thread.join()
assert f(x, y) == wanted
print("done")
"""


@subprocesses.forks_beside_threads
def test_forks() -> None:
    """A child computes with one thread, even if another thread was computing when it was forked."""
    done = subprocesses.run("-c", FORKS, timeout=120)
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr


STARTS = """
import os, sys
import numpy as np
import tagalong
from tagalong import _core

_core.set_option("threads", 3)
_core.set_option("min_part", 4096)
way, size = sys.argv[1], int(sys.argv[2])

def g(x, y):
    return ((x * y + x - y) * 0.5).sum()

f = tagalong.trace(lambda x, y: ((x * y + x - y) * 0.5).sum())
x, y = np.linspace(0, 1, size), np.linspace(1, 2, size)
results = [f(x, y) for _ in range(2)]  # the second one is the first with a fusion group
if way == "fork":
    child = os.fork()
    if child == 0:
        sys.exit(0 if f(x, y) == results[0] else 1)
    assert os.waitpid(child, 0)[1] == 0
assert results == [g(x, y)] * 2
print(_core.counter("fusion_parts") > 0)
"""


@pytest.mark.parametrize("way", ["end", pytest.param("fork", marks=subprocesses.forks_beside_threads)])
@pytest.mark.parametrize("size", [50_000, 400_000])
def test_while_threads_are_started(way: str, size: int) -> None:
    """No other thread waits for it, except at the end of the process; a fork may come in the middle."""
    for _ in range(5):
        done = subprocesses.run("-c", STARTS, way, str(size))
        assert done.returncode == 0 and done.stdout == "True\n", done.stderr


BEFORE = """
import os, sys, time
import numpy as np
import tagalong
from tagalong import _core

_core.set_option("threads", 3)
_core.set_option("min_part", 4096)
f = tagalong.trace(lambda x, y: ((x * y + x - y) * 0.5).sum())
x, y = np.linspace(0, 1, 400_000), np.linspace(1, 2, 400_000)
wanted = ((x * y + x - y) * 0.5).sum()
for number in range(3):
    child = os.fork()
    if child == 0:
        end = time.monotonic() + 30
        _core.counter("fusion_parts")
        while _core.counter("fusion_parts") < 200 and time.monotonic() < end:
            assert f(x, y) == wanted
        sys.exit(0 if len(os.listdir("/proc/self/task")) > 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
assert len(os.listdir("/proc/self/task")) == 1
print(f(x, y) == wanted)
"""


def test_a_fork_before_there_are_threads() -> None:
    """The child starts its own threads, because there were none to lose. The parent has initialised oneTBB."""
    done = subprocesses.run("-c", BEFORE, timeout=120)
    assert done.returncode == 0 and done.stdout == "True\n", done.stderr


LATER = """
import os
import numpy as np
import tagalong
from tagalong import _core

_core.set_option("threads", 2)
f = tagalong.trace(lambda x, y: (x * y + x - y) * 0.5 + x * 0.25 - y * 0.125)
x, y = np.linspace(0, 1, 150_000), np.linspace(1, 2, 150_000)
others = len(os.listdir("/proc/self/task"))
started = []
for number in range(2000):
    f(x, y)
    started.append(len(os.listdir("/proc/self/task")) > others)
assert _core.counter("fusion_parts") > 0
print(started[2], started[-1])
"""


def test_threads_are_started_for_more_than_a_call() -> None:
    """Starting threads costs more than the first calls can save. If these were interrupted, that does not show."""
    seen = []
    for _ in range(10):
        done = subprocesses.run("-c", LATER, timeout=120)
        assert done.returncode == 0, done.stderr
        seen.append(done.stdout.split())
        if seen[-1] == ["False", "True"]:
            return
    pytest.fail(str(seen))
