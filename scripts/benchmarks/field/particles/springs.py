"""N bodies: a cloth of masses and springs that hangs from two corners, with np.add.at for the forces."""

import numpy as np

SIZES = (4, 16, 80)  # masses along a side


class Cloth:
    def __init__(self, n, stiffness=400.0, damping=0.5):
        self.n = n
        self.stiffness = stiffness
        self.damping = damping
        xx, yy = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
        self.x = np.column_stack([xx.ravel(), np.zeros(n * n), yy.ravel()])
        self.v = np.zeros_like(self.x)
        number = np.arange(n * n).reshape(n, n)
        self.a = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel(), number[:-1, :-1].ravel()])
        self.b = np.concatenate([number[:, 1:].ravel(), number[1:].ravel(), number[1:, 1:].ravel()])
        self.rest = np.linalg.norm(self.x[self.b] - self.x[self.a], axis=1)
        self.fixed = np.array([0, n - 1])

    def forces(self):
        d = self.x[self.b] - self.x[self.a]
        length = np.sqrt((d * d).sum(axis=1))
        pull = (self.stiffness * (length - self.rest) / length)[:, None] * d
        force = np.zeros_like(self.x)
        np.add.at(force, self.a, pull)
        np.subtract.at(force, self.b, pull)
        force[:, 2] -= 9.81 / self.n**2
        return force - self.damping * self.v

    def step(self, dt):
        self.v += dt * self.forces() * self.n**2 / 100
        self.v[self.fixed] = 0
        self.x += dt * self.v


def run(size, rounds):
    cloth = Cloth(size)
    for _ in range(rounds):
        for _ in range(5):
            cloth.step(1e-3)
    stretch = np.linalg.norm(cloth.x[cloth.b] - cloth.x[cloth.a], axis=1) / cloth.rest
    return cloth.x, stretch.max()
