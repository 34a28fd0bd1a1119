"""Games: positions of Connect Four scored in a batch, by windows in four directions."""

import numpy as np

SIZES = (4, 200, 10_000)  # positions


class Scorer:
    weights = np.array([0, 1, 4, 16, 1000])

    def __init__(self, player):
        self.player = player

    def windows(self, own, free):
        h, w = own.shape[1:]
        for di, dj in ((0, 1), (1, 0), (1, 1), (1, -1)):
            rows = h - 3 * di
            first = 3 if dj < 0 else 0
            columns = w - 3 * abs(dj)
            count = np.zeros((len(own), rows, columns), dtype=np.int64)
            opened = np.ones((len(own), rows, columns), dtype=bool)
            for k in range(4):
                i, j = k * di, first + k * dj
                count += own[:, i : i + rows, j : j + columns]
                opened &= free[:, i : i + rows, j : j + columns]
            yield np.where(opened, count, 0)

    def score(self, boards):
        own = boards == self.player
        free = own | (boards == 0)
        total = np.zeros(len(boards), dtype=np.int64)
        for counts in self.windows(own.astype(np.int8), free):
            total += self.weights[counts].sum(axis=(1, 2))
        return total


def run(size, rounds):
    boards = np.random.default_rng(44).integers(-1, 2, (size, 6, 7))
    one, two = Scorer(1), Scorer(-1)
    for _ in range(rounds):
        value = one.score(boards) - two.score(boards)
        won = (np.abs(value) > 500).mean()
        best = int(np.argmax(value))
    return value, won, best
