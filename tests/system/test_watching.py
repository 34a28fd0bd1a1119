"""A trace or profile function that is installed in the middle of a replay gets the next events, as in eager execution.

A loop calls, in one of many forms, a function that installs it in one of the loop's rounds, also for the frames that
already run. From then on the events, the lines and the numbers in the frames are those of eager execution.
"""

from __future__ import annotations

import bdb
import io
import pdb
import sys
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

import tagalong
import tagalong.testing
from tagalong import _core

TICK = """
def tick(i):
    begin(i)
    return i
"""
KIND = """
class Kind:
    def __init__(self, i):
        self.i = i
    def {head}:
        begin(self.i)
        {rest}
"""

# what a round does, and what that needs; `begin` is called in each
WAYS = {
    "a callee": (TICK, "total += tick(i)"),
    "below C": (TICK, "total += max(map(tick, (i,)))"),
    "below C, without a result": (TICK, "max(map(tick, (i,)))"),
    "below C, twice in a line": (
        TICK,
        "total += max(map(tick, (i,))) + len(str(total)) + max(map(tick, (i,)))",
    ),
    "below C, in one of several lines": (
        TICK,
        "total += (\n            max(map(tick, (i,)))\n            + total * 2 % 7\n        )",
    ),
    "below C, into a variable": (
        TICK,
        "x = max(map(tick, (i,)))\n        y = x\n        z = 1\n        total += y + z",
    ),
    "below C, in a callee": (
        TICK + "def g(i):\n    return max(map(tick, (i,)))\n",
        "total += g(i)\n        total -= 1",
    ),
    "below C, and raises": (
        TICK + "def fail(i):\n    tick(i)\n    raise ValueError(i)\n",
        "try:\n            max(map(fail, (i,)))\n        except ValueError:\n            total += i",
    ),
    "below C, and raises through a callee": (
        TICK
        + "def fail(i):\n    tick(i)\n    raise ValueError(i)\ndef g(i):\n    return max(map(fail, (i,)))\n",
        "try:\n            total += g(i)\n        except ValueError:\n            total -= i",
    ),
    "below C, unpacked": (TICK, "x, y = map(tick, (i, 1))\n        total += y"),
    "below C, in a condition": (
        TICK,
        "if max(map(tick, (i,))) > 3:\n            total += 1\n        else:\n            total += 2",
    ),
    "a key": (TICK, "total += sorted([i, 3], key=tick)[0]"),
    "a generator": (
        "def generate(i):\n    yield i\n    begin(i)\n    yield i\n",
        "for x in generate(i):\n            total += x",
    ),
    "a generator for C": (TICK, "total += sum(tick(k) for k in (i, i))"),
    "an exception": (
        "def tick(i):\n    begin(i)\n    raise ValueError\n",
        "try:\n            total += tick(i)\n        except ValueError:\n            total += 1",
    ),
    "a signal": (
        "import signal\n"
        "def handler(number, frame):\n    begin(now[0])\n"
        "signal.signal(signal.SIGUSR1, handler)\n"
        "now = [0]\n"
        "def tick(i):\n    now[0] = i\n    if i == AT:\n        signal.raise_signal(signal.SIGUSR1)\n    return i\n",
        "total += max(map(tick, (i,)))",
    ),
    "a property": (
        KIND.format(head="__get(self)", rest="return self.i") + "    value = property(_Kind__get)\n",
        "total += Kind(i).value",
    ),
    "an operator": (
        KIND.format(head="__radd__(self, other)", rest="return self.i + other"),
        "total += Kind(i)",
    ),
    "a comparison": (
        KIND.format(head="__eq__(self, other)", rest="return False"),
        "total += Kind(i) in [1, 2]",
    ),
    "a format": (
        KIND.format(head="__format__(self, spec)", rest="return 'x'"),
        "total += len(f'{Kind(i)}{i}')",
    ),
    "a hash": (
        KIND.format(head="__hash__(self)", rest="return 1"),
        "names = {Kind(i): i}\n        total += len(names)",
    ),
    "a truth": (
        KIND.format(head="__bool__(self)", rest="return True"),
        "if Kind(i):\n            total += 1",
    ),
    "an item": (
        KIND.format(head="__getitem__(self, key)", rest="return key"),
        "total += Kind(i)[i]",
    ),
    "an attribute": (
        KIND.format(head="__getattr__(self, name)", rest="return 2"),
        "total += Kind(i).value",
    ),
    "a context": (
        KIND.format(head="__exit__(self, *what)", rest="return None")
        + "    def __enter__(self):\n        return self\n",
        "with Kind(i) as kind:\n            total += i",
    ),
    "the end of a variable's object": (
        KIND.format(head="__del__(self)", rest="return None"),
        "kind = Kind(i)\n        total += i",
    ),
    "the end of a temporary object": (
        KIND.format(head="__del__(self)", rest="return None"),
        "Kind(i)\n        total += i",
    ),
    "the end of a deleted object": (
        KIND.format(head="__del__(self)", rest="return None"),
        "kind = Kind(i)\n        total += i\n        del kind\n        total -= 1",
    ),
    "the end of an item": (
        KIND.format(head="__del__(self)", rest="return None"),
        "kept = [Kind(i)]\n        total += i\n        kept.clear()\n        total -= 1",
    ),
    "the end of what a filter refuses": (
        KIND.format(head="__del__(self)", rest="return None")
        + "def is_number(x):\n    return not isinstance(x, Kind)\n"
        + "def generate(i):\n    yield 1\n    yield Kind(i)\n    yield 2\n",
        "for x in filter(is_number, generate(i)):\n            total += x\n        total -= 1",
    ),
    "the end of what is compared": (
        KIND.format(head="__del__(self)", rest="return None"),
        "if Kind(i) is not None:\n            total += 1\n        total -= 1",
    ),
    "the end of a callee's variable": (
        KIND.format(head="__del__(self)", rest="return None")
        + "def g(i):\n    kind = Kind(i)\n    return i\n",
        "total += g(i)\n        total -= 1",
    ),
}

