"""Arrays that get new contents: an in-place operator, and a slice."""

import numpy as np


def program(x, y):
    x += y * 2.0 - y * y
    x[1:-1] = (y[2:] + y[:-2]) * 0.5
    return x


CALLS = [(np.linspace(0.0, 1.0, 3000), np.linspace(1.0, 2.0, 3000)) for _ in range(3)]
