"""Reductions along an axis, which operations on whole rows take."""

import numpy as np


def program(table):
    mean = table.mean(axis=1, keepdims=True)
    return (table - mean) * 0.5


CALLS = [(np.arange(600.0).reshape(20, 30),) for _ in range(3)]
