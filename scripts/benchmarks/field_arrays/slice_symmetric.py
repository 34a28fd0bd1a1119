"""A product with a symmetric matrix, written out."""

import numpy as np


def data(n):
    side = min(max(int(n**0.5), 3), 30)
    rng = np.random.default_rng(13)
    return rng.random((side, side)), rng.random((side, side)), rng.random((side, side))


def run(c, a, b):
    c = c * 1.2
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[:i, j] += 1.5 * b[i, j] * a[i, :i]
        c[i, :] += 1.5 * b[i, :] * a[i, i]
    return float(c.sum())
