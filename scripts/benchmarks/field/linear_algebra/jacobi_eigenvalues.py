"""Linear algebra: eigenvalues of a symmetric matrix by Jacobi's rotations of rows and columns."""

import numpy as np

SIZES = (4, 12, 40)  # rows


def rotate(a, v, p, q):
    if abs(a[p, q]) < 1e-14:
        return
    theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
    t = np.sign(theta) / (abs(theta) + np.sqrt(theta**2 + 1)) if theta != 0 else 1.0
    c = 1 / np.sqrt(t**2 + 1)
    s = t * c
    ap, aq = a[:, p].copy(), a[:, q].copy()
    a[:, p] = c * ap - s * aq
    a[:, q] = s * ap + c * aq
    ap, aq = a[p, :].copy(), a[q, :].copy()
    a[p, :] = c * ap - s * aq
    a[q, :] = s * ap + c * aq
    vp = v[:, p].copy()
    v[:, p] = c * vp - s * v[:, q]
    v[:, q] = s * vp + c * v[:, q]


def off_diagonal(a):
    return np.sqrt((a**2).sum() - (np.diag(a) ** 2).sum())


def eigenvalues(matrix, sweeps=3):
    a = matrix.copy()
    v = np.eye(len(a))
    for _ in range(sweeps):
        for p in range(len(a) - 1):
            for q in range(p + 1, len(a)):
                rotate(a, v, p, q)
    return np.sort(np.diag(a)), v, off_diagonal(a)


def run(size, rounds):
    m = np.random.default_rng(38).standard_normal((size, size))
    m = (m + m.T) / 2
    for _ in range(rounds):
        values, vectors, rest = eigenvalues(m)
    return values, vectors, rest
