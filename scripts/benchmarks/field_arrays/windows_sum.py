"""Sums of the neighbours, item by item."""

import numpy as np


def data(n):
    side = min(max(int(n**0.5), 5), 30)
    return np.random.default_rng(35).random((side, side)), np.ones((3, 3)) / 9


def run(picture, kernel):
    total = 0.0
    for i in range(picture.shape[0] - 2):
        for j in range(picture.shape[1] - 2):
            for k in range(3):
                for m in range(3):
                    total += picture[i + k, j + m] * kernel[k, m]
    return round(float(total), 6)
