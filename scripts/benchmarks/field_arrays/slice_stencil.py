"""Heat along a rod, ten steps."""

import numpy as np


def data(n):
    return (np.random.default_rng(11).random(max(n, 4)),)


def run(start):
    t = start.copy()
    for _ in range(10):
        t[1:-1] = t[1:-1] + 0.1 * (t[2:] - 2.0 * t[1:-1] + t[:-2])
    return float(t.sum())
