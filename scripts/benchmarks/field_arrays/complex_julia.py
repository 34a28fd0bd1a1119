"""Points that stay near zero."""

import numpy as np


def data(n):
    rng = np.random.default_rng(18)
    return (rng.random(n) * 2 - 1 + 1j * (rng.random(n) * 2 - 1),)


def run(start):
    z = start * 0.5
    for _ in range(8):
        z = z * z + (-0.4 + 0.3j)
    return int((np.abs(z) < 2.0).sum())
