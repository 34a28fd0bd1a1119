"""Reductions of all elements, one of them summed by the kernel."""

import numpy as np


def program(x, y):
    d = x - y
    return (d * d).sum(), np.abs(d).max()


CALLS = [(np.linspace(0.0, 1.0, 3000), np.linspace(1.0, 2.0, 3000)) for _ in range(3)]
