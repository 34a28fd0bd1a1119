"""A chain in which NumPy's own loops stand between vector kernels."""

import numpy as np


def program(x):
    y = np.sin(x * 0.5) + 1.0
    return np.tanh(y) * x


CALLS = [(np.linspace(0.0, 1.0, 3000),) for _ in range(3)]
