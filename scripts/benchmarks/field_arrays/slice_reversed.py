"""Every other sample, and all of them backwards."""

import numpy as np


def data(n):
    return (np.random.default_rng(16).random(n),)


def run(x):
    half = x[::2] * 2.0 + 1.0
    back = x[::-1] - x
    return float(half.sum() + back.max())
