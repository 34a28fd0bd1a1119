"""Games: Conway's life on bytes with slices, and what lives on the edge counted."""

import numpy as np

SIZES = (16, 128, 1_024)  # cells along a side


def neighbours(z):
    n = np.zeros(z.shape, dtype=np.uint8)
    n[1:-1, 1:-1] = (
        z[:-2, :-2]
        + z[:-2, 1:-1]
        + z[:-2, 2:]
        + z[1:-1, :-2]
        + z[1:-1, 2:]
        + z[2:, :-2]
        + z[2:, 1:-1]
        + z[2:, 2:]
    )
    return n


def iterate(z):
    n = neighbours(z)
    birth = (n == 3)[1:-1, 1:-1] & (z[1:-1, 1:-1] == 0)
    survive = ((n == 2) | (n == 3))[1:-1, 1:-1] & (z[1:-1, 1:-1] == 1)
    z[...] = 0
    z[1:-1, 1:-1][birth | survive] = 1
    return z


def run(size, rounds):
    first = (np.random.default_rng(40).random((size, size)) < 0.3).astype(np.uint8)
    for _ in range(rounds):
        z = first.copy()
        population = []
        for _ in range(10):
            z = iterate(z)
            population.append(int(z.sum()))
    return z, population[-1]


def by_hand(njit):
    @njit
    def step(z, out):
        for i in range(1, z.shape[0] - 1):
            for j in range(1, z.shape[1] - 1):
                n = (
                    z[i - 1, j - 1]
                    + z[i - 1, j]
                    + z[i - 1, j + 1]
                    + z[i, j - 1]
                    + z[i, j + 1]
                    + z[i + 1, j - 1]
                    + z[i + 1, j]
                    + z[i + 1, j + 1]
                )
                out[i, j] = n == 3 or (n == 2 and z[i, j] == 1)

    def by_loops(size, rounds):
        first = (np.random.default_rng(40).random((size, size)) < 0.3).astype(np.uint8)
        for _ in range(rounds):
            z = first.copy()
            for _ in range(10):
                out = np.zeros_like(z)
                step(z, out)
                z = out
                population = int(z.sum())
        return z, population

    return {"run": by_loops}
