"""Where a fusion group ends: an operation on other things, and an operand of another shape."""

import numpy as np


def program(x, y):
    z = x * 2.0 + 1.0
    z = np.cumsum(z)
    return z[:10] * 3.0 - y + 1.0


CALLS = [(np.linspace(0.0, 1.0, 3000), np.ones(10)) for _ in range(3)]
