"""Operations of doubles that fusion groups compute with their own loops: the bits and warnings of NumPy."""

from __future__ import annotations

import ctypes
import itertools
import struct
import warnings
from collections.abc import Callable, Iterator
from math import isqrt
from random import Random
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, described
from chains_support import both, check
from tagalong import _core

RANDOM = np.random.default_rng(29)
WARM_UP = 4
SIZES = (1, 7, 8, 9, 15, 64, 1000, 1030, 2100)
CALLS = 6

UNARY = ("np.sqrt({})", "-{}", "np.abs({})", "np.square({})", "np.sign({})", "np.reciprocal({})", "{} ** 2")
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / {}", "np.maximum({}, {})", "np.minimum({}, {})")
COMPARISONS = ("{} < {}", "{} <= {}", "{} == {}", "{} != {}", "{} > {}", "{} >= {}")
BOOLS = ("{} & {}", "{} | {}", "np.logical_and({}, {})")
OTHERS = ("np.exp({} * 0.001)", "np.floor({})")  # computed by NumPy's loops, between our own


@pytest.fixture(autouse=True)
def fusion() -> None:
    _core.set_option("fusion", 2)


def double(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def program(random: Random, count: int) -> str:
    """Straight-line code with the values of many operations, some of which are returned."""
    doubles, bools, lines = ["x", "y", "z"], ["m"], []
    for number in range(count):
        name = f"v{number}"
        kind = random.random()
        operand = [random.choice([*doubles[-12:], "0.5", "s"]) for _ in range(2)]
        array = random.choice(doubles[-12:])
        if kind < 0.45:
            text, into = random.choice(BINARY).format(*random.sample([array, operand[0]], 2)), doubles
        elif kind < 0.65:
            text, into = random.choice(UNARY).format(array), doubles
        elif kind < 0.78:
            text, into = random.choice(COMPARISONS).format(array, operand[0]), bools
        elif kind < 0.84:
            text, into = random.choice(BOOLS).format(*(random.choice(bools) for _ in range(2))), bools
        elif kind < 0.87:
            text, into = f"~{random.choice(bools)}", bools
        elif kind < 0.95:
            text, into = f"np.where({random.choice(bools)}, {array}, {operand[1]})", doubles
        else:
            text, into = random.choice(OTHERS).format(array), doubles
        lines.append(f"    {name} = {text}")
        into.append(name)
    seen = [random.choice(doubles), doubles[-1], random.choice(bools), bools[-1]]
    return "\n".join(["def f(x, y, z, m, s):", *lines, f"    return {', '.join(seen)}"])


def numbers(kind: str, size: int, random: Random) -> np.ndarray:
    if kind == "ordinary":
        values = [random.uniform(-4, 4) for _ in range(size)]
    elif kind == "zeros":
        values = [random.choice([0.0, -0.0, 1.0, -2.0, 5e-324]) for _ in range(size)]
    elif kind == "extreme":
        values = [
            random.choice([1e308, -1e308, 1e-308, float("inf"), -float("inf"), 3.0]) for _ in range(size)
        ]
    else:
        payloads = [0x7FF8000000000001, 0xFFF8000000000123, 0x7FF8000000000456, 0x7FF0000000000007]
        values = [double(random.choice(payloads)) if random.random() < 0.2 else 1.5 for _ in range(size)]
    return np.array(values)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        results = function(*arguments)
    return [described(result) for result in results], [(str(one.message), one.lineno) for one in said]


@pytest.mark.parametrize("seed", range(60))
def test_bits_and_warnings(seed: int) -> None:
    random = Random(seed)
    namespace: dict[str, Any] = {"np": np}
    # some have more values at once than there are registers
    source = program(random, random.choice([3, 8, 20, 40]))
    exec(compile(source, "<generated>", "exec"), namespace)
    eager = namespace["f"]
    for size in SIZES:
        traced = tagalong.trace(FunctionType(eager.__code__.replace(), namespace))
        for call in range(CALLS + 4):
            kind = ["ordinary", "zeros", "extreme", "payloads"][max(0, call - CALLS)]
            operands = tuple(numbers(kind, size, random) for _ in range(3))
            mask = np.array([random.random() < 0.5 for _ in range(size)])
            arguments = (*operands, mask, random.choice([0.25, -3.0, 0.0]))
            assert outcome(traced, arguments) == outcome(eager, arguments), (source, size, kind)


def test_they_run_as_fusion_groups() -> None:
    def f(x, y):
        return np.where(x < y, x * y - 1.0, np.sqrt(x) / y)

    tagalong.trace(f)
    x, y = np.linspace(1, 2, 1000), np.linspace(3, 1, 1000)
    for _ in range(CALLS):
        f(x, y)
    before = _core.counter("groups_run")
    f(x, y)
    assert _core.counter("groups_run") == before + 1


def test_operands_that_are_not_rows() -> None:
    """Strided and reversed operands, and parts of rows."""

    def f(x, y):
        return (x * y + 1.0) / (x + 7.0)

    tagalong.trace(f)
    base = np.arange(1.0, 5001.0)
    for _ in range(CALLS):
        for x, y in ((base[:2000:2], base[::5]), (base[::-1], base), (base[:7], base[3:10])):
            expected = (x * y + 1.0) / (x + 7.0)
            assert described(f(x, y)) == described(expected)


def square_roots_modulo(square: int, bits: int) -> set[int]:
    root = 1
    for bit in range(3, bits):
        root += ((root * root - square) >> bit & 1) << (bit - 1)
    modulus = 1 << bits
    return {value % modulus for value in (root, -root, root + modulus // 2, modulus // 2 - root)}


def near_middles(most: int) -> Iterator[float]:
    """Numbers from 1 to 4 whose roots are closest to the middle between two doubles."""
    for bits in (54, 55):
        for square in range(1 - 8 * ((most + 1) // 8), most + 1, 8):
            for middle in square_roots_modulo(square % (1 << bits), bits):
                x = (middle * middle - square) >> bits
                if 1 << 53 <= middle < 1 << 54 and 1 << 52 <= x < 1 << 53:
                    assert abs((middle * middle) - (x << bits)) <= most
                    yield float(x) * 2.0 ** (bits - 106)


def traced_root() -> tuple[Any, Any]:
    _core.set_option("retire_after", 0)
    eager, traced = both("def f(x, y):\n    return np.sqrt(x * y) - 0.0")
    for _ in range(WARM_UP):
        traced(np.ones(2000), np.ones(2000))
    return eager, traced


def test_roots_near_the_middle_between_two_doubles() -> None:
    found = np.array(list(near_middles(4000)))
    assert found.size > 1000
    _, traced = traced_root()
    for exponent, shift in itertools.product((-896, -450, -2, 0, 2, 450, 1020), (0, 1, 8)):
        x = np.roll(found, shift) * 2.0**exponent
        roots = traced(x, np.ones_like(x))
        assert roots.tobytes() == np.sqrt(x).tobytes()
    for x, root in zip(found.tolist(), traced(found, np.ones_like(found)).tolist(), strict=True):
        # In units of 2**-53, half of the root's units: the exact root is never a middle.
        exact = isqrt(int(x * 2.0**52) << 54)
        assert int(root * 2.0**53) == 2 * ((exact + 1) // 2)


@pytest.mark.parametrize(
    "kind", ["from 1 to 4", "all exponents", "small", "squares", "neighbours of squares", "specials"]
)
def test_roots_of_many_numbers(kind: str) -> None:
    size = 200_000
    if kind == "from 1 to 4":
        x = RANDOM.uniform(1.0, 4.0, size)
    elif kind == "all exponents":
        x = RANDOM.integers(0, 0x7FF0 << 48, size).astype(np.uint64).view(np.float64)
    elif kind == "small":
        x = RANDOM.uniform(0.0, 1.0, size) * 2.0 ** RANDOM.integers(-1074, -880, size)
    elif kind == "squares":
        x = RANDOM.integers(0, 1 << 26, size).astype(np.float64) ** 2
    elif kind == "neighbours of squares":
        root = RANDOM.uniform(1.0, 2.0, size)
        x = np.nextafter(root * root, RANDOM.choice([0.0, 9.0], size=size))
    else:
        x = RANDOM.uniform(1.0, 4.0, size)
        x[RANDOM.integers(0, size, 3000)] = RANDOM.choice(
            [0.0, -0.0, np.inf, 5e-324, 1e-300, 2.2e-308], size=3000
        )
    lengths = (1, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 1000, 1024, 5000, size)
    eager, traced = traced_root()
    before = tagalong.stats(traced).hits
    for length in lengths:
        part = x[:length].copy()
        assert traced(part, np.ones(length)).tobytes() == eager(part, np.ones(length)).tobytes(), length
    assert tagalong.stats(traced).hits == before + len(lengths)


ROOTS = {
    "one": "return np.sqrt(x * y) - 0.0",
    "two": "return np.sqrt(x) * np.sqrt(y + x)",
    "with quotients": "return np.sqrt(x / 3.0) / 7.0 - np.sqrt(y) / 3.0",
    "compared": "return np.where(np.sqrt(x * 1.0) > y, x, np.sqrt(y * y))",
    "summed": "return np.sum(np.sqrt(x * y))",
    "beside a number": "return np.sqrt(x * 2.0) * 3.0 + np.sqrt(y)",
    "with a function": "return np.exp(-np.sqrt(x * x)) + y",
    "in rows": "return np.sqrt(x.reshape(-1, 2)[:, :1] * y.reshape(-1, 2)) + 1.0",
    "many": "return " + " + ".join(f"np.sqrt(x * {i}.0 + y)" for i in range(12)),
}


@pytest.mark.parametrize("what", ROOTS)
@pytest.mark.parametrize("state", ERRSTATES, ids=str)
def test_roots_in_programs_with_reports(what: str, state: dict[str, Any]) -> None:
    _core.set_option("retire_after", 0)
    eager, traced = both(f"def f(x, y):\n    {ROOTS[what]}")
    for special in (None, 0.0, -1.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308):
        for size in (20, 40, 2000, 9000):
            x, y = np.linspace(0.25, 1.5, size), np.linspace(2.0, 1.0, size)
            if special is not None:
                x[size // 2] = special
                y[-1] = special
            for _ in range(2):
                check(eager, traced, lambda x=x, y=y: [x.copy(), y.copy()], state)


def test_roots_with_other_roundings() -> None:
    """The instruction rounds according to the processor's mode."""
    libm = ctypes.CDLL("libm.so.6")
    eager, traced = traced_root()
    x = RANDOM.uniform(1.0, 4.0, 3000)
    ones = np.ones_like(x)
    for mode in (0x400, 0x800, 0xC00):  # down, up, towards zero
        try:
            assert libm.fesetround(mode) == 0
            expected, roots = np.sqrt(x).tobytes(), traced(x, ones).tobytes()
        finally:
            libm.fesetround(0)
        assert roots == expected
    assert traced(x, ones).tobytes() == eager(x, ones).tobytes()
