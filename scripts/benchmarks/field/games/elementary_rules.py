"""Games: elementary automata of Wolfram, all 256 rules at once, by shifts of bits and a table."""

import numpy as np

SIZES = (21, 201, 2_001)  # cells in a row


def run_rules(numbers, width, steps):
    bits = (numbers[:, None] >> np.arange(8)) & 1
    cells = np.zeros((len(numbers), width), dtype=np.int64)
    cells[:, width // 2] = 1
    lines = np.arange(len(numbers))[:, None]
    density = np.empty((steps, len(numbers)))
    for step in range(steps):
        left = np.roll(cells, 1, axis=1)
        right = np.roll(cells, -1, axis=1)
        code = (left << 2) | (cells << 1) | right
        cells = bits[lines, code]
        density[step] = cells.mean(axis=1)
    return cells, density


def run(size, rounds):
    numbers = np.arange(256)
    for _ in range(rounds):
        cells, density = run_rules(numbers, size, 4)
        lively = (np.abs(density[-1] - 0.5) < 0.2).sum()
    return cells, density, lively
