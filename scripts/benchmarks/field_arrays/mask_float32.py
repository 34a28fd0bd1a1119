"""Single precision samples that are out of range."""

import numpy as np


def data(n):
    rng = np.random.default_rng(3)
    return rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32)


def run(a, b):
    bad = (a < 0.1) | (b > 0.9) | (a > b)
    return bad.sum()
