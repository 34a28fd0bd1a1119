"""Bioinformatics: frequencies of alleles with selection, mutation and migration among islands."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # places on the genome; five islands


class Islands:
    def __init__(self, loci, p):
        self.p = p
        self.frequency = np.full((5, loci), 0.1)
        self.frequency += 0.05 * np.arange(5)[:, None]

    def select(self, x):
        s, h = self.p["s"], self.p["h"]
        fitness = x**2 * (1 + s) + 2 * x * (1 - x) * (1 + h * s) + (1 - x) ** 2
        return (x**2 * (1 + s) + x * (1 - x) * (1 + h * s)) / fitness

    def mutate(self, x):
        return x * (1 - self.p["u"]) + (1 - x) * self.p["v"]

    def migrate(self, x):
        return (1 - self.p["m"]) * x + self.p["m"] * x.mean(axis=0)

    def drift(self, x, noise):
        spread = np.sqrt(x * (1 - x) / (2 * self.p["size"]))
        return np.clip(x + spread * noise, 0.0, 1.0)

    def generation(self, noise):
        x = self.migrate(self.mutate(self.select(self.frequency)))
        self.frequency = self.drift(x, noise)

    def fst(self):
        mean = self.frequency.mean(axis=0)
        between = self.frequency.var(axis=0)
        return np.where(mean * (1 - mean) > 0, between / np.maximum(mean * (1 - mean), 1e-12), 0.0)


def run(size, rounds):
    noise = np.random.default_rng(56).standard_normal((10, 5, size))
    p = {"s": 0.02, "h": 0.5, "u": 1e-5, "v": 1e-6, "m": 0.01, "size": 500}
    for _ in range(rounds):
        islands = Islands(size, p)
        for z in noise:
            islands.generation(z)
        fst = islands.fst()
    return islands.frequency, fst.mean()
