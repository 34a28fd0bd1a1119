"""Fusion groups of array operations against eager NumPy: every bit, and everything else that a caller can see.

Random chains of operations are recorded and replayed on operands of many dtypes, layouts and sizes around that of a
block; some of the replays must really have run as fusion groups.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, at_once, described, misaligned, sample, ufuncs
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

PLAIN_CODES = "?bBhHiIlLqQfd"
FUSED_CODES = PLAIN_CODES + "FD"
BLOCK = 1024
LEAST_BLOCK = 64
SIZES = (0, 1, 2, 10, 63, 65, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3000, 40_000)


@pytest.fixture(autouse=True)
def fusion() -> None:
    """The option's default."""
    FusionRuns.begin()


@pytest.mark.parametrize("ufunc", ufuncs(), ids=lambda f: f.__name__)
def test_splitting_changes_no_bit(ufunc: np.ufunc) -> None:
    """The assumption of fusion: NumPy's loops on plain numbers give the same bits for each part of an array."""
    size = 2300
    for types in ufunc.types:
        inputs, output = types.split("->")
        if any(code not in FUSED_CODES for code in inputs + output):
            continue
        for kind in ("ordinary", "extreme", "bits"):
            for block, shift in ((64, 1), (256, 0), (BLOCK, 3)):
                operands = [sample(code, (size + shift,), kind)[shift:] for code in inputs]
                for scalar in [None, *range(len(inputs))][: 1 if len(inputs) == 1 else None]:
                    check_splitting(ufunc, operands, scalar, block, shift)


def check_splitting(
    ufunc: np.ufunc, operands: list[np.ndarray], scalar: int | None, block: int, shift: int
) -> None:
    """One call for all elements, and one for each block into memory of its own; `scalar`: an operand of stride 0."""
    use = [o[:1].reshape(()) if i == scalar else o for i, o in enumerate(operands)]
    with np.errstate(all="ignore"):
        try:
            whole = ufunc(*use)
        except (ValueError, TypeError):  # negative integer powers; no loop
            return
        memory = np.empty(block + 8, whole.dtype)
        parts = []
        start = 0
        while start < len(whole):
            stop = min(start + block, len(whole))
            if 0 < len(whole) - stop < LEAST_BLOCK < block:
                stop -= LEAST_BLOCK
            part = slice(start, stop)
            into = memory[shift : shift + part.stop - part.start]
            ufunc(*[o if i == scalar else o[part] for i, o in enumerate(use)], out=into)
            parts.append(into.tobytes())
            start = stop
    assert b"".join(parts) == whole.tobytes(), (ufunc.__name__, whole.dtype, scalar, block)


@pytest.mark.parametrize("ufunc", ufuncs(), ids=lambda f: f.__name__)
def test_splitting_and_nans(ufunc: np.ufunc) -> None:
    """Which of two NaNs a result is depends on the position in a vector; blocks must keep the position."""
    for types in ufunc.types:
        inputs, output = types.split("->")
        if any(code not in FUSED_CODES for code in inputs + output) or not set(inputs) & set("fdFD"):
            continue
        for tail in (1, 3, 7, 8, 15, 16, 17, 63, 64, 65):
            operands = [nans(code, BLOCK + tail) for code in inputs]
            for scalar in [None, *range(len(inputs))][: 1 if len(inputs) == 1 else None]:
                check_splitting(ufunc, operands, scalar, BLOCK, tail % 2)


def nans(code: str, size: int) -> np.ndarray:
    """NaNs of both signs with payloads, and numbers between them."""
    values = sample(code, (size,), "ordinary")
    if code in "FD":
        values.view(code.lower())[:] = nans(code.lower(), 2 * size)
    elif code in "fd":
        bits = values.view("u4" if code == "f" else "u8")
        quiet, sign = (0x7FC00000, 31) if code == "f" else (0x7FF8000000000000, 63)
        random = np.random.default_rng(size)
        signs = random.integers(0, 2, size, dtype="u8") << np.uint64(sign)
        payloads = random.integers(1, 1000, size, dtype="u8") | np.uint64(quiet) | signs
        bits[::3] = payloads.astype(bits.dtype)[::3]
        bits[1::3] = payloads.astype(bits.dtype)[1::3]
    return values


