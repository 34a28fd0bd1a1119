"""Games: electrons on wires, four states in a grid of bytes, neighbours by np.roll."""

import numpy as np

SIZES = (16, 128, 512)  # cells along a side

EMPTY, HEAD, TAIL, WIRE = range(4)


class Wireworld:
    offsets = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]

    def __init__(self, grid):
        self.grid = grid
        self.generation = 0

    def heads_around(self):
        heads = (self.grid == HEAD).astype(np.int8)
        return sum(np.roll(heads, offset, axis=(0, 1)) for offset in self.offsets)

    def step(self):
        around = self.heads_around()
        excited = (around == 1) | (around == 2)
        new = self.grid.copy()
        new[self.grid == HEAD] = TAIL
        new[self.grid == TAIL] = WIRE
        new[(self.grid == WIRE) & excited] = HEAD
        self.grid = new
        self.generation += 1


def run(size, rounds):
    rng = np.random.default_rng(41)
    start = np.zeros((size, size), np.int8)
    start[::4] = WIRE
    start[:, ::8] = WIRE
    start[(rng.random(start.shape) < 0.05) & (start == WIRE)] = HEAD
    for _ in range(rounds):
        world = Wireworld(start)
        for _ in range(5):
            world.step()
        busy = np.count_nonzero(world.grid == HEAD)
    return world.grid, busy
