"""Two axes of a box, wrapped around."""

import numpy as np


def data(n):
    return (np.random.default_rng(33).random((max(n // 2, 1), 2)) * 4 - 2,)


def run(points):
    p = points.copy()
    for axis in range(2):
        column = p[:, axis]
        column[column > 1.0] -= 2.0
        column[column < -1.0] += 2.0
    return round(float(p.sum()), 6)
