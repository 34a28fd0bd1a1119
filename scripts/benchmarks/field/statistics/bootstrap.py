"""Statistics: confidence limits of a correlation by the bootstrap, with indices drawn beforehand."""

import numpy as np

SIZES = (10, 200, 5_000)  # observations; 100 samples


def correlation(x, y):
    dx = x - x.mean()
    dy = y - y.mean()
    return (dx * dy).sum() / np.sqrt((dx**2).sum() * (dy**2).sum())


def bootstrap(x, y, draws, statistic):
    values = np.empty(len(draws))
    for k, index in enumerate(draws):
        values[k] = statistic(x[index], y[index])
    return values


def run(size, rounds):
    rng = np.random.default_rng(19)
    x = rng.standard_normal(size)
    y = 0.6 * x + 0.8 * rng.standard_normal(size)
    draws = rng.integers(0, size, (100, size))
    for _ in range(rounds):
        values = bootstrap(x, y, draws, correlation)
        z = np.arctanh(np.clip(values, -0.999999, 0.999999))
        low, high = np.percentile(values, [2.5, 97.5])
    return values, z.mean(), low, high
