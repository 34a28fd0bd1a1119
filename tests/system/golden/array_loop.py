"""Array operations in a loop: a fusion group in each round."""

import numpy as np


def program(x, rounds):
    for _ in range(rounds):
        x = x * 0.5 + 1.0
    return x


CALLS = [(np.linspace(0.0, 1.0, 3000), 20) for _ in range(3)]
