"""Climate: a column in balance between radiation and convection, many columns at once."""

import numpy as np

SIZES = (4, 200, 20_000)  # columns of 20 layers


def long_wave(t, emissivity):
    sigma = 5.67e-8
    up = np.zeros((t.shape[0] + 1, t.shape[1]))
    down = np.zeros_like(up)
    up[0] = sigma * t[0] ** 4
    for k in range(1, t.shape[0] + 1):
        up[k] = (1 - emissivity) * up[k - 1] + emissivity * sigma * t[k - 1] ** 4
    for k in range(t.shape[0] - 1, -1, -1):
        down[k] = (1 - emissivity) * down[k + 1] + emissivity * sigma * t[k] ** 4
    return up, down


def adjust(t, lapse=1.5):
    for k in range(t.shape[0] - 1):
        excess = t[k] - t[k + 1] - lapse
        unstable = excess > 0
        shift = np.where(unstable, 0.5 * excess, 0.0)
        t[k] -= shift
        t[k + 1] += shift
    return t


def run(size, rounds):
    sun = np.linspace(150, 320, size)
    for _ in range(rounds):
        t = np.linspace(288, 220, 20)[:, None] * np.ones(size)
        for _ in range(5):
            up, down = long_wave(t, 0.12)
            heating = np.diff(down - up, axis=0)
            heating[0] += sun - up[0] + down[0]
            t = adjust(t + 0.02 * heating)
        outgoing = up[-1]
    return t, outgoing, outgoing.mean()
