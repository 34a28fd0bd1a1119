"""As softmax does it: passes of which the later ones take what the earlier ones have reduced."""

import numpy as np


def program(x):
    e = np.square(x - x.max()) + 1.0
    return e / e.sum()


CALLS = [(np.linspace(0.0, 1.0, 3000),) for _ in range(3)]
