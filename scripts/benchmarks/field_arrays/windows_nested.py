"""A median over small windows of a picture."""

import numpy as np


def data(n):
    side = min(max(int(n**0.5), 5), 30)
    return (np.random.default_rng(34).random((side, side)),)


def run(picture):
    height, width = picture.shape
    out = np.zeros_like(picture)
    for i in range(1, height - 1):
        for j in range(1, width - 1):
            window = picture[i - 1 : i + 2, j - 1 : j + 2]
            out[i, j] = window.mean()
    return round(float(out.sum()), 6)
