"""Small rotations, one after another."""

import numpy as np


def data(n):
    return (np.array([[1.0, 0.0], [0.0, 1.0]]), min(max(n // 10, 2), 300))


def run(start, times):
    m = start
    for k in range(times):
        c, s = np.cos(k * 0.01), np.sin(k * 0.01)
        m = m @ np.array([[c, -s], [s, c]])
    return round(float(m[0, 0]), 6)
