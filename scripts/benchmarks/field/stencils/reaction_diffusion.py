"""Stencils: the patterns of Gray and Scott in single precision, in place."""

import numpy as np

SIZES = (16, 128, 512)  # points along a side


def laplacian(field):
    return field[:-2, 1:-1] + field[1:-1, :-2] - 4 * field[1:-1, 1:-1] + field[1:-1, 2:] + field[2:, 1:-1]


def wrap(field):
    field[0] = field[-2]
    field[-1] = field[1]
    field[:, 0] = field[:, -2]
    field[:, -1] = field[:, 1]


def start(size):
    rng = np.random.default_rng(7)
    u = np.ones((size + 2, size + 2), np.float32)
    v = np.zeros_like(u)
    r = max(size // 10, 1)
    u[size // 2 - r : size // 2 + r, size // 2 - r : size // 2 + r] = 0.5
    v[size // 2 - r : size // 2 + r, size // 2 - r : size // 2 + r] = 0.25
    u += 0.02 * rng.random(u.shape, dtype=np.float32)
    return u, v


def run(size, rounds):
    u, v = start(size)
    du, dv, feed, kill = (np.float32(number) for number in (0.16, 0.08, 0.035, 0.065))
    inner = (slice(1, -1), slice(1, -1))
    for _ in range(rounds):
        for _ in range(10):
            a, b = u[inner], v[inner]
            uvv = a * b * b
            lu, lv = laplacian(u), laplacian(v)
            a += du * lu - uvv + feed * (1 - a)
            b += dv * lv + uvv - (feed + kill) * b
            wrap(u)
            wrap(v)
    return u, v


def by_hand(njit):
    @njit
    def step(u, v, p, q, du, dv, feed, kill):
        one, four = np.float32(1), np.float32(4)
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                uvv = u[i, j] * v[i, j] * v[i, j]
                lu = u[i - 1, j] + u[i, j - 1] - four * u[i, j] + u[i, j + 1] + u[i + 1, j]
                lv = v[i - 1, j] + v[i, j - 1] - four * v[i, j] + v[i, j + 1] + v[i + 1, j]
                p[i, j] = u[i, j] + (du * lu - uvv + feed * (one - u[i, j]))
                q[i, j] = v[i, j] + (dv * lv + uvv - (feed + kill) * v[i, j])

    def by_loops(size, rounds):
        u, v = start(size)
        p, q = u.copy(), v.copy()
        numbers = tuple(np.float32(number) for number in (0.16, 0.08, 0.035, 0.065))
        for _ in range(rounds * 10):
            step(u, v, p, q, *numbers)
            wrap(p)
            wrap(q)
            u, v, p, q = p, q, u, v
        return u, v

    return {"run": by_loops}
