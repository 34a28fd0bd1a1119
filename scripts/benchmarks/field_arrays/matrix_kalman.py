"""A filter with matrices of two by two."""

import numpy as np


def data(n):
    return (np.sin(np.arange(min(max(n // 10, 2), 300)) / 50),)


def run(measures):
    state, covariance = np.zeros(2), np.eye(2)
    step = np.array([[1.0, 0.1], [0.0, 1.0]])
    look = np.array([[1.0, 0.0]])
    for measure in measures:
        state = step @ state
        covariance = step @ covariance @ step.T + 0.01 * np.eye(2)
        gain = covariance @ look.T / (look @ covariance @ look.T + 0.5)
        state = state + (gain * (measure - look @ state)).ravel()
        covariance = (np.eye(2) - gain @ look) @ covariance
    return round(float(state[0]), 6)
