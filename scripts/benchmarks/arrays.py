"""Fused regions of array operations (option `regions`) against eager NumPy, small arrays to large ones."""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from benchmarks.measure import Figure, replayed
from tagalong import _core

TITLE = "eager NumPy / replayed with fused regions, in as many threads as there are processors"
SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def chain(x, y):
    return np.sqrt((x * y + x - y) * 0.5) + y


def black_scholes(price, strike, years):
    rate, volatility = 0.02, 0.3
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + volatility * volatility / 2) * years) / spread
    d2 = d1 - spread
    n1 = 1.0 / (1.0 + np.exp(-1.702 * d1))
    n2 = 1.0 / (1.0 + np.exp(-1.702 * d2))
    discounted = strike * np.exp(-rate * years)
    return price * n1 - discounted * n2


def haversine(lat1, lon1, lat2, lon2):
    a = np.sin((lat2 - lat1) / 2.0) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2.0) ** 2
    return 6371.0 * 2.0 * np.arcsin(np.sqrt(a))


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def stencil(u, out):
    out[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def distances(x, y):
    return np.sqrt((x - y) ** 2 + 1.0) * 0.5


def norm(x, y):
    return np.sum((x - y) ** 2 * 0.5)


def spread(size: int, low: float, high: float) -> np.ndarray:
    return np.linspace(low, high, size)


def operands(size: int) -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    yield chain, (spread(size, 1, 2), spread(size, 2, 3))
    yield black_scholes, (spread(size, 90, 110), spread(size, 95, 105), spread(size, 0.1, 2))
    yield haversine, tuple(spread(size, low, low + 1) for low in (0.1, 0.2, 0.3, 0.4))
    yield softmax, (spread(size, -3, 3),)
    yield norm, (spread(size, 1, 2), spread(size, 2, 4))
    side = int(size**0.5) + 1
    yield stencil, (spread(side * side, 0, 1).reshape(side, side), np.zeros((side, side)))
    yield distances, (spread(side, 0, 1).reshape(-1, 1), spread(side, 3, 4))


def figures(rounds: int) -> list[Figure]:
    return [measured(*program, size, rounds) for size in SIZES for program in operands(size)]


def interleaved(one: Any, two: Any, arguments: tuple[Any, ...], rounds: int) -> tuple[float, float, float]:
    """Medians of ns per call, and of the rounds' ratios; rounds of a few ms, fewer of those that take longer."""
    names = [f"a{number}" for number in range(len(arguments))]
    call = f"f({', '.join(names)})"
    timers = [
        timeit.Timer(call, globals=dict(zip(names, arguments, strict=True)) | {"f": function})
        for function in (one, two)
    ]
    once = min(timers[0].repeat(3, 1))
    loops = max(1, int(0.004 / once))
    times = [
        [timer.timeit(loops) / loops * 1e9 for timer in timers]
        for _ in range(max(3, min(rounds, int(0.2 / once))))
    ]
    return (
        statistics.median(a for a, _ in times),
        statistics.median(b for _, b in times),
        statistics.median(a / b for a, b in times),
    )


def measured(function: Any, arguments: tuple[Any, ...], size: int, rounds: int) -> Figure:
    """One program on arrays of about `size` elements."""
    eager = FunctionType(function.__code__, globals(), "eager")
    traced = replayed(FunctionType(function.__code__.replace(), globals(), "traced"), *arguments)
    for _ in range(20):  # names have to be looked up before a region is planned
        traced(*arguments)
    before = _core._region_counts()[1]
    if np.asarray(traced(*arguments)).tobytes() != np.asarray(eager(*arguments)).tobytes():
        raise RuntimeError(f"the replayed {function.__name__} gives another result")
    regions = _core._region_counts()[1] - before
    numpy_time, mine, ratio = interleaved(eager, traced, arguments, rounds)
    beside = f"{numpy_time / 1000:.2f} us / {mine / 1000:.2f} us, {regions} regions"
    bar = 3.0 if size == 10 and function is chain else None
    return Figure(f"{function.__name__}, {size} elements", ratio, "x", beside, bar=bar, at_least=True)
