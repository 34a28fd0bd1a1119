"""Stencils: Burgers' equations in the plane, two fields that carry each other."""

import numpy as np

SIZES = (11, 81, 500)  # points along a side


def advance(u, v, nu, dt, dx):
    un, vn = u.copy(), v.copy()
    for new, old in ((u, un), (v, vn)):
        new[1:-1, 1:-1] = (
            old[1:-1, 1:-1]
            - dt / dx * un[1:-1, 1:-1] * (old[1:-1, 1:-1] - old[1:-1, :-2])
            - dt / dx * vn[1:-1, 1:-1] * (old[1:-1, 1:-1] - old[:-2, 1:-1])
            + nu * dt / dx**2 * (old[1:-1, 2:] - 2 * old[1:-1, 1:-1] + old[1:-1, :-2])
            + nu * dt / dx**2 * (old[2:, 1:-1] - 2 * old[1:-1, 1:-1] + old[:-2, 1:-1])
        )
        new[0, :] = 1
        new[-1, :] = 1
        new[:, 0] = 1
        new[:, -1] = 1


def run(size, rounds):
    dx = 2.0 / (size - 1)
    nu = 0.01
    dt = 0.0009 * dx * dx / nu
    u = np.ones((size, size))
    v = np.ones((size, size))
    u[size // 4 : size // 2, size // 4 : size // 2] = 2
    v[size // 4 : size // 2, size // 4 : size // 2] = 2
    for _ in range(rounds):
        for _ in range(10):
            advance(u, v, nu, dt, dx)
        speed = np.sqrt(u**2 + v**2)
    return u, v, speed.max()