class Chain:
    """A random function of 2 to 12 operations on a, b, c (arrays) and s (a number)."""

    FLOAT = ("+", "-", "*", "/", "//", "%", "+", "-", "*")
    INTEGER = ("+", "-", "*", "//", "%", "&", "|", "^")
    FLOAT_CALLS = ("np.sqrt", "np.exp", "np.log", "np.sin", "np.floor", "np.abs", "np.square", "np.tanh")
    INTEGER_CALLS = ("np.square", "np.abs", "np.sign", "np.invert")
    PAIRS = ("np.maximum", "np.minimum", "np.add", "np.multiply", "np.subtract")

    def __init__(self, random: Random, code: str) -> None:
        self.random = random
        self.is_float = code in "fd"
        self.numbers = ["a", "b", "c"]
        self.masks: list[str] = []
        self.fresh: list[str] = []
        self.lines: list[str] = []
        for _ in range(random.randint(2, 7)):
            self.statement()
        names = [n for n in (*self.numbers, *self.masks) if n not in "abc"] or ["a"]
        kept = random.sample(names, min(len(names), random.randint(1, 3)))
        body = "\n".join(f"    {line}" for line in self.lines)
        self.source = f"def f(a, b, c, s):\n{body}\n    return {', '.join(kept)}\n"

    def operand(self) -> str:
        if self.random.random() < 0.15:
            return self.random.choice(("2", "3", "s", "1.5" if self.is_float else "5"))
        return self.random.choice(self.numbers)

    def number(self, depth: int) -> str:
        kind = self.random.random()
        left = self.random.choice(self.numbers) if depth == 0 else self.number(depth - 1)
        if kind < 0.2:
            return f"{self.random.choice(self.FLOAT_CALLS if self.is_float else self.INTEGER_CALLS)}({left})"
        if kind < 0.3:
            return f"{self.random.choice(self.PAIRS)}({left}, {self.operand()})"
        if kind < 0.35:
            return f"(-{left})"
        if kind < 0.4:
            return f"({left} ** {self.random.choice(('2', '3', '0.5') if self.is_float else ('2', '3'))})"
        pair = [left, self.operand()]
        self.random.shuffle(pair)
        return f"({pair[0]} {self.random.choice(self.FLOAT if self.is_float else self.INTEGER)} {pair[1]})"

    def mask(self) -> str:
        if self.masks and self.random.random() < 0.5:
            other = self.random.choice(self.masks)
            return f"({self.random.choice(self.masks)} {self.random.choice('&|^')} {other})"
        symbol = self.random.choice(("<", "<=", "==", "!=", ">", ">="))
        pair = [self.random.choice(self.numbers), self.operand()]
        self.random.shuffle(pair)
        return f"({pair[0]} {symbol} {pair[1]})"

    def statement(self) -> None:
        kind = self.random.random()
        name = f"v{len(self.lines)}"
        if kind < 0.2:
            self.lines.append(f"{name} = {self.mask()}")
            self.masks.append(name)
        elif kind < 0.35 and self.fresh:
            symbol = self.random.choice("+-*")
            self.lines.append(f"{self.random.choice(self.fresh)} {symbol}= {self.operand()}")
        elif kind < 0.4 and self.fresh:
            self.lines.append(f"{name} = {self.random.choice(self.fresh)}")
            self.numbers.append(name)
            self.fresh.append(name)
        else:
            self.lines.append(f"{name} = {self.number(self.random.randint(0, 2))}")
            self.numbers.append(name)
            self.fresh.append(name)


class Subclass(np.ndarray):
    """A subclass of ndarray."""


LAYOUTS = ("plain", "plain", "plain", "strided", "reversed", "C", "F", "read-only", "view", "row")
ODD_LAYOUTS = (
    "unaligned",
    "swapped",
    "0-d",
    "subclass",
    "broadcast",
    "other shape",
    "both orders",
    "overlap",
)


