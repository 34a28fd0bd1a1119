"""An adaptive filter over windows of complex samples."""

import numpy as np


def data(n):
    rng = np.random.default_rng(10)
    count = max(n, 40)
    return rng.random((2, count)) + 1j * rng.random((2, count)), (rng.random((2, 21)) + 1j) * 1e-3


def run(signal, start):
    weights = start.copy()
    for i in range(min(signal.shape[1] - 21, 300)):
        window = signal[:, i : i + 21]
        x = np.sum(window * np.conj(weights))
        weights += 1e-3 * np.conj((1.0 - abs(x) ** 2) * x) * window
    return abs(complex(weights.sum()))
