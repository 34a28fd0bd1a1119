"""N bodies: a flock of birds that keep together and apart, in single precision."""

import numpy as np

SIZES = (10, 100, 600)  # birds


class Flock:
    def __init__(self, n, world=100.0, p=None):
        rng = np.random.default_rng(32)
        self.world = np.float32(world)
        self.x = (world * rng.random((n, 2))).astype(np.float32)
        self.v = rng.standard_normal((n, 2)).astype(np.float32)
        self.p = {"view": 20.0, "close": 5.0, "cohesion": 0.01, "align": 0.05, "separate": 0.1, "speed": 3.0}
        self.p.update(p or {})

    def step(self):
        p = self.p
        d = self.x[None, :, :] - self.x[:, None, :]
        d -= self.world * np.round(d / self.world)
        distance = np.sqrt((d * d).sum(-1))
        others = (distance < p["view"]) & (distance > 0)
        count = np.maximum(others.sum(axis=1), 1).astype(np.float32)[:, None]
        towards = (d * others[..., None]).sum(axis=1) / count
        together = (self.v[None] * others[..., None]).sum(axis=1) / count
        crowd = others & (distance < p["close"])
        away = -(d * crowd[..., None]).sum(axis=1)
        alone = ~others.any(axis=1)
        change = p["cohesion"] * towards + p["align"] * (together - self.v) + p["separate"] * away
        change[alone] = 0
        self.v += change
        speed = np.sqrt((self.v**2).sum(axis=1, keepdims=True))
        self.v *= np.minimum(1, np.float32(p["speed"]) / np.maximum(speed, np.float32(1e-6)))
        self.x = (self.x + self.v) % self.world


def run(size, rounds):
    for _ in range(rounds):
        flock = Flock(size)
        for _ in range(5):
            flock.step()
        order = np.sqrt((flock.v.mean(axis=0) ** 2).sum())
    return flock.x, flock.v, order
