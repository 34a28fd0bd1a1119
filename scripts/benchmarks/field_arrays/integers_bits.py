"""Flags in words of 32 bits."""

import numpy as np


def data(n):
    return (np.random.default_rng(24).integers(0, 2**32, n, dtype=np.uint32),)


def run(words):
    mixed = (words ^ (words >> np.uint32(16))) & np.uint32(0xFFFF)
    return int((mixed | np.uint32(1)).sum())
