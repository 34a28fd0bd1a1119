"""Quantum: escape times on the complex plane, with smooth colours, by masks that shrink."""

import numpy as np

SIZES = (16, 100, 500)  # points along a side


def grid(n, extent=1.6):
    axis = np.linspace(-extent, extent, n)
    return axis[None, :] + 1j * axis[:, None]


def escape(z, c, most):
    z = z.copy()
    count = np.full(z.shape, most, dtype=np.int32)
    alive = np.ones(z.shape, dtype=bool)
    for k in range(most):
        z[alive] = z[alive] ** 2 + c
        gone = alive & (np.abs(z) > 4)
        count[gone] = k
        alive &= ~gone
    return z, count


def smooth(z, count, most):
    modulus = np.maximum(np.abs(z), 1.0001)
    value = count + 1 - np.log2(np.log(modulus) + 1e-9)
    return np.where(count < most, value, 0.0)


def run(size, rounds):
    plane = grid(size)
    for number in range(rounds):
        c = -0.8 + 0.156j + 0.01 * (number % 3)
        z, count = escape(plane, c, 15)
        colour = smooth(z, count, 15)
        palette = 0.5 + 0.5 * np.cos(3 + colour[..., None] * 0.15 + np.array([0.0, 0.6, 1.0]))
        image = (255 * palette).astype(np.uint8)
    return count, image
