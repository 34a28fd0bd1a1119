"""Games: a cyclic automaton of eight colours, and Langton-like counters of changes."""

import numpy as np

SIZES = (16, 100, 600)  # cells along a side


class Cyclic:
    def __init__(self, n, states=8, threshold=1):
        self.states = states
        self.threshold = threshold
        self.grid = np.random.default_rng(106).integers(0, states, (n, n)).astype(np.uint8)
        self.changes = np.zeros((n, n), dtype=np.int32)

    def step(self):
        following = (self.grid + 1) % self.states
        count = np.zeros(self.grid.shape, dtype=np.uint8)
        for shift, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
            count += np.roll(self.grid, shift, axis) == following
        eaten = count >= self.threshold
        self.grid = np.where(eaten, following, self.grid)
        self.changes += eaten
        return eaten.mean()


def run(size, rounds):
    for _ in range(rounds):
        world = Cyclic(size)
        activity = [world.step() for _ in range(6)]
        histogram = np.bincount(world.grid.ravel(), minlength=8)
    return world.grid, world.changes, np.array(activity), histogram
