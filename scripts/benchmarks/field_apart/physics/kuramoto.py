"""Physics: oscillators that fall into step (Kuramoto), by the mean field and by neighbours on a ring."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # oscillators


class Oscillators:
    def __init__(self, n, coupling):
        rng = np.random.default_rng(110)
        self.omega = rng.standard_cauchy(n).clip(-5, 5)
        self.theta = rng.uniform(0, 2 * np.pi, n)
        self.coupling = coupling

    def order(self):
        z = np.exp(1j * self.theta).mean()
        return np.abs(z), np.angle(z)

    def step(self, dt):
        r, psi = self.order()
        pull = self.coupling * r * np.sin(psi - self.theta)
        left = np.roll(self.theta, 1) - self.theta
        right = np.roll(self.theta, -1) - self.theta
        near = 0.1 * (np.sin(left) + np.sin(right))
        self.theta = (self.theta + dt * (self.omega + pull + near)) % (2 * np.pi)
        return r


def run(size, rounds):
    for number in range(rounds):
        model = Oscillators(size, 1.0 + 0.5 * (number % 4))
        seen = np.array([model.step(0.05) for _ in range(10)])
    return model.theta, seen