LOOPS = {
    "range": "for i in range(n):",
    "iterator": "for i in Iterator(n):",
    "generator": "for i in items(n):",
    "while": "i = -1\n    while i < n - 1:\n        i += 1",
}
SOURCE = """
class Iterator:
    def __init__(self, n):
        self.n, self.i = n, -1
    def __iter__(self):
        return self
    def __next__(self):
        self.i += 1
        if self.i >= self.n:
            raise StopIteration
        return self.i
def items(n):
    i = 0
    while i < n:
        yield i
        i += 1
{needs}
def f(n):
    total = 0
    {loop}
        {body}
    return total
"""
ROUNDS = 20
SETTINGS = {
    "without loops": {"loops": 0, "grow_after": 0, "native_after": 0},
    "loops": {"loops": 1, "grow_after": 0, "native_after": 0},
    "grown": {"loops": 1, "grow_after": 2, "native_after": 0},
    "native": {"loops": 1, "grow_after": 2, "native_after": 1},
}


def own_frames() -> Iterator[Any]:
    """The program's current frames."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == "<program>":
            yield frame
        frame = frame.f_back


class Watch:
    """Begins to watch in round `at` of the next call, once it is armed."""

    def __init__(self, kind: str, at: int) -> None:
        self.kind, self.at, self.is_armed = kind, at, False
        self.told: list[tuple[Any, ...]] = []

    def note(self, frame: Any, event: str, argument: Any) -> None:
        """Notes only events of the program: those of the events' own context manager would be seen as well."""
        if frame.f_code.co_filename == "<program>":
            numbers = sorted(
                (name, value) for name, value in frame.f_locals.items() if isinstance(value, int)
            )
            what = argument.__name__ if event.startswith("c_") else type(argument).__name__
            self.told.append((event, frame.f_code.co_name, frame.f_lineno, what, numbers))

    def trace(self, frame: Any, event: str, argument: Any) -> Any:
        self.note(frame, event, argument)
        return self.trace

    def begin(self, i: int) -> None:
        """The function that the program calls."""
        if not self.is_armed or i != self.at:
            return
        self.is_armed = False
        if self.kind == "setprofile":
            sys.setprofile(self.note)
            return
        for frame in own_frames():
            frame.f_trace = self.trace
        sys.settrace(self.trace)


