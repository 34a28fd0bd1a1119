"""The largest eigenvalue of a matrix by multiplication."""

import numpy as np


def data(n):
    side = min(max(int(n**0.5), 2), 100)
    m = np.random.default_rng(29).random((side, side))
    return m + m.T, np.ones(side)


def run(m, start):
    x = start
    for _ in range(20):
        x = m @ x
        x = x / np.sqrt(x @ x)
    return round(float(x @ m @ x), 6)