def operands(random: Random, code: str, layout: str, size: int, kind: str) -> list[Any]:
    """Three arrays and a number."""
    arrays = [sample(code, (size,), kind) for _ in range(3)]
    if layout in ("C", "F") and size % 2 == 0:
        arrays = [np.array(a.reshape(2, -1), order=layout) for a in arrays]
    elif layout == "strided":
        arrays[1] = sample(code, (2 * size,), kind)[::2]
    elif layout == "reversed":
        arrays[0] = arrays[0][::-1]
    elif layout == "read-only":
        arrays[2].flags.writeable = False
    elif layout == "view":
        arrays[0] = sample(code, (size + 3,), kind)[3:]
    elif layout == "row":
        arrays = [a.reshape(1, -1) for a in arrays]
    elif layout == "unaligned":
        arrays[0] = misaligned(arrays[0])
    elif layout == "swapped":
        arrays[1] = arrays[1].astype(arrays[1].dtype.newbyteorder())
    elif layout == "0-d":
        arrays[1] = sample(code, (1,), kind).reshape(())
    elif layout == "subclass":
        arrays[2] = arrays[2].view(Subclass)
    elif layout == "broadcast":
        arrays = [arrays[0].reshape(1, -1), sample(code, (2, 1), kind), arrays[2]]
    elif layout == "other shape":
        arrays[2] = sample(code, (size + 1,), kind)
    elif layout == "both orders":
        arrays = [a.reshape(-1, 1) for a in arrays]
    elif layout == "overlap":
        arrays[0] = arrays[1]
    number = random.choice((2, 3, 1.5 if code in "fd" else 7, arrays[0].dtype.type(2)))
    return [*arrays, number]


@pytest.mark.parametrize("code", "dflBi?")
def test_random_chains(code: str) -> None:
    """Chains of one dtype; the operands of later calls may be of others."""
    random = Random(f"regions {code}")
    before = groups_run()
    replays = 0
    for _ in range(60):
        chain = Chain(random, code)
        eager, traced = both(chain.source)
        for call in range(10):
            odd = call > 3 and random.random() < 0.4
            layout = random.choice(ODD_LAYOUTS if odd else LAYOUTS)
            size = random.choice(SIZES) if call > 2 else 10
            kind = random.choice(("ordinary", "extreme", "bits")) if call > 2 else "ordinary"
            this = random.choice("dflBi?") if call > 3 and random.random() < 0.3 else code
            errstate = random.choice(ERRSTATES) if call > 2 else {"all": "ignore"}
            made = operands(random, this, layout, size, kind)

            def copies(made: list[Any] = made) -> list[Any]:
                return made

            try:
                check(eager, traced, copies, errstate)
            except AssertionError as error:
                raise AssertionError(
                    f"{chain.source}call {call}: {this} {layout} {size} {kind} {errstate}"
                ) from error
            replays += 1
    assert groups_run() - before > replays // 8, (code, groups_run() - before, replays)


def test_a_fusion_group_runs() -> None:
    """Six operations are one fusion group, in each call after the first."""
    eager, traced = both("def f(x, y):\n    return np.sqrt((x * y + x - y) * 0.5) + y\n")
    for size in SIZES:
        check(eager, traced, lambda size=size: [np.linspace(1, 2, size), np.linspace(2, 3, size)])
    before = (_core.counter("groups_planned"), _core.counter("groups_run"), _core.counter("groups_refused"))
    for size in SIZES:
        check(eager, traced, lambda size=size: [np.linspace(1, 2, size), np.linspace(2, 3, size)])
    after = (_core.counter("groups_planned"), _core.counter("groups_run"), _core.counter("groups_refused"))
    assert after[1] - before[1] == len(SIZES)
    assert after[0] == before[0]


@pytest.mark.parametrize("errstate", ERRSTATES, ids=str)
@pytest.mark.parametrize("size", [4, 3000])
def test_floating_point_errors(errstate: dict[str, Any], size: int) -> None:
    """Which operation reports errors, in which order and line; error callbacks see the frame at that moment."""
    source = "def f(x, y):\n    a = x + y\n    b = x / y\n    c = b * 1e300 * b\n    a = np.log(x)\n    return a - c\n"
    eager, traced = both(source)
    good = [np.full(size, 2.0), np.full(size, 3.0)]
    for _ in range(3):
        check(eager, traced, lambda: good, errstate)
    for place in (0, size - 1):
        bad = [np.full(size, 2.0), np.full(size, 3.0)]
        bad[0][place] = -1.0
        bad[1][place] = 0.0
        for _ in range(3):
            check(eager, traced, lambda bad=bad: bad, errstate)
            check(eager, traced, lambda: good, errstate)


