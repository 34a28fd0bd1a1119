"""Element-wise operations that become one vector kernel."""

import numpy as np


def program(x, y):
    z = x * 2.0 + y
    return np.sqrt(z * z + 1.0)


CALLS = [(np.linspace(0.0, 1.0, 3000), np.linspace(1.0, 2.0, 3000)) for _ in range(3)]
