"""Small vectors and matrices: bodies in space, a filter, rotations."""

import numpy as np


def rotation(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def filtered(measures):
    state, covariance = np.zeros(2), np.eye(2)
    step = np.array([[1.0, 0.1], [0.0, 1.0]])
    noise = np.eye(2) * 0.01
    look = np.array([[1.0, 0.0]])
    out = []
    for measure in measures:
        state = step @ state
        covariance = step @ covariance @ step.T + noise
        gain = covariance @ look.T / (look @ covariance @ look.T + 0.5)
        state = state + (gain * (measure - look @ state)).ravel()
        covariance = (np.eye(2) - gain @ look) @ covariance
        out.append(state[0])
    return out


points = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
for number in range(15000):
    points = points @ rotation(number * 0.001)
    points = points - points.mean(axis=0)
print(np.round(points, 6).tolist())
found = filtered([np.sin(k / 50) for k in range(15000)])
print(round(sum(found), 6))
