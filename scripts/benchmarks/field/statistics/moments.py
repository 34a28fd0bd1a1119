"""Statistics: mean, variance, skewness and kurtosis of blocks that come one after another (Pébay, 2008)."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # columns; blocks of 20 rows


class Moments:
    def __init__(self, width):
        self.n = 0
        self.mean = np.zeros(width)
        self.m2 = np.zeros(width)
        self.m3 = np.zeros(width)
        self.m4 = np.zeros(width)

    def update(self, x):
        n1 = self.n
        self.n += 1
        delta = x - self.mean
        delta_n = delta / self.n
        delta_n2 = delta_n * delta_n
        term = delta * delta_n * n1
        self.mean += delta_n
        self.m4 += (
            term * delta_n2 * (self.n**2 - 3 * self.n + 3) + 6 * delta_n2 * self.m2 - 4 * delta_n * self.m3
        )
        self.m3 += term * delta_n * (self.n - 2) - 3 * delta_n * self.m2
        self.m2 += term

    @property
    def variance(self):
        return self.m2 / (self.n - 1)

    @property
    def skewness(self):
        return np.sqrt(self.n) * self.m3 / self.m2**1.5

    @property
    def kurtosis(self):
        return self.n * self.m4 / (self.m2 * self.m2) - 3.0


def run(size, rounds):
    blocks = np.random.default_rng(24).gamma(2.0, 1.5, (20, size))
    for _ in range(rounds):
        moments = Moments(size)
        for row in blocks:
            moments.update(row)
        skewness, kurtosis = moments.skewness, moments.kurtosis
    return moments.mean, moments.variance, skewness, kurtosis


def by_numexpr(numexpr):
    def update(self, x):
        n1, n = self.n, self.n + 1
        self.n = n
        mean, m2, m3 = self.mean, self.m2, self.m3
        d = numexpr.evaluate("(x - mean) / n")
        term = numexpr.evaluate("(x - mean) * d * n1")
        cubic, linear = n**2 - 3 * n + 3, n - 2
        self.m4 += numexpr.evaluate("term * d * d * cubic + 6 * d * d * m2 - 4 * d * m3")
        self.m3 += numexpr.evaluate("term * d * linear - 3 * d * m2")
        self.m2 += term
        self.mean += d

    Moments.update = update
    return {}
