"""Stencils: Poisson's equation by Jacobi steps between two grids, with a check of the residual."""

import numpy as np

SIZES = (10, 100, 1_000)  # points along a side


def relax(u, v, f, h):
    v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - h**2 * f[1:-1, 1:-1])


def residual(u, f, h):
    r = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]) / h**2 - f[1:-1, 1:-1]
    return np.sqrt(np.mean(r**2))


def problem(size):
    h = 1.0 / (size - 1)
    x = np.linspace(0, 1, size)
    f = np.sin(np.pi * x)[:, None] * np.cos(2 * np.pi * x)[None, :]
    u = np.zeros((size, size))
    u[0] = x
    return u, u.copy(), f, h


def run(size, rounds):
    u, v, f, h = problem(size)
    norms = []
    for _ in range(rounds):
        for _ in range(10):
            relax(u, v, f, h)
            relax(v, u, f, h)
        norms.append(residual(u, f, h))
    return u, norms[-1]


def by_hand(njit):
    @njit
    def step(u, v, f, h):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h**2 * f[i, j])

    def by_loops(size, rounds):
        u, v, f, h = problem(size)
        for _ in range(rounds):
            for _ in range(10):
                step(u, v, f, h)
                step(v, u, f, h)
            norm = residual(u, f, h)
        return u, norm

    return {"run": by_loops}


def by_numexpr(numexpr):
    def relax(u, v, f, h):
        north, south, west, east, g = u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:], f[1:-1, 1:-1]
        numexpr.evaluate("0.25 * (north + south + west + east - h**2 * g)", out=v[1:-1, 1:-1])

    return {"relax": relax}
