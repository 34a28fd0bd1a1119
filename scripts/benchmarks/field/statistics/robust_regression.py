"""Statistics: a line through points with outliers, weights of Huber found again and again."""

import numpy as np

SIZES = (15, 1_500, 500_000)  # points


def mad(r):
    return np.median(np.abs(r - np.median(r))) / 0.6745


def weighted_line(x, y, w):
    total = w.sum()
    mx = (w * x).sum() / total
    my = (w * y).sum() / total
    slope = (w * (x - mx) * (y - my)).sum() / (w * (x - mx) ** 2).sum()
    return slope, my - slope * mx


def huber(x, y, k=1.345, rounds=6):
    w = np.ones_like(x)
    for _ in range(rounds):
        slope, intercept = weighted_line(x, y, w)
        r = y - (slope * x + intercept)
        scale = max(mad(r), 1e-9)
        u = np.abs(r) / scale
        w = np.where(u <= k, 1.0, k / np.maximum(u, 1e-12))
    return slope, intercept, w


def run(size, rounds):
    rng = np.random.default_rng(23)
    x = np.linspace(0, 10, size)
    y = 2 * x + 1 + rng.standard_normal(size)
    y[::7] += 30
    for _ in range(rounds):
        slope, intercept, w = huber(x, y)
    return slope, intercept, w
