"""Values above a bound are cut off in place."""

import numpy as np


def data(n):
    return (np.random.default_rng(5).normal(size=n),)


def run(x):
    y = x.copy()
    y[y > 1.5] = 1.5
    y[y < -1.5] = -1.5
    return float(y.sum())
