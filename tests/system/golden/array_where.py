"""Comparisons, logic and a choice."""

import numpy as np


def program(x, y):
    chosen = (x > 0.5) & (y < 1.5)
    return np.where(chosen, x * y, x - y)


CALLS = [(np.linspace(0.0, 1.0, 3000), np.linspace(1.0, 2.0, 3000)) for _ in range(3)]
