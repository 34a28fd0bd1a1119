"""Codes of three kinds in a column of integers."""

import numpy as np


def data(n):
    return (np.random.default_rng(4).integers(0, 100, n),)


def run(codes):
    chosen = (codes >= 20) & (codes < 40) & (codes != 33)
    other = (codes == 7) | (codes == 9)
    return chosen.sum() + other.sum()
