"""A polynomial on the complex plane by Horner."""

import numpy as np


def data(n):
    rng = np.random.default_rng(17)
    return (rng.random(n) + 1j * rng.random(n),)


def run(z):
    value = np.ones_like(z)
    for coefficient in (0.5, -1.0, 2.0, 0.25):
        value = value * z + coefficient
    return round(abs(complex(value.sum())), 3)
