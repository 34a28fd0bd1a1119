"""Threads that record, replay, change and discard the same functions, every result checked.

`python threads.py --seconds 600 [--threads 8] [--seed 1]`. What a function may return is known in spite of the others:
each changes the world only from one known state to another. Exits with 1 for a wrong result, with a dump of all threads
for a deadlock, and prints what was done.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import FunctionType
from typing import Any

import tagalong
from tagalong import _core

SCALES: tuple[Any, ...] = (2, 3.5, 10**20, True)
LABELS = ("one", "two", "three")
STUCK = 60  # seconds without a single call in some thread

scale: Any = SCALES[0]
helper: Callable[[Any], Any]


def helper_a(x: Any) -> Any:
    """One of the functions to which the name `helper` is bound."""
    return ("a", x)


def helper_b(x: Any) -> Any:
    """The other one."""
    y = [x]
    return ("b", y[0])


helper = helper_a


class Base:
    """A class that threads change."""

    label = LABELS[0]

    def __init__(self, x: Any) -> None:
        self.x = x

    def method(self, y: Any) -> Any:
        return (1, self.x, y)

    @property
    def part(self) -> Any:
        return ("part", self.x)

    def __add__(self, other: Any) -> Any:
        return Base(self.x + other)


class Derived(Base):
    """Its instances change their class to `Other` and back."""

    def which(self) -> str:
        return "derived"


class Other(Base):
    """See `Derived`."""

    def which(self) -> str:
        return "other"


def method_1(self: Base, y: Any) -> Any:
    """The first of the methods that `Base.method` is exchanged for."""
    return (1, self.x, y)


def method_2(self: Base, y: Any) -> Any:
    """The second one."""
    return (2, self.x, y)


# --- functions that are traced


def reads_global(x: int) -> Any:
    """Reads a global twice, with a call in between."""
    a = x * scale
    time.sleep(0)
    return a, x * scale


def calls_global(x: int) -> Any:
    """Calls a function that other threads exchange."""
    return helper(x), helper(-x)


def uses_object(x: int) -> Any:
    """Makes an object and uses its method, property, operator and class attribute."""
    b = Base(x)
    c = b + 1
    return b.method(2), b.part, c.x, b.label


def uses_shared_object(x: int) -> Any:
    """Uses an object whose class other threads assign."""
    return SHARED.which(), SHARED.x, x


def with_code(x: int) -> Any:
    """Its code is replaced."""
    return ("code 0", x + 1)


def other_code(x: int) -> Any:
    """The code that `with_code` gets."""
    y = [x, x]
    return ("code 1", len(y) + x)


def calls_with_code(x: int) -> Any:
    """The callee may have other code at each call."""
    return with_code(x), with_code(x + 1)


def with_defaults(x: int, d: Any = 1, *, k: Any = "k0") -> Any:
    """Its defaults are replaced."""
    return (x, d, k)


def calls_with_defaults(x: int) -> Any:
    """Fills in the defaults of another function."""
    return with_defaults(x), with_defaults(x, 7)


def loops(n: int) -> int:
    """Arithmetic that no other thread influences."""
    total = 0
    for i in range(n):
        total += i * i if i % 3 else -i
    return total


def closes(x: int) -> Any:
    """Has cells of its own."""
    n = x

    def add(y: int) -> int:
        nonlocal n
        n += y
        return n

    add(1)
    time.sleep(0)
    return add(2), n


def catches(x: int) -> Any:
    """Exceptions in a callee."""
    try:
        return 10 // inner_raises(x)
    except (ZeroDivisionError, ValueError) as error:
        return type(error).__name__


def inner_raises(x: int) -> int:
    """Raises for odd numbers."""
    if x % 2:
        raise ValueError(x)
    return x % 4


def numbers(n: int) -> Iterator[int]:
    """A generator."""
    for i in range(n):
        yield i * i


def consumes(n: int) -> Any:
    """Consumes generators."""
    return sum(numbers(n)), [i for i in numbers(n) if i % 2], next(numbers(1))


def sorts(x: int) -> Any:
    """Calls back from C code."""
    return sorted([x, -x, 3, 1], key=lambda v: (v % 3, v)), max(x, 3, key=negative)


def negative(x: int) -> int:
    """A key function."""
    return -x


def recurses(n: int) -> int:
    """Calls itself through C code."""
    return sum(map(recurses, [n - 1])) + n if n > 0 else 0


def makes_class(x: int) -> Any:
    """A class body, `__class__` and super()."""

    class Local(Base):
        def method(self, y: Any) -> Any:
            return super().__init__(y), __class__.__name__, self.x

    return Local(x).method(x + 1)


def with_lock(x: int) -> Any:
    """A counter that only one thread changes at a time."""
    global counter
    with LOCK:
        before = counter
        time.sleep(0)
        counter = before + x
        return counter - before


LOCK = threading.Lock()
counter = 0
SHARED = Derived(5)


def in_scales(x: int, value: Any) -> bool:
    """Whether the value is `x` times one of the scales."""
    return any(type(value) is type(x * s) and value == x * s for s in SCALES)


def is_loop_sum(n: int, result: Any) -> bool:
    """Whether `result` is the sum that `loops` computes."""
    return bool(result == sum(i * i if i % 3 else -i for i in range(n)))


CHECKS: dict[FunctionType, Callable[[int, Any], bool]] = {
    reads_global: lambda x, r: in_scales(x, r[0]) and in_scales(x, r[1]),  # type: ignore[dict-item]
    calls_global: lambda x, r: r[0] in (("a", x), ("b", x)) and r[1] in (("a", -x), ("b", -x)),
    uses_object: lambda x, r: (
        r[0] in ((1, x, 2), (2, x, 2))
        and r[1] in (("part", x), ("other part", x))
        and r[2] == x + 1
        and r[3] in LABELS
    ),
    uses_shared_object: lambda x, r: r[0] in ("derived", "other") and r[1:] == (5, x),
    calls_with_code: lambda x, r: all(
        got in (("code 0", v + 1), ("code 1", 2 + v)) for v, got in zip((x, x + 1), r, strict=True)
    ),
    calls_with_defaults: lambda x, r: (
        r[0][0] == x and r[0][1] in (1, 2.5, "two") and r[0][2] in ("k0", "k1") and r[1][:2] == (x, 7)
    ),
    loops: is_loop_sum,
    closes: lambda x, r: r == (x + 3, x + 3),
    catches: lambda x, r: (
        r == ("ValueError" if x % 2 else "ZeroDivisionError" if x % 4 == 0 else 10 // (x % 4))
    ),
    consumes: lambda n, r: r == (sum(i * i for i in range(n)), [i * i for i in range(n) if i * i % 2], 0),
    sorts: lambda x, r: r == (sorted([x, -x, 3, 1], key=lambda v: (v % 3, v)), min(x, 3)),
    recurses: lambda n, r: r == n * (n + 1) // 2,
    makes_class: lambda x, r: r == (None, "Local", x + 1),
    with_lock: lambda x, r: r == x,
}
TRACED = [*CHECKS, with_code, with_defaults, helper_a, helper_b, inner_raises, Base.__init__, numbers]
CODES = (with_code.__code__, other_code.__code__)
PARTS = (Base.__dict__["part"], property(lambda self: ("other part", self.x)))


# --- changes that threads make


def change_global(random: Random) -> None:
    """Assigns another type to the global."""
    global scale, helper
    scale = random.choice(SCALES)
    helper = random.choice((helper_a, helper_b))


def change_class(random: Random) -> None:
    """Assigns another method, property or class attribute."""
    what = random.randrange(4)
    if what == 0:
        Base.method = random.choice((method_1, method_2))  # type: ignore[method-assign]
    elif what == 1:
        Base.label = random.choice(LABELS)
    elif what == 2:
        Base.part = random.choice(PARTS)  # type: ignore[method-assign]
    else:
        SHARED.__class__ = random.choice((Derived, Other))  # type: ignore[assignment]


def change_function(random: Random) -> None:
    """Assigns other code or defaults."""
    what = random.randrange(3)
    if what == 0:
        with_code.__code__ = random.choice(CODES)
    elif what == 1:
        with_defaults.__defaults__ = (random.choice((1, 2.5, "two")),)
    else:
        with_defaults.__kwdefaults__ = {"k": random.choice(("k0", "k1"))}


def discard(random: Random) -> None:
    """Discards the recordings of one function, perhaps while it runs."""
    function = random.choice(TRACED)
    tagalong.untrace(function)
    if random.random() < 0.9:
        tagalong.trace(function, retire=True)


def record(random: Random) -> None:
    """Makes a recording and replays it at once."""
    function = random.choice([loops, closes, catches, sorts])
    x = random.randrange(1, 20)
    recording = tagalong.record(function, x)
    check = CHECKS[function]  # type: ignore[index]
    if not check(x, recording.result):
        raise AssertionError(f"recording {function.__name__}({x}) gave {recording.result!r}")
    try:
        again = recording.replay(x)
    except tagalong.GuardFailed:
        return
    if not check(x, again):
        raise AssertionError(f"replaying {function.__name__}({x}) gave {again!r}")


def watch(random: Random) -> None:
    """Makes one call under a trace or profile function of this thread."""
    install = random.choice((sys.settrace, sys.setprofile))
    install(lambda *event: None)
    try:
        loops(5)
    finally:
        install(None)


def collect(random: Random) -> None:
    """Runs the garbage collector."""
    gc.collect(random.randrange(2))


CHANGES = (change_global, change_class, change_function, discard, discard, record, watch, collect)


class Worker(threading.Thread):
    """Calls and changes until it is told to stop; `wrong` describes a wrong result."""

    def __init__(self, seed: int, stop: threading.Event) -> None:
        super().__init__(name=f"worker {seed}")
        self.random = Random(seed)
        self.stop = stop
        self.calls = 0
        self.changes = 0
        self.wrong: str | None = None

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                self.step()
        except BaseException as error:
            import traceback

            self.wrong = f"{error!r}\n{traceback.format_exc()}"
            self.stop.set()

    def step(self) -> None:
        """A few calls of one function, then perhaps a change."""
        function = self.random.choice(list(CHECKS))
        x = self.random.randrange(1, 20)
        for _ in range(self.random.randrange(1, 6)):
            result = function(x)
            self.calls += 1
            if not CHECKS[function](x, result):
                raise AssertionError(f"{function.__name__}({x}) gave {result!r}")
        if self.random.random() < 0.3:
            self.random.choice(CHANGES)(self.random)
            self.changes += 1


@contextmanager
def switching_often() -> Iterator[None]:
    """Threads take turns every few microseconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    _core.set_option("retire_after", 200)  # rarely: tracing the function again takes it back
    for function in TRACED:
        tagalong.trace(function, retire=True)
    stop = threading.Event()
    workers = [Worker(arguments.seed * 1000 + i, stop) for i in range(arguments.threads)]
    faulthandler.enable()
    end = time.monotonic() + arguments.seconds
    with switching_often():
        for worker in workers:
            worker.start()
        while time.monotonic() < end and not stop.is_set():
            faulthandler.dump_traceback_later(STUCK, exit=True)
            before = [worker.calls for worker in workers]
            stop.wait(min(20.0, max(0.1, end - time.monotonic())))
            while not stop.is_set() and any(w.calls == b for w, b in zip(workers, before, strict=True)):
                time.sleep(0.5)  # leaves time for the dump if the deadlock is permanent
        stop.set()
        faulthandler.dump_traceback_later(STUCK, exit=True)
        for worker in workers:
            worker.join()
        faulthandler.cancel_dump_traceback_later()
    wrong = [f"{worker.name}: {worker.wrong}" for worker in workers if worker.wrong]
    stats = tagalong.stats()
    print(
        f"{sum(w.calls for w in workers)} calls, {sum(w.changes for w in workers)} changes by {len(workers)} threads; "
        f"{stats.records} recorded, {stats.hits} hits, {stats.misses} misses, {stats.exits} exits, stops {stats.stops}"
    )
    print(*wrong, sep="\n")
    return 1 if wrong or "internal" in stats.stops else 0


if __name__ == "__main__":
    sys.exit(main())
