"""Linear algebra: QR by reflections of Householder, and a least squares fit with it."""

import numpy as np

SIZES = (6, 60, 400)  # rows; a third as many columns


def reflector(x):
    v = x.copy()
    alpha = -np.copysign(np.sqrt((x * x).sum()), x[0])
    v[0] -= alpha
    norm = np.sqrt((v * v).sum())
    if norm > 0:
        v /= norm
    return v, alpha


def qr(a):
    r = a.copy()
    m, n = r.shape
    vectors = []
    for k in range(n):
        v, alpha = reflector(r[k:, k])
        r[k:, k:] -= 2.0 * np.outer(v, v @ r[k:, k:])
        vectors.append(v)
    return vectors, r


def least_squares(a, b):
    vectors, r = qr(a)
    n = a.shape[1]
    y = b.copy()
    for k, v in enumerate(vectors):
        y[k:] -= 2.0 * v * (v @ y[k:])
    x = np.zeros(n)
    for k in reversed(range(n)):
        x[k] = (y[k] - r[k, k + 1 : n] @ x[k + 1 :]) / r[k, k]
    return x, np.sqrt((y[n:] ** 2).sum())


def run(size, rounds):
    columns = max(size // 3, 2)
    t = np.linspace(-1, 1, size)
    a = np.cos(np.outer(np.arccos(t), np.arange(columns)))
    b = np.exp(t) * np.sin(3 * t)
    for _ in range(rounds):
        x, norm = least_squares(a, b)
    return x, norm
