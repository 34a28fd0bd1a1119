"""Where possible it is measured whether replaying pays, with alternating calls and rounds, unnoticed."""

from __future__ import annotations

import re
import sys
import threading
import time
import traceback
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import _core


@pytest.fixture(autouse=True)
def as_in_programs() -> None:
    for name, value in {
        "retire_after": 32,
        "native_after": 256,
        "measuring": 1,
        "loops": 1,
        "heat": 16,
    }.items():
        _core.set_option(name, value)


def traced(source: str, name: str = "f", **names: Any) -> Any:
    namespace = {"np": np, "sys": sys, **names}
    exec(source, namespace)
    return tagalong.trace(namespace[name], retire=True)


def until(function: Any, arguments: tuple[Any, ...], text: str, seconds: float = 20.0) -> None:
    """Calls the function until `explain` says so: the number of trials depends on the load of the machine."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(200):
            function(*arguments)
        if text in tagalong.explain(function):
            return
    raise AssertionError(tagalong.explain(function))


def replays(function: Any, *arguments: Any, calls: int = 400) -> bool:
    """Whether most of these calls are hits."""
    before = tagalong.stats(function).hits
    for _ in range(calls):
        function(*arguments)
    return tagalong.stats(function).hits - before > calls / 2


def test_small_arrays_that_pay_are_kept() -> None:
    function = traced("def f(x, y):\n    return (x * y).sum()\n")
    x, y = np.arange(10.0), np.arange(10.0)
    until(function, (x, y), "so it is replayed")
    assert "arrays below 16 elements: a call takes" in tagalong.explain(function)
    assert replays(function, x, y) and tagalong.stats(function).retired == 0
    assert function(x, y) == (x * y).sum()


def test_sizes_are_measured_on_their_own() -> None:
    function = traced("def f(x, y):\n    return (x * y).sum()\n")
    for count in (10, 1000):
        x = np.arange(float(count))
        until(function, (x, x), f"arrays below {1 << count.bit_length()} elements: a call takes")
    assert tagalong.explain(function).count("measured, arrays below") == 2


def test_functions_that_do_not_pay_get_their_original_code_back() -> None:
    function = traced("def f(x):\n    return x.bit_length()\n")
    until(function, (5,), "retired: a replay took about")
    assert "measured: a call takes" in tagalong.explain(function)
    assert function(7) == 3
    assert _core.installed_code(function) is function.__code__


def test_long_rounds_are_measured_at_once() -> None:
    """In few calls, each with few rounds."""
    rounds = 150
    function = traced(
        "def f(n, x):\n    total = 0\n    for _ in range(n):\n        total += np.sort(x)[0]\n    return total\n"
    )
    x = np.random.default_rng(0).random(100_000)
    for _ in range(5):
        assert function(rounds, x) > 0
    assert "a round takes" in tagalong.explain(function)


def test_a_loop_that_does_not_pay_runs_eagerly() -> None:
    source = (
        "def f(n, t):\n    for _ in range(n):\n"
        + "        a, b, c, d, e, g, h, i = t\n" * 400
        + "    return a\n"
    )
    function = traced(source)
    t = tuple(range(8))
    end = time.monotonic() + 20
    while "so it runs as written" not in tagalong.explain(function) and time.monotonic() < end:
        assert function(1000, t) == 0
    assert "so it runs as written" in tagalong.explain(function)


def test_a_loop_that_pays_is_replayed_while_it_is_measured() -> None:
    source = (
        "def f(n):\n    total = 0\n    for k in range(n):\n        total += k * k % 7\n    return total\n"
    )
    plain: dict[str, Any] = {}
    exec(source, plain)
    function = traced(source)
    expected = plain["f"](300_000)
    end = time.monotonic() + 20
    while "so it is replayed" not in tagalong.explain(function):
        assert function(300_000) == expected and time.monotonic() < end, tagalong.explain(function)
    assert "a round takes" in tagalong.explain(function)


def test_short_calls_at_first_and_long_ones_later() -> None:
    source = "def f(n):\n    total = 0\n    for k in range(n):\n        total += k\n    return total\n"
    function = traced(source)
    for _ in range(2_000):
        assert function(2) == 1
    end = time.monotonic() + 20
    while not replays(function, 100_000, calls=20):
        assert time.monotonic() < end, tagalong.explain(function)
    assert function(100_000) == 4_999_950_000


def test_time_in_which_the_processor_is_elsewhere_does_not_count() -> None:
    """Such calls would use up the time that all trials may cost, and nothing would be measured for long."""
    source = "def f(x, wait):\n    wait()\n    return ((x * 2.0 + 1.0) * x).sum()\n"
    plain: dict[str, Any] = {}
    exec(source, {"np": np}, plain)
    function = traced(source)
    x = np.arange(10.0)
    calls = 0

    def wait() -> None:
        nonlocal calls
        calls += 1
        if calls % 5 == 0:
            time.sleep(0.01)

    end = time.monotonic() + 20
    pattern = re.compile(r"a call takes (\d+) ns replayed and (\d+) ns")
    while (found := pattern.search(tagalong.explain(function))) is None:
        assert time.monotonic() < end, tagalong.explain(function)
        for _ in range(20):
            assert function(x, wait) == plain["f"](x, int)
    assert max(map(int, found.groups())) < 1_000_000
    assert tagalong.stats(function).hits > 0


def test_the_variables_of_a_call_that_is_measured() -> None:
    """A mark takes the place of the frame's mapping of variables."""
    source = """
def f(a):
    b = 1
    if a % 3 == 0:
        return locals(), dict(sys._getframe().f_locals)
    return look(), None

def look():
    frame = sys._getframe(1)
    assert frame.f_locals is frame.f_locals or sys.version_info >= (3, 13)
    return dict(frame.f_locals)
"""
    function = traced(source)
    for number in range(2_000):
        one, two = function(number)
        for mapping in (one, two) if two is not None else (one,):
            assert type(mapping) is dict and mapping == {"a": number, "b": 1}
    assert [each for each in dict.__subclasses__() if each.__name__ == "dict"] == []


