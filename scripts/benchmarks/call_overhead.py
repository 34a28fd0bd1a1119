"""The cost of a replayed call that does nothing: guards, entry and exit."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Figure, pair, replayed

TITLE = "call of a replayed function with three array arguments / call of an empty Python function"

ndarray = np.ndarray


def empty(x, y, z):
    pass


def passing(x, y, z):
    return x


def guarded(x, y, z):
    return y if x is None or y is None or z is None else x


def checking(x, y, z):
    return x if type(x) is ndarray and type(y) is ndarray and type(z) is ndarray else y


def figures(rounds: int) -> list[Figure]:
    arrays = (np.zeros(10), np.ones(10), np.ones((3, 3)))
    found = []
    for function, what, bar in (
        (passing, "returns its first argument", 4.0),
        (guarded, "a guard on each of the three", 4.0),
        (checking, "calls type() of each of the three", None),
    ):
        mine, plain, ratio = pair(replayed(function, *arrays), empty, arrays, rounds, 20_000)
        found.append(Figure(what, ratio, "x", f"{mine:.1f} ns / {plain:.1f} ns", bar=bar))
    return found
