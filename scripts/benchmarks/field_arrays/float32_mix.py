"""A mix of two single precision signals."""

import numpy as np


def data(n):
    rng = np.random.default_rng(19)
    return rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32)


def run(a, b):
    mixed = a * np.float32(0.7) + b * np.float32(0.3)
    return round(float((mixed * mixed).mean()), 5)
