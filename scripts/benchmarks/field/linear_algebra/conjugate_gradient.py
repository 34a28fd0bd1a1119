"""Linear algebra: conjugate gradients for Poisson's equation without a matrix, with Jacobi's preconditioner."""

import numpy as np

SIZES = (8, 64, 512)  # points along a side


class Laplace:
    def __init__(self, n):
        self.n = n
        self.diagonal = 4.0 + 0.1 * np.random.default_rng(34).random((n, n))

    def __call__(self, x):
        y = self.diagonal * x
        y[1:] -= x[:-1]
        y[:-1] -= x[1:]
        y[:, 1:] -= x[:, :-1]
        y[:, :-1] -= x[:, 1:]
        return y


def dot(a, b):
    return np.sum(a * b)


def solve(apply, b, inverse, most=15, tolerance=1e-9):
    x = np.zeros_like(b)
    r = b - apply(x)
    z = inverse * r
    p = z.copy()
    rz = dot(r, z)
    start = np.sqrt(dot(r, r))
    for number in range(most):
        ap = apply(p)
        alpha = rz / dot(p, ap)
        x += alpha * p
        r -= alpha * ap
        if np.sqrt(dot(r, r)) < tolerance * start:
            break
        z = inverse * r
        new = dot(r, z)
        p = z + new / rz * p
        rz = new
    return x, r, number


def run(size, rounds):
    operator = Laplace(size)
    b = np.random.default_rng(35).standard_normal((size, size))
    for _ in range(rounds):
        x, r, taken = solve(operator, b, 1.0 / operator.diagonal)
        norm = np.sqrt(dot(r, r))
    return x, norm, taken
