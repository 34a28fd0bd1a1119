"""Linear algebra: GMRES by Arnoldi's process with a stencil for a matrix, and rotations of Givens."""

import numpy as np

SIZES = (20, 1_000, 100_000)  # unknowns; 12 directions


def apply(x, wind=0.3):
    y = 2.5 * x
    y[1:] -= (1 + wind) * x[:-1]
    y[:-1] -= (1 - wind) * x[1:]
    return y


def norm(x):
    return np.sqrt((x * x).sum())


def gmres(b, m=12):
    beta = norm(b)
    q = [b / beta]
    h = np.zeros((m + 1, m))
    cs, sn = np.zeros(m), np.zeros(m)
    g = np.zeros(m + 1)
    g[0] = beta
    for k in range(m):
        w = apply(q[k])
        for j in range(k + 1):
            h[j, k] = (w * q[j]).sum()
            w = w - h[j, k] * q[j]
        h[k + 1, k] = norm(w)
        q.append(w / h[k + 1, k])
        for j in range(k):
            a, c = h[j, k], h[j + 1, k]
            h[j, k], h[j + 1, k] = cs[j] * a + sn[j] * c, -sn[j] * a + cs[j] * c
        r = np.hypot(h[k, k], h[k + 1, k])
        cs[k], sn[k] = h[k, k] / r, h[k + 1, k] / r
        h[k, k], h[k + 1, k] = r, 0.0
        g[k], g[k + 1] = cs[k] * g[k], -sn[k] * g[k]
    y = np.zeros(m)
    for k in range(m - 1, -1, -1):
        y[k] = (g[k] - (h[k, k + 1 : m] * y[k + 1 :]).sum()) / h[k, k]
    x = np.zeros_like(b)
    for k in range(m):
        x += y[k] * q[k]
    return x, abs(g[m])


def run(size, rounds):
    b = np.random.default_rng(105).standard_normal(size)
    for _ in range(rounds):
        x, estimate = gmres(b)
        true = norm(b - apply(x))
    return x, estimate, true