def test_ignored_errors_are_no_reason_to_start_again() -> None:
    eager, traced = both("def f(x):\n    return 1.0 / x + x * 2.0\n")
    make = lambda: [np.arange(5.0)]  # noqa: E731
    for _ in range(3):
        check(eager, traced, make, {"all": "ignore"})
    before = (_core.counter("groups_planned"), _core.counter("groups_run"), _core.counter("groups_refused"))
    check(eager, traced, make, {"all": "ignore"})
    after = (_core.counter("groups_planned"), _core.counter("groups_run"), _core.counter("groups_refused"))
    assert (after[1] - before[1], after[2] - before[2]) == (1, 0)


def test_names_may_be_bound_to_something_else() -> None:
    """Between two calls, also to something that is not a ufunc."""
    source = "def f(x):\n    a = x * 2.0\n    b = g(a) + K\n    return m.sqrt(b) - 1.0\n"
    module = type(sys)("m")
    module.sqrt = np.sqrt  # type: ignore[attr-defined]
    eager, traced = both(source, g=np.abs, K=2.0, m=module)
    space = traced.__globals__
    make = lambda: [np.arange(1.0, 6.0)]  # noqa: E731
    for name, value in (
        ("K", 2.0),
        ("K", 3.0),
        ("g", np.exp),
        ("K", np.ones(5)),
        ("g", np.mean),
        ("g", np.sin),
    ):
        space[name] = value
        for _ in range(3):
            check(eager, traced, make)
    module.sqrt = np.cbrt  # type: ignore[attr-defined]
    check(eager, traced, make)
    space["unrelated"] = 1
    before = groups_run()
    for _ in range(40):  # after many changes a group is not retried for a while
        check(eager, traced, make)
    assert groups_run() > before


def test_the_second_call_already_runs_a_fusion_group() -> None:
    """The plan looks its names up itself: in the globals, in the builtins, in a module."""
    source = "def f(x):\n    a = np.abs(x) * K + float_\n    b = m.np.sqrt(a)\n    return np.where(b > 1.0, b, max_)\n"
    module, builtins = type(sys)("m"), dict(vars(__import__("builtins")), max_=4.0)
    module.np = np  # type: ignore[attr-defined]
    eager, traced = both(source, np=np, m=module, K=0.5, float_=1.5, __builtins__=builtins)
    make = lambda: [np.linspace(-3.0, 3.0, 500)]  # noqa: E731
    with tagalong.testing.assert_events("record"):
        check(eager, traced, make)
    before = groups_run()
    with tagalong.testing.assert_events("hit"):
        check(eager, traced, make)
    assert groups_run() == before + 1
    assert "not been looked up" not in tagalong.explain(traced)
    builtins["max_"], module.np = 7.0, np.ma  # type: ignore[attr-defined]
    for _ in range(3):
        check(eager, traced, make)


def test_payloads_of_nans_in_large_temporaries() -> None:
    """Where eager execution computes into its right operand, the operands are exchanged, which decides the payload."""
    eager, traced = both("def f(x, y):\n    return x + y * 1.0, (x * 1.0) + (y + 0.0), y * (x - 0.0)\n")
    for size in (10, 32_767, 32_768, 40_000):
        bits = np.arange(size, dtype=np.uint64)
        made = [(0x7FF8000000000000 + bits).view("d"), (0xFFF8000000000000 + 7 * bits).view("d")]
        for _ in range(3):
            check(eager, traced, lambda made=made: made)


def test_results_that_are_one_object() -> None:
    eager, traced = both(
        "def f(x, y):\n    a = x * y\n    b = a\n    a += y\n    c = a - b\n    a *= 2\n    return a, b, c\n"
    )
    for size in (5, 5, 5, 3000):
        check(eager, traced, lambda size=size: [np.arange(1.0, size + 1), np.full(size, 0.5)])


