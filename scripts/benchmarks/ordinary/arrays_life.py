"""The game of life, and statistics over large arrays."""

import numpy as np


def step(board):
    neighbours = sum(
        np.roll(np.roll(board, dy, axis=0), dx, axis=1) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy
    )
    return ((neighbours == 3) | (board & (neighbours == 2))).astype(np.int8)


def describe(values):
    centred = values - values.mean()
    deviation = np.sqrt((centred * centred).mean())
    return deviation, ((centred / deviation) ** 3).mean(), ((centred / deviation) ** 4).mean()


source = np.random.default_rng(2)
board = (source.random((300, 300)) < 0.3).astype(np.int8)
for _ in range(150):
    board = step(board)
print(int(board.sum()))
values = source.normal(size=400_000)
for power in range(8):
    print([round(float(number), 6) for number in describe(np.abs(values) ** (power / 4 + 0.25))])
