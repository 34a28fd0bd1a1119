"""Bytes of a picture made brighter."""

import numpy as np


def data(n):
    return (np.random.default_rng(25).integers(0, 256, n, dtype=np.uint8),)


def run(pixels):
    wide = pixels.astype(np.int32) * 3 // 2 + 10
    bright = np.minimum(wide, 255).astype(np.uint8)
    return int(bright.sum())
