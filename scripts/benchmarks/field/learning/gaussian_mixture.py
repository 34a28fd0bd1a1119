"""Learning: a mixture of Gaussians in one dimension by EM, with logarithms that do not overflow."""

import numpy as np

SIZES = (20, 2_000, 100_000)  # observations; four components


def log_sum_exp(a, axis):
    top = a.max(axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.exp(a - top).sum(axis=axis))


class Mixture:
    def __init__(self, k):
        self.weight = np.full(k, 1 / k)
        self.mean = np.linspace(-3, 3, k)
        self.variance = np.ones(k)

    def log_joint(self, x):
        d = x[:, None] - self.mean
        return np.log(self.weight) - 0.5 * (np.log(2 * np.pi * self.variance) + d**2 / self.variance)

    def expectation(self, x):
        joint = self.log_joint(x)
        total = log_sum_exp(joint, 1)
        return np.exp(joint - total[:, None]), total.mean()

    def maximisation(self, x, r):
        n = r.sum(axis=0) + 1e-9
        self.weight = n / len(x)
        self.mean = (r * x[:, None]).sum(axis=0) / n
        self.variance = (r * (x[:, None] - self.mean) ** 2).sum(axis=0) / n + 1e-6


def run(size, rounds):
    rng = np.random.default_rng(47)
    x = np.concatenate([rng.normal(-2, 0.7, size // 2), rng.normal(1.5, 1.2, size - size // 2)])
    for _ in range(rounds):
        model = Mixture(4)
        for _ in range(5):
            r, likelihood = model.expectation(x)
            model.maximisation(x, r)
    return model.weight, model.mean, model.variance, likelihood


def by_hand(njit):
    @njit
    def em(x, weight, mean, variance, steps):
        n, k = x.size, weight.size
        r = np.empty(k)
        for _ in range(steps):
            s0, s1, s2 = np.zeros(k), np.zeros(k), np.zeros(k)
            likelihood = 0.0
            for i in range(n):
                top = -np.inf
                for j in range(k):
                    d = x[i] - mean[j]
                    r[j] = np.log(weight[j]) - 0.5 * (np.log(2 * np.pi * variance[j]) + d**2 / variance[j])
                    top = max(top, r[j])
                total = 0.0
                for j in range(k):
                    total += np.exp(r[j] - top)
                total = top + np.log(total)
                likelihood += total
                for j in range(k):
                    p = np.exp(r[j] - total)
                    s0[j] += p
                    s1[j] += p * x[i]
                    s2[j] += p * x[i] * x[i]
            for j in range(k):
                m = s0[j] + 1e-9
                weight[j] = m / n
                mean[j] = s1[j] / m
                variance[j] = s2[j] / m - 2 * mean[j] * s1[j] / m + mean[j] ** 2 * s0[j] / m + 1e-6
        return likelihood / n

    def by_loops(size, rounds):
        rng = np.random.default_rng(47)
        x = np.concatenate([rng.normal(-2, 0.7, size // 2), rng.normal(1.5, 1.2, size - size // 2)])
        for _ in range(rounds):
            m = Mixture(4)
            likelihood = em(x, m.weight, m.mean, m.variance, 5)
        return m.weight, m.mean, m.variance, likelihood

    return {"run": by_loops}
