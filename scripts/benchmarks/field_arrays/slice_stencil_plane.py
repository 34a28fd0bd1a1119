"""Heat on a plate, five steps."""

import numpy as np


def data(n):
    side = max(int(n**0.5), 4)
    return (np.random.default_rng(12).random((side, side)),)


def run(start):
    t = start.copy()
    for _ in range(5):
        t[1:-1, 1:-1] = 0.25 * (t[2:, 1:-1] + t[:-2, 1:-1] + t[1:-1, 2:] + t[1:-1, :-2])
    return float(t.mean())
