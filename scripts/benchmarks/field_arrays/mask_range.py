"""Numbers between two bounds."""

import numpy as np


def data(n):
    return (np.random.default_rng(2).normal(size=n),)


def run(x):
    inside = (x > -1.0) & (x < 1.0)
    return inside.sum()
