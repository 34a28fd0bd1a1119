"""Results into arrays that the program hands over."""

import numpy as np


def program(x, y, out):
    np.multiply(x, y, out=out)
    np.add(out, 1.0, out=out)
    return out


CALLS = [(np.ones(3000), np.ones(3000), np.empty(3000)) for _ in range(3)]
