"""N bodies: smoothed particles of a fluid that falls into a box, kernels between all pairs."""

import numpy as np

SIZES = (9, 64, 400)  # particles


class Fluid:
    def __init__(self, n, h=0.1):
        self.h = h
        side = int(np.ceil(np.sqrt(n)))
        i = np.arange(n)
        self.x = np.column_stack([0.05 * (i % side), 0.05 * (i // side)]) + 0.001 * (i % 3)[:, None]
        self.v = np.zeros_like(self.x)
        self.mass = 1000 * 0.05**2

    def kernels(self):
        d = self.x[:, None, :] - self.x[None, :, :]
        r = np.sqrt(np.sum(d**2, axis=2))
        q = np.maximum(self.h - r, 0.0)
        return d, r, q

    def accelerations(self, stiffness=20.0, viscosity=5.0):
        d, r, q = self.kernels()
        h = self.h
        density = self.mass * (4 / (np.pi * h**8) * np.maximum(h**2 - r**2, 0) ** 3).sum(axis=1)
        pressure = stiffness * (density - 1000.0)
        spiky = -30 / (np.pi * h**5) * q**2 / np.where(r > 0, r, 1)
        pair = (pressure[:, None] + pressure[None, :]) / (2 * density[None, :])
        push = -(self.mass * (pair * spiky)[:, :, None] * d).sum(axis=1)
        dv = self.v[None, :, :] - self.v[:, None, :]
        lap = 40 / (np.pi * h**5) * q
        drag = viscosity * self.mass * ((lap / density[None, :])[:, :, None] * dv).sum(axis=1)
        a = (push + drag) / density[:, None]
        a[:, 1] -= 9.81
        return a, density

    def step(self, dt):
        a, density = self.accelerations()
        self.v += dt * a
        self.x += dt * self.v
        for k in range(2):
            low = self.x[:, k] < 0
            self.x[low, k] *= -1
            self.v[low, k] *= -0.5
        return density


def run(size, rounds):
    for _ in range(rounds):
        fluid = Fluid(size)
        for _ in range(5):
            density = fluid.step(1e-3)
    return fluid.x, fluid.v, density