def test_operands_that_die_inside() -> None:
    """A finaliser runs at the same point as in eager execution, and sees the same locals."""
    log: list[Any] = []

    class Loud(np.ndarray):
        def __del__(self) -> None:
            frame = sys._getframe(1)
            log.append((frame.f_lineno, sorted(frame.f_locals)))

    source = "def f(x, y):\n    a = x * y\n    x = a + 1.0\n    b = x - y\n    y = None\n    return a * b\n"
    eager, traced = both(source)
    logs = []
    for function in (eager, traced):
        log.clear()
        for kind in (np.ndarray, np.ndarray, np.ndarray, Loud):
            function(np.arange(4.0).view(kind), np.arange(4.0).view(kind))
        logs.append(list(log))
    assert logs[0] == logs[1]


def test_two_threads() -> None:
    """Both run one graph, with the GIL released in fusion groups."""
    eager, traced = both("def f(x, y):\n    return np.sqrt((x * y + x - y) * 0.5) + y\n")
    inputs = [(np.linspace(1, 2, 50_000 + i), np.linspace(2, 3, 50_000 + i)) for i in range(2)]
    wanted = [eager(*pair).tobytes() for pair in inputs]
    for pair in inputs:
        traced(*pair)
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(30):
            if traced(*inputs[number]).tobytes() != wanted[number]:
                wrong.append(number)

    at_once(2, work)
    assert not wrong


def test_numbers_at_the_address_of_others() -> None:
    """A number to which a name was bound dies; the next one gets its address, and has another value."""
    eager, traced = both("def f(x):\n    a = x * 1.5\n    return a * K + K\n", K=2.0)
    before = groups_run()
    for number in range(40):
        traced.__globals__["K"] = float(str(number + 0.25))
        for _ in range(30):
            check(eager, traced, lambda: [np.ones(4)])
    assert groups_run() > before


def test_names_are_rebound_while_a_fusion_group_computes() -> None:
    """The operands that it reads are not freed meanwhile."""
    eager, traced = both("def f(x):\n    return x * K + x - K\n", K=np.ones(100_000))
    x = np.zeros(100_000)
    for _ in range(5):
        check(eager, traced, lambda: [x])
    done = threading.Event()

    def bind() -> None:
        while not done.is_set():
            traced.__globals__["K"] = np.full(100_000, 2.0)

    thread = threading.Thread(target=bind)
    thread.start()
    try:
        for _ in range(100):
            assert set(traced(x).tolist()) <= {-1.0, -2.0}
    finally:
        done.set()
        thread.join()


def reasons() -> dict[str, int]:
    return {
        name.removeprefix("not_fused_"): count
        for name, count in _core.counters().items()
        if name.startswith("not_fused_") and count
    }


def test_reasons() -> None:
    """`explain` says for each place how often its operations ran one by one, and why."""
    source = "def f(x, y):\n    a = x * y\n    b = np.sqrt(a)\n    return b + y\n"
    for wrong, reason in (
        ([np.full(5, -1.0), np.ones(5)], "float_error"),
        ([np.ones(5), np.ones(3)], "shape"),
        ([np.ones(5, np.longdouble), np.ones(5)], "loop"),
        ([np.ones(5).astype(">f8"), np.ones(5)], "foreign"),
    ):
        eager, traced = both(source)
        for _ in range(5):
            check(eager, traced, lambda: [np.ones(5), np.ones(5)])
        before = reasons()
        check(eager, traced, lambda wrong=wrong: wrong)
        after = reasons()
        assert after.get(reason, 0) > before.get(reason, 0), (reason, before, after)
        text = tagalong.explain(traced)
        assert "lines 2 to 4: 3 array operations as one" in text
        assert f"({reason})" in text


@pytest.mark.parametrize("operations", [60, 127, 128, 129, 300, 384, 385, 900])
@pytest.mark.parametrize("code", "dfl")
def test_long_functions(code: str, operations: int) -> None:
    """More operations, numbers and results than one fusion group can have become several groups."""
    random = Random(f"long {code} {operations}")
    lines = [f"    v{n} = x {'+-*'[n % 3]} {n + 1}" for n in range(20)]
    for n in range(20, operations):
        operand = random.choice((f"v{random.randrange(n - 15, n)}", "y", f"n[{n % 40}]", str(n % 7 + 1)))
        lines.append(f"    v{n} = v{n - 1 - n % 2} {random.choice('+-*')} {operand}")
    source = "\n".join(["def f(x, y, *n):", *lines, f"    return v{operations - 1}, v{operations // 2}\n"])
    eager, traced = both(source)
    before = groups_run()
    for size in (10, 10, 10, 1000, 40_000, 3):
        arrays = [np.arange(size).astype(code) % 5, np.arange(size).astype(code) % 3 - 1]
        numbers = [float(n) if code in "df" else n for n in range(40)]
        check(eager, traced, lambda: [*arrays, *numbers], {"all": "ignore"})  # noqa: B023
        matrix = [arrays[0], np.ones((2, 1), code)]
        check(eager, traced, lambda: [*matrix, *numbers], {"all": "ignore"})  # noqa: B023
    assert groups_run() - before >= 10


