"""A layer of a network with biases."""

import numpy as np


def data(n):
    rng = np.random.default_rng(21)
    rows = max(n // 64, 1)
    return (
        rng.random((rows, 32), dtype=np.float32) - 0.5,
        rng.random((32, 32), dtype=np.float32) - 0.5,
        rng.random(32, dtype=np.float32),
    )


def run(x, weights, bias):
    hidden = np.maximum(x @ weights + bias, 0)
    return round(float(hidden.mean()), 4)
