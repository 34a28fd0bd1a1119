"""Two steps of a predictor and corrector."""

import numpy as np


def data(n):
    return (np.random.default_rng(30).random(n),)


def run(y):
    for _ in range(2):
        slope = -y * y + 0.5
        guess = y + 0.1 * slope
        y = y + 0.05 * (slope + 0.5 - guess * guess)
    return float(y.sum())