@pytest.mark.parametrize("code", "bBhilfd")
@pytest.mark.parametrize("scalar", [2, True, 2.5, np.int64(2), np.int8(2), np.float32(2.5), np.array(2)])
def test_strides_of_axes_of_length_one(code: str, scalar: Any) -> None:
    """They reach no element but are visible; NumPy 1.x has others where it does not take its fast path."""
    for source in (
        "def f(a, s):\n    return a + s\n",
        "def f(a, s):\n    b = s * a\n    c = b + b\n    return b, c\n",
        "def f(a, s):\n    return np.negative(a) < s\n",
    ):
        eager, traced = both(source)
        for shape in ((2, 1, 4), (1, 3), (3, 1), (1, 1)):
            array = np.ones(shape, code, order="F")
            for _ in range(5):
                check(eager, traced, lambda: [array, scalar])  # noqa: B023
        assert tagalong.stats(traced).hits >= 15


@pytest.mark.parametrize("result", ["c", "b - c", "b + y"])
def test_variables_of_a_frame_that_returns(result: str) -> None:
    """They are not visible after the return, so no arrays are made of them, unless something holds the frame."""
    source = f"""
        def f(x, y, keep):
            if keep:
                frames.append(sys._getframe())
            a = x * y
            b = a + x
            c = a * b
            return {result}
        """
    frames: list[Any] = []
    program = "\n".join(line[8:] for line in source.splitlines())
    eager, traced = both(program, sys=sys, frames=frames)
    for keep in (False, False, False, False, True, True, True, True, False, True):
        check(eager, traced, lambda keep=keep: [np.arange(9.0), np.arange(9.0) + 1, keep])
        assert len(frames) == (2 if keep else 0)
        shown = [
            {name: described(value) for name, value in frame.f_locals.items() if name in "abc"}
            for frame in frames
        ]
        assert not keep or (shown[0] == shown[1] and [*shown[0]] == ["a", "b", "c"])
        frames.clear()
    peak = most_memory(both(program, sys=sys, frames=frames)[1])
    assert peak < 2 * BIG * 8, peak


PARTS_WITH_NEW_CONTENTS = {
    "row": "x = a[1]\n    x *= b[1] + 1\n    return x",
    "row as an item": "a[1] *= b[1] + 1\n    return a",
    "rows as items": "a[0] -= b[0] * 2\n    a[1] -= b[1] * 2 + a[0]\n    return a",
    "turned": "x = a[::-1]\n    x += b * 2\n    return x",
    "out": "return np.add(b * 2, 1, out=a[::-1])",
    "out of more": "x = np.add(b * 2, 1, out=a[::-1])\n    y = x + b\n    return y, x",
    "twice": "x = a[::2]\n    y = b[::2] * 2 + 1\n    x += y\n    x *= y\n    b[::2] = x\n    return x",
    "column": "x = a[:, 0]\n    x -= b[0] * 2\n    return x + 1, x",
    "method": "x = a[:, 1:]\n    x -= b[:, 1:] * 2\n    return x.sum(), x.astype(float)",
    "loop": "for i in range(4):\n        a[i] *= b[i] + i\n    return a",
}


@pytest.mark.parametrize("program", PARTS_WITH_NEW_CONTENTS.values(), ids=PARTS_WITH_NEW_CONTENTS.keys())
@pytest.mark.parametrize("option", [1, 2])
def test_parts_with_new_contents_are_parts_still(program: str, option: int) -> None:
    """They stay parts, and do not become the arrays of which they are parts."""
    _core.set_option("fusion", option)
    eager, traced = both(f"def f(a, b):\n    {program}\n")
    for shape in ((4, 4),) * 6 + ((5, 4), (7, 300), (4, 4)):
        size = shape[0] * shape[1]
        made = [np.arange(size * 1.0).reshape(shape), np.arange(size * 1.0).reshape(shape) + 1]
        check(eager, traced, lambda made=made: [one.copy() for one in made])


