"""Operations of doubles that regions compute by loops of their own: the bits of NumPy's, and its warnings."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable
from random import Random
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import described
from tagalong import _core

SIZES = (1, 7, 8, 9, 15, 64, 1000, 1030, 2100)
CALLS = 6

UNARY = ("np.sqrt({})", "-{}", "np.abs({})", "np.square({})", "np.sign({})", "np.reciprocal({})", "{} ** 2")
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / {}", "np.maximum({}, {})", "np.minimum({}, {})")
COMPARISONS = ("{} < {}", "{} <= {}", "{} == {}", "{} != {}", "{} > {}", "{} >= {}")
BOOLS = ("{} & {}", "{} | {}", "np.logical_and({}, {})")
OTHERS = ("np.exp({} * 0.001)", "np.floor({})")  # by NumPy's loops, between those of our own


@pytest.fixture(autouse=True)
def regions() -> None:
    _core.set_option("regions", 2)


def double(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def program(random: Random, count: int) -> str:
    """Straight-line code: values of many operations, of which some are returned."""
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
    # Some with more values at once than there are registers.
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


def test_they_run_as_regions() -> None:
    def f(x, y):
        return np.where(x < y, x * y - 1.0, np.sqrt(x) / y)

    tagalong.trace(f)
    x, y = np.linspace(1, 2, 1000), np.linspace(3, 1, 1000)
    for _ in range(CALLS):
        f(x, y)
    before = _core._region_counts()[1]
    f(x, y)
    assert _core._region_counts()[1] == before + 1


def test_rows_that_are_none() -> None:
    """Strided and reversed operands, and parts of rows."""

    def f(x, y):
        return (x * y + 1.0) / (x + 7.0)

    tagalong.trace(f)
    base = np.arange(1.0, 5001.0)
    for _ in range(CALLS):
        for x, y in ((base[:2000:2], base[::5]), (base[::-1], base), (base[:7], base[3:10])):
            expected = (x * y + 1.0) / (x + 7.0)
            assert described(f(x, y)) == described(expected)
