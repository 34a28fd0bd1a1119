"""Stencils: a tracer carried by a rotating flow, upwind with a limiter of van Leer."""

import numpy as np

SIZES = (10, 100, 600)  # points along a side


def limited(r):
    return (r + np.abs(r)) / (1 + np.abs(r))


def flux(q, u, dt, dx, axis):
    left = np.roll(q, 1, axis)
    right = np.roll(q, -1, axis)
    second = np.roll(q, 2, axis)
    upwind = np.where(u > 0, left, q)
    difference = q - left
    safe = np.where(np.abs(difference) < 1e-12, 1e-12, difference)
    r = np.where(u > 0, left - second, right - q) / safe
    return u * upwind + 0.5 * np.abs(u) * (1 - np.abs(u) * dt / dx) * limited(r) * difference


def step(q, u, v, dt, dx):
    f = flux(q, u, dt, dx, 0)
    q = q - dt / dx * (np.roll(f, -1, 0) - f)
    g = flux(q, v, dt, dx, 1)
    return q - dt / dx * (np.roll(g, -1, 1) - g)


def run(size, rounds):
    dx = 1.0 / size
    x = (np.arange(size) + 0.5) * dx
    xx, yy = np.meshgrid(x, x, indexing="ij")
    u, v = 0.5 - yy, xx - 0.5
    dt = 0.4 * dx / 0.5
    for _ in range(rounds):
        q = np.where((xx - 0.5) ** 2 + (yy - 0.75) ** 2 < 0.02, 1.0, 0.0)
        for _ in range(5):
            q = step(q, u, v, dt, dx)
    return q, q.sum()
