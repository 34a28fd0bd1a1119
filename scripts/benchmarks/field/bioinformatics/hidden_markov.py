"""Bioinformatics: a hidden Markov model of islands in a genome, forward and backward with scaling."""

import numpy as np

SIZES = (30, 300, 3_000)  # letters


class HiddenMarkov:
    def __init__(self, transition, emission, start):
        self.transition = transition
        self.emission = emission
        self.start = start

    def forward(self, seen):
        alpha = np.zeros((len(seen), len(self.start)))
        scale = np.zeros(len(seen))
        alpha[0] = self.start * self.emission[:, seen[0]]
        scale[0] = alpha[0].sum()
        alpha[0] /= scale[0]
        for t in range(1, len(seen)):
            alpha[t] = (alpha[t - 1] @ self.transition) * self.emission[:, seen[t]]
            scale[t] = alpha[t].sum()
            alpha[t] /= scale[t]
        return alpha, scale

    def backward(self, seen, scale):
        beta = np.ones((len(seen), len(self.start)))
        for t in range(len(seen) - 2, -1, -1):
            beta[t] = self.transition @ (self.emission[:, seen[t + 1]] * beta[t + 1]) / scale[t + 1]
        return beta

    def posterior(self, seen):
        alpha, scale = self.forward(seen)
        gamma = alpha * self.backward(seen, scale)
        return gamma / gamma.sum(axis=1, keepdims=True), np.log(scale).sum()


def run(size, rounds):
    seen = np.random.default_rng(55).integers(0, 4, size)
    model = HiddenMarkov(
        np.array([[0.95, 0.05], [0.1, 0.9]]),
        np.array([[0.3, 0.2, 0.2, 0.3], [0.1, 0.4, 0.4, 0.1]]),
        np.array([0.5, 0.5]),
    )
    for _ in range(rounds):
        gamma, likelihood = model.posterior(seen)
        island = (gamma[:, 1] > 0.5).sum()
    return gamma, likelihood, island