def test_exceptions_of_calls_that_are_measured() -> None:
    function = traced(
        "def f(x):\n    y = x + 1\n    if y % 5 == 0:\n        raise ValueError(y)\n    return y\n"
    )
    for number in range(3_000):
        try:
            assert function(number) == number + 1
        except ValueError as error:
            assert (number + 1) % 5 == 0 and error.args == (number + 1,)
            assert [frame.name for frame in traceback.extract_tb(error.__traceback__)][-1] == "f"
            assert error.__traceback__.tb_next.tb_frame.f_locals == {"x": number, "y": number + 1}


def test_calls_of_itself() -> None:
    function = traced("def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\n")
    assert [function(16) for _ in range(20)] == [987] * 20


def test_several_threads() -> None:
    function = traced(
        "def f(x, k):\n    total = 0\n    for n in range(k):\n        total += (x + n).sum()\n    return total\n"
    )
    x = np.arange(20.0)
    expected = function(x, 9)
    wrong: list[float] = []

    def work() -> None:
        for _ in range(300):
            found = function(x, 9)
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_frame_that_is_held_longer_than_its_call() -> None:
    function = traced("def f(x):\n    y = x * 2\n    return sys._getframe(), y\n")
    held = [function(number) for number in range(500)]
    assert [(frame.f_locals["y"], y) for frame, y in held] == [(2 * n, 2 * n) for n in range(500)]


def test_parts_of_arrays_that_die_in_loops() -> None:
    """When an object dies with a view of an array, it may look at the frame, which is as the program left it."""
    seen: list[tuple[int, int]] = []

    class Memory(bytearray):
        def __del__(self) -> None:
            frame = sys._getframe(1)
            if frame.f_code.co_name == "f":  # the last one dies where the result does
                seen.append((frame.f_locals["k"], frame.f_lineno))

    def f(n: int) -> Any:
        part = None
        for k in range(n):
            part = np.frombuffer(Memory(80), float)[1:4]
            part = part
        return part

    plain = types.FunctionType(f.__code__.replace(), f.__globals__, "f", None, f.__closure__)
    plain(40)
    expected = list(seen)
    _core.set_option("measuring", 0)
    _core.set_option("retire_after", 0)
    function = tagalong.trace(f)
    for _ in range(4):
        seen.clear()
        function(40)
        assert seen == expected
    assert tagalong.stats(function).hits > 0


def test_a_part_of_an_array_with_a_callback() -> None:
    seen: list[int | None] = []

    def f(v: Any, n: int) -> Any:
        part = watch = None
        for k in range(n):
            part = v[k : k + 3]
            watch = weakref.ref(part, lambda _: seen.append(sys._getframe(1).f_locals.get("k")))
        return watch

    plain = types.FunctionType(f.__code__.replace(), f.__globals__, "f", None, f.__closure__)
    plain(np.arange(90.0), 40)
    expected = list(seen)
    _core.set_option("measuring", 0)
    _core.set_option("retire_after", 0)
    function = tagalong.trace(f)
    for _ in range(4):
        seen.clear()
        function(np.arange(90.0), 40)
        assert seen == expected


CHAINS: dict[str, Callable[..., Any]] = {
    "logic": lambda x, y, z, a: (x & y) | ~z,
    "numpy's names": lambda x, y, z, a: np.logical_not(np.logical_or(x, y)) ^ z,
    "masks": lambda x, y, z, a: ((a > 0.2) & (a < 0.7)) | (x & z),
    "chosen": lambda x, y, z, a: np.where(x & y, a * 2.0, a + 1.0),
    "counted": lambda x, y, z, a: ((x | y) & z).sum(),
    "two results": lambda x, y, z, a: ((x & y) ^ z, (a < 0.5) & (x | y)),
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_logic_of_bools_in_blocks_of_any_size(name: str, dtype: type) -> None:
    _core.set_option("retire_after", 0)
    eager = CHAINS[name]
    function = tagalong.trace(types.FunctionType(eager.__code__.replace(), eager.__globals__))
    rng = np.random.default_rng(1)
    for count in (1, 7, 63, 64, 1023, 1024, 1025, 8191, 8192, 8193, 8255, 8257, 20_001):
        for step in (1, 3):
            x, y, z = (rng.random(count * step) < 0.5 for _ in range(3))
            operands = [each[::step] for each in (x, y, z, rng.random(count * step).astype(dtype))]
            for _ in range(2):
                found, expected = function(*operands), eager(*operands)
                for one, two in zip(
                    *([each] if not isinstance(each, tuple) else each for each in (found, expected))
                ):
                    assert one.dtype == two.dtype and np.array_equal(one, two), (count, step)
    assert tagalong.stats(function).hits > 20