def watched_call(
    source: str, kind: str, at: int, settings: dict[str, int] | None, *, traces_all: bool
) -> Any:
    """(result, the watcher's events, events of the engine) of the call in which the watching begins."""
    watch = Watch(kind, at)
    names: dict[str, Any] = {"begin": watch.begin, "AT": at}
    exec(compile(source, "<program>", "exec"), names)
    f = names["f"]
    if settings is not None:
        for name, value in {**settings, "heat": 2}.items():
            _core.set_option(name, value)
        for name in ("f", "items", "tick", "generate", "g") if traces_all else ("f",):
            if name in names:
                tagalong.trace(names[name])
        for _ in range(8):
            f(ROUNDS)
    watch.is_armed = True
    try:
        with tagalong.testing.events() as events:
            result = f(ROUNDS)
    finally:
        sys.settrace(None)
        sys.setprofile(None)
    return result, watch.told, events


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("way", WAYS)
def test_a_new_watcher_gets_the_next_events(way: str, setting: str) -> None:
    needs, body = WAYS[way]
    replayed = 0
    for loop, kind, at in product(LOOPS, ("settrace", "setprofile"), (7, ROUNDS - 1)):
        source = SOURCE.format(needs=needs, loop=LOOPS[loop], body=body)
        *expected, _ = watched_call(source, kind, at, None, traces_all=False)
        assert expected[1]
        for traces_all in (False, True):
            *seen, events = watched_call(source, kind, at, SETTINGS[setting], traces_all=traces_all)
            assert seen == expected, (loop, kind, at, traces_all)
            replayed += "hit" in events
    assert replayed > 0


class Stepper(bdb.Bdb):
    """A debugger that makes single steps."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, int]] = []

    def user_line(self, frame: Any) -> None:
        self.lines.append((frame.f_code.co_name, frame.f_lineno))
        if len(self.lines) < 40:
            self.set_step()
        else:
            self.set_continue()


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_debugger_steps_through_a_loop_that_was_replayed(setting: str) -> None:
    needs, body = WAYS["below C, into a variable"]
    source = SOURCE.format(needs=needs, loop=LOOPS["range"], body=body)

    def steps(settings: dict[str, int] | None) -> tuple[Any, list[tuple[str, int]]]:
        debugger = Stepper()
        is_armed = False

        def begin(i: int) -> None:
            if is_armed and i == 7:
                debugger.set_trace(next(own_frames()))

        names: dict[str, Any] = {"begin": begin}
        exec(compile(source, "<program>", "exec"), names)
        if settings is not None:
            for name, value in {**settings, "heat": 2}.items():
                _core.set_option(name, value)
            tagalong.trace(names["f"])
            for _ in range(8):
                names["f"](ROUNDS)
        is_armed = True
        try:
            return names["f"](ROUNDS), [line for line in debugger.lines if line[0] in ("f", "tick")]
        finally:
            sys.settrace(None)

    expected = steps(None)
    assert len(expected[1]) > 20
    assert steps(SETTINGS[setting]) == expected


def test_pdb_sees_and_changes_the_variables_of_a_loop_that_was_replayed() -> None:
    needs, body = WAYS["below C, into a variable"]
    source = SOURCE.format(needs=needs, loop=LOOPS["range"], body=body)
    commands = "up\nup\np i, total\nreturn\nnext\nnext\np i, total, x\n!total = 1000\ncontinue\n"

    def session(settings: dict[str, int] | None) -> tuple[Any, str]:
        output = io.StringIO()
        is_armed = False

        def begin(i: int) -> None:
            if is_armed and i == 7:
                pdb.Pdb(stdin=io.StringIO(commands), stdout=output, nosigint=True, readrc=False).set_trace(
                    next(own_frames())
                )

        names: dict[str, Any] = {"begin": begin}
        exec(compile(source, "<program>", "exec"), names)
        if settings is not None:
            for name, value in {**settings, "heat": 2}.items():
                _core.set_option(name, value)
            tagalong.trace(names["f"])
            for _ in range(8):
                names["f"](ROUNDS)
        is_armed = True
        try:
            return names["f"](ROUNDS), output.getvalue()
        finally:
            sys.settrace(None)

    expected = session(None)
    assert "(Pdb)" in expected[1]
    for setting in SETTINGS.values():
        assert session(setting) == expected
