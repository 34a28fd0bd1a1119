"""Statistics: logistic regression by Newton's method with a ridge, and its deviance."""

import numpy as np

SIZES = (20, 1_000, 100_000)  # observations of six features


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def log_loss(p, y, eps=1e-12):
    p = np.clip(p, eps, 1 - eps)
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def newton(x, y, ridge=1.0, steps=6):
    beta = np.zeros(x.shape[1])
    penalty = ridge * np.eye(x.shape[1])
    for _ in range(steps):
        p = sigmoid(x @ beta)
        w = p * (1 - p)
        gradient = x.T @ (p - y) + ridge * beta
        hessian = (x * w[:, None]).T @ x + penalty
        beta = beta - np.linalg.solve(hessian, gradient)
    return beta


def run(size, rounds):
    rng = np.random.default_rng(21)
    x = np.hstack([np.ones((size, 1)), rng.standard_normal((size, 5))])
    y = (rng.random(size) < sigmoid(x @ np.array([0.2, 1.0, -1.0, 0.5, 0.0, 0.3]))).astype(float)
    for _ in range(rounds):
        beta = newton(x, y)
        p = sigmoid(x @ beta)
        loss = log_loss(p, y)
        right = np.mean((p > 0.5) == (y > 0.5))
    return np.round(beta, 6), loss, right
