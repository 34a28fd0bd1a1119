"""Single precision measurements added up in double precision."""

import numpy as np


def data(n):
    return (np.random.default_rng(22).random(n, dtype=np.float32),)


def run(x):
    exact = x.astype(np.float64)
    return round(float((exact * exact - exact).sum()), 6)
