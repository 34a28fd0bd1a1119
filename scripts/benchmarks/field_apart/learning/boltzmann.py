"""Learning: a restricted Boltzmann machine by contrastive divergence, and a linear autoencoder."""

import numpy as np

SIZES = (4, 64, 1_024)  # rows of a batch; 36 visible units, 20 hidden


class Machine:
    def __init__(self, visible, hidden, rng):
        self.w = 0.1 * rng.standard_normal((visible, hidden))
        self.a = np.zeros(visible)
        self.b = np.zeros(hidden)
        self.velocity = {"w": 0.0, "a": 0.0, "b": 0.0}

    @staticmethod
    def sigmoid(x):
        return 1.0 / (1.0 + np.exp(-x))

    def hidden(self, v):
        return self.sigmoid(v @ self.w + self.b)

    def visible(self, h):
        return self.sigmoid(h @ self.w.T + self.a)

    def train(self, v0, luck, rate=0.1, momentum=0.5, decay=1e-4):
        h0 = self.hidden(v0)
        sample = (luck < h0).astype(float)
        v1 = self.visible(sample)
        h1 = self.hidden(v1)
        n = len(v0)
        gradients = {
            "w": (v0.T @ h0 - v1.T @ h1) / n - decay * self.w,
            "a": (v0 - v1).mean(axis=0),
            "b": (h0 - h1).mean(axis=0),
        }
        for name, gradient in gradients.items():
            self.velocity[name] = momentum * self.velocity[name] + rate * gradient
            setattr(self, name, getattr(self, name) + self.velocity[name])
        return ((v0 - v1) ** 2).mean()

    def free_energy(self, v):
        return -(v @ self.a) - np.logaddexp(0, v @ self.w + self.b).sum(axis=1)


def run(size, rounds):
    rng = np.random.default_rng(107)
    data = (rng.random((size, 36)) < 0.3).astype(float)
    luck = rng.random((4, size, 20))
    machine = Machine(36, 20, rng)
    for number in range(rounds):
        error = machine.train(data, luck[number % 4])
        energy = machine.free_energy(data).mean()
    return machine.w, error, energy
