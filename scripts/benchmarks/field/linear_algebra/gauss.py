"""Linear algebra: elimination with pivots, row by row, and substitution backwards."""

import numpy as np

SIZES = (4, 30, 200)  # unknowns


def eliminate(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n - 1):
        pivot = k + int(np.argmax(np.abs(a[k:, k])))
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            b[[k, pivot]] = b[[pivot, k]]
        factor = a[k + 1 :, k] / a[k, k]
        a[k + 1 :, k:] -= factor[:, None] * a[k, k:]
        b[k + 1 :] -= factor * b[k]
    return a, b


def substitute(a, b):
    n = len(b)
    x = np.zeros(n)
    for k in range(n - 1, -1, -1):
        x[k] = (b[k] - (a[k, k + 1 :] * x[k + 1 :]).sum()) / a[k, k]
    return x


def run(size, rounds):
    rng = np.random.default_rng(36)
    a = rng.standard_normal((size, size)) + np.eye(size)
    b = rng.standard_normal(size)
    for _ in range(rounds):
        upper, right = eliminate(a, b)
        x = substitute(upper, right)
        determinant = np.prod(np.sign(np.diag(upper)))
    return x, determinant
