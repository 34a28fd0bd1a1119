"""Three steps of a root by Newton."""

import numpy as np


def data(n):
    return (np.random.default_rng(32).random(n) + 0.5,)


def run(x):
    root = x * 0.5 + 0.5
    for _ in range(3):
        root = 0.5 * (root + x / root)
    return round(float(root.sum()), 6)
