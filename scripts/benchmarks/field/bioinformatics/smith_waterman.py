"""Bioinformatics: local alignment of one sequence with many, along anti-diagonals in integers."""

import numpy as np

SIZES = (1, 50, 2_000)  # sequences of 30 letters


class Aligner:
    def __init__(self, match=2, mismatch=-1, gap=-2):
        self.match = match
        self.mismatch = mismatch
        self.gap = gap

    def best(self, query, database):
        n, m = len(query), database.shape[1]
        h = np.zeros((n + 1, len(database), m + 1), dtype=np.int32)
        for i in range(1, n + 1):
            score = np.where(database == query[i - 1], self.match, self.mismatch)
            diagonal = h[i - 1, :, :-1] + score
            above = h[i - 1, :, 1:] + self.gap
            row = np.maximum(np.maximum(diagonal, above), 0)
            left = np.zeros(len(database), dtype=np.int64)
            for j in range(m):
                left = np.maximum(row[:, j], left + self.gap)
                h[i, :, j + 1] = left
        return h.max(axis=(0, 2)), h


def run(size, rounds):
    rng = np.random.default_rng(52)
    query = rng.integers(0, 4, 20)
    database = rng.integers(0, 4, (size, 30))
    aligner = Aligner()
    for _ in range(rounds):
        best, h = aligner.best(query, database)
        hit = int(np.argmax(best))
    return best, hit


def by_hand(njit):
    @njit
    def align(query, database, match, mismatch, gap, best):
        n, m = len(query), database.shape[1]
        for k in range(database.shape[0]):
            above = np.zeros(m + 1, np.int32)
            most = 0
            for i in range(n):
                corner = 0
                left = 0
                for j in range(m):
                    score = corner + (match if database[k, j] == query[i] else mismatch)
                    corner = above[j + 1]
                    value = max(score, above[j + 1] + gap, left + gap, 0)
                    above[j + 1] = value
                    left = value
                    most = max(most, value)
            best[k] = most

    def by_loops(size, rounds):
        rng = np.random.default_rng(52)
        query = rng.integers(0, 4, 20)
        database = rng.integers(0, 4, (size, 30))
        for _ in range(rounds):
            best = np.zeros(size, np.int32)
            align(query, database, 2, -1, -2, best)
            hit = int(np.argmax(best))
        return best, hit

    return {"run": by_loops}
