"""Two by two matrices of a quantum gate."""

import numpy as np


def data(n):
    return np.array([[1, 1], [1, -1]]) / 2**0.5 + 0j, min(max(n // 10, 1), 200)


def run(gate, times):
    state = np.array([1.0 + 0j, 0.0])
    for _ in range(times):
        state = gate @ state
        state = state / np.sqrt((state * np.conj(state)).real.sum())
    return round(float(abs(state[0])), 9)
