"""Statistics: a particle filter for volatility that changes, with systematic resampling."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # particles; 30 steps


class ParticleFilter:
    def __init__(self, particles, phi=0.97, sigma=0.2, mu=-1.0):
        self.n = particles
        self.phi, self.sigma, self.mu = phi, sigma, mu
        self.x = np.full(particles, mu)

    def predict(self, noise):
        self.x = self.mu + self.phi * (self.x - self.mu) + self.sigma * noise

    def weights(self, y):
        log_w = -0.5 * (self.x + y**2 * np.exp(-self.x))
        top = log_w.max()
        w = np.exp(log_w - top)
        self.evidence = top + np.log(w.mean())
        return w / w.sum()

    def resample(self, w, u):
        places = (np.arange(self.n) + u) / self.n
        index = np.minimum(np.searchsorted(np.cumsum(w), places), self.n - 1)
        self.x = self.x[index]


def run(size, rounds):
    rng = np.random.default_rng(103)
    ys = 0.6 * rng.standard_normal(30)
    noise = rng.standard_normal((30, size))
    for _ in range(rounds):
        model = ParticleFilter(size)
        total, means = 0.0, []
        for k, y in enumerate(ys):
            model.predict(noise[k])
            w = model.weights(y)
            total += model.evidence
            means.append((w * model.x).sum())
            if 1 / (w**2).sum() < size / 2:
                model.resample(w, 0.5)
    return model.x, total, np.array(means)
