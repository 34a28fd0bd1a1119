"""Geodesy: positions from ranges to satellites by least squares, many receivers at once, and dilution of precision."""

import numpy as np

SIZES = (4, 200, 10_000)  # receivers; six satellites


def ranges(x, satellites, bias):
    d = satellites[None, :, :] - x[:, None, :]
    r = np.sqrt((d**2).sum(axis=2))
    return d / r[:, :, None], r + bias[:, None]


def solve_normal(a, b):
    """Cholesky of all matrices of four by four at once."""
    n = a.shape[-1]
    low = np.zeros_like(a)
    for j in range(n):
        s = a[:, j, j] - (low[:, j, :j] ** 2).sum(axis=1)
        low[:, j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            s = a[:, i, j] - (low[:, i, :j] * low[:, j, :j]).sum(axis=1)
            low[:, i, j] = s / low[:, j, j]
    y = np.zeros_like(b)
    for i in range(n):
        y[:, i] = (b[:, i] - (low[:, i, :i] * y[:, :i]).sum(axis=1)) / low[:, i, i]
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[:, i] = (y[:, i] - (low[:, i + 1 :, i] * x[:, i + 1 :]).sum(axis=1)) / low[:, i, i]
    return x, low


def run(size, rounds):
    rng = np.random.default_rng(109)
    directions = rng.standard_normal((6, 3)) + np.array([0, 0, 2.0])
    satellites = 20_000.0 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    truth = rng.uniform(-50, 50, (size, 3)) + np.array([0, 0, 6371.0])
    measured = ranges(truth, satellites, rng.uniform(-1, 1, size))[1] + rng.normal(0, 0.003, (size, 6))
    for _ in range(rounds):
        x = np.tile([0.0, 0.0, 6371.0], (size, 1))
        bias = np.zeros(size)
        for _ in range(4):
            unit, r = ranges(x, satellites, bias)
            h = np.concatenate([-unit, np.ones((size, 6, 1))], axis=2)
            residual = measured - r
            normal = np.einsum("nki,nkj->nij", h, h)
            right = (h * residual[:, :, None]).sum(axis=1)
            change, low = solve_normal(normal, right)
            x = x + change[:, :3]
            bias = bias + change[:, 3]
        error = np.sqrt(((x - truth) ** 2).sum(axis=1))
        strength = np.prod(np.diagonal(low, axis1=1, axis2=2), axis=1)
    return x, bias, error, strength
