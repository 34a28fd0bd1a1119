"""Chains of array operations, replayed and by NumPy."""

from __future__ import annotations

from types import FunctionType

import numpy as np

from benchmarks.measure import Figure, pair, replayed

TITLE = "eager NumPy / replayed: a chain of 6 operations"


def chain(x, y):
    return np.sqrt((x * y + x - y) * 0.5) + y


def figures(rounds: int) -> list[Figure]:
    found = []
    for size in (10, 1_000, 10_000, 100_000, 1_000_000):
        arrays = (np.linspace(1.0, 2.0, size), np.linspace(2.0, 3.0, size))
        eager = FunctionType(chain.__code__, globals(), "eager")
        traced = replayed(FunctionType(chain.__code__.replace(), globals(), "traced"), *arrays)
        if traced(*arrays).tobytes() != eager(*arrays).tobytes():
            raise RuntimeError("the replayed chain gives another result")
        loops = max(1, 40_000 // max(10, size // 10))
        numpy_time, mine, ratio = pair(eager, traced, arrays, rounds, loops)
        beside = f"{numpy_time:.0f} ns / {mine:.0f} ns"
        bar = 3.0 if size == 10 else None
        found.append(Figure(f"{size} elements", ratio, "x", beside, bar=bar, at_least=True))
    return found
