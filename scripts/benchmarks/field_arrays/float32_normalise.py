"""Rows of single precision features to mean 0 and deviation 1."""

import numpy as np


def data(n):
    return (np.random.default_rng(20).random((max(n // 16, 2), 16), dtype=np.float32),)


def run(x):
    z = (x - x.mean(axis=0)) / (x.std(axis=0) + np.float32(1e-6))
    return round(float(np.abs(z).max()), 3)
