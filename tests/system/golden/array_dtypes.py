"""Other dtypes: a cast, integers and float32."""

import numpy as np


def program(counts, weights):
    doubled = counts * 2 + 1
    return doubled.astype(np.float32) * weights


CALLS = [(np.arange(3000), np.ones(3000, np.float32)) for _ in range(3)]
