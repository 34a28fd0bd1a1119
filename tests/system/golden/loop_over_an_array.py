"""A loop over the items of an array, one by one."""

import numpy as np


def program(values):
    total = 0.0
    for place in range(len(values)):
        total += values[place] * 0.5
    return total


CALLS = [(np.arange(40.0),) for _ in range(3)]
