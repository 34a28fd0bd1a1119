"""Linear algebra: PageRank with damping over a graph in lists of edges, float32 and integers."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # pages, eight links each


def page_rank(source, target, n, damping=0.85, most=15):
    degree = np.bincount(source, minlength=n).astype(np.float32)
    dangling = degree == 0
    inverse = np.where(dangling, 0, 1 / np.maximum(degree, 1)).astype(np.float32)
    rank = np.full(n, 1 / n, dtype=np.float32)
    for number in range(most):
        share = rank * inverse
        gathered = np.bincount(target, weights=share[source], minlength=n).astype(np.float32)
        lost = rank[dangling].sum()
        new = (1 - damping) / n + damping * (gathered + lost / n)
        new /= new.sum()
        change = np.abs(new - rank).sum()
        rank = new
        if change < 1e-7:
            break
    return rank, change, number


def run(size, rounds):
    rng = np.random.default_rng(39)
    source = rng.integers(0, size, 8 * size)
    target = (rng.random(8 * size) ** 2 * size).astype(np.int64)
    for _ in range(rounds):
        rank, change, taken = page_rank(source, target, size)
        top = np.argsort(-rank, kind="stable")[:5]
    return rank, change, taken, top
