"""Conditions on readings, put together and counted."""

import numpy as np


def data(n):
    rng = np.random.default_rng(1)
    return rng.random(n) < 0.5, rng.random(n) < 0.3, rng.random(n) < 0.9


def run(wet, cold, dark):
    bad = (wet & cold) | (dark & ~wet)
    good = ~bad & (cold ^ dark)
    return np.count_nonzero(bad) - np.count_nonzero(good)
