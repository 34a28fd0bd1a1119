"""Lines of a table that fit one pattern."""

import numpy as np


def data(n):
    return np.random.default_rng(8).integers(0, 2, (max(n // 30, 3), 3)).astype(bool)[:2000], (
        True,
        False,
        True,
    )


def run(table, pattern):
    found = 0
    for line in table:
        if (pattern == np.bitwise_and(pattern, line)).all():
            found += 1
    return found
