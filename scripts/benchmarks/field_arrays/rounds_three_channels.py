"""Three channels of a picture, each with its own gain."""

import numpy as np


def data(n):
    return (np.random.default_rng(31).random((3, max(n // 3, 1))),)


def run(picture):
    total = 0.0
    for channel, gain in zip(picture, (0.3, 0.6, 0.1)):
        total += float((channel * gain + 0.01).sum())
    return round(total, 6)
