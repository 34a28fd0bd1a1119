"""Small arrays, with a scalar argument and a result of two arrays."""

import numpy as np


def program(point, by):
    moved = point + by
    return moved, moved * moved - point


CALLS = [(np.array([1.0, 2.0, 3.0]), 0.5) for _ in range(3)]
