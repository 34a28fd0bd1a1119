"""Games: a forest that grows and burns, random numbers drawn beforehand."""

import numpy as np

SIZES = (20, 100, 500)  # cells along a side


def burning_next_to(forest):
    fire = forest == 2
    near = np.zeros_like(fire)
    near[1:] |= fire[:-1]
    near[:-1] |= fire[1:]
    near[:, 1:] |= fire[:, :-1]
    near[:, :-1] |= fire[:, 1:]
    return near


def step(forest, luck, p):
    tree = forest == 1
    ignite = tree & (burning_next_to(forest) | (luck < p["lightning"]))
    grow = (forest == 0) & (luck < p["growth"])
    return np.where(ignite, 2, np.where(forest == 2, 0, np.where(grow, 1, forest)))


def run(size, rounds):
    rng = np.random.default_rng(42)
    luck = rng.random((8, size, size))
    start = (rng.random((size, size)) < 0.6).astype(np.int64)
    p = {"lightning": 0.001, "growth": 0.02}
    for _ in range(rounds):
        forest = start
        burnt = 0
        for k in range(8):
            forest = step(forest, luck[k], p)
            burnt += int((forest == 2).sum())
        density = (forest == 1).mean()
    return forest, burnt, density