BIG = 1_000_000


def most_memory(function: Any) -> int:
    """The peak memory of a call in bytes, without its operands."""
    arguments = [np.arange(float(BIG)), np.arange(float(BIG)) + 1, False]
    for _ in range(4):
        function(*arguments)

    def status(name: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

    before = status("VmRSS:")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak to the current value
    function(*arguments)
    return status("VmHWM:") - before


@pytest.mark.parametrize("errstate", ["ignore", "call"])
def test_a_number_of_an_operation_outside_of_the_group(errstate: str) -> None:
    """The operation raises, so the number is not computed for the fusion group, and is not an operand of it."""
    _core.set_option("fusion", 2)
    eager, traced = both(
        "def f(a, b, c, s):\n"
        "    v0 = (c ^ c) > (c * c)\n"
        "    v1 = np.bitwise_and(np.logical_or(s, b), -v0) - (np.left_shift(a, b) - c)\n"
        "    a += np.equal(c & a, v1)\n"
        "    return v0, v1\n"
    )
    for number in range(6):
        make = lambda: [
            np.arange(4, dtype="I")[:1],
            np.ones((2, 1, 4), "I"),
            np.arange(8, dtype="I").reshape(2, 1, 4),
            True,
        ]  # noqa: E501, E731
        check(eager, traced, make, {"all": errstate if number else "ignore"})
    assert tagalong.stats(traced).hits > 0
    assert groups_run() > 0


@pytest.mark.parametrize(
    ("source", "errstate"),
    [
        (
            "v = (a % a) <= np.reciprocal(a)\n    b[n:] = np.arctan2(np.logical_and(c[n:], b), 1.5)\n    return v",
            "call",
        ),
        ("v = (a * a) <= (a + 1.0)\n    b[n:] = np.hypot(a + c[n - 1 :], b)\n    return v", "ignore"),
    ],
)
def test_a_part_of_an_operation_outside_of_the_group(source: str, errstate: str) -> None:
    """The position of the part is computed only for that operation."""
    _core.set_option("fusion", 2)
    eager, traced = both(f"def f(a, b, c, n):\n    {source}\n")
    for shape in ((2, 0), (2, 3)):
        for number in range(6):
            make = lambda shape=shape: [np.ones(shape), np.ones(shape, "l"), np.ones((2, 1)), 1]  # noqa: E731
            check(eager, traced, make, {"all": errstate if number else "ignore"})
    assert tagalong.stats(traced).hits > 0
    assert groups_run() > 0


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("name", ["exp", "log", "exp2", "sin", "tanh", "sqrt", "arctan", "cbrt", "expm1"])
def test_functions_of_arrays_that_are_seen_backwards(name: str, mode: int) -> None:
    """NumPy's loops may use another algorithm then, with other bits; NumPy's iterator decides on the direction."""
    _core.set_option("fusion", mode)
    wide = np.random.default_rng(7).uniform(0.1, 3.0, (140, 300))
    layouts = [
        wide[::-1],
        wide[:, ::-1],
        wide[::-1, ::-1],
        wide[:, ::-2],
        wide.T[::-1],
        wide.T[:, ::-1],
        wide[3:, 7:],
    ]
    layouts += [
        wide[::-1].T[5:],
        wide[0, ::-1],
        wide[:, 0],
        wide.ravel()[::-1],
        np.asfortranarray(wide)[::-1, 2:],
    ]
    for source in (
        f"np.sqrt(np.{name}(x))",
        f"np.{name}(x) * 2.0 + 1.0",
        f"np.{name}(x[1:]) - x[1:]",
        f"np.{name}(x)",
    ):
        eager, traced = both(f"def f(x):\n    return {source}\n")
        for layout in layouts:
            for _ in range(3):
                check(eager, traced, lambda layout=layout: [layout])
        assert tagalong.stats(traced).hits > 0
    assert groups_run() > 0
