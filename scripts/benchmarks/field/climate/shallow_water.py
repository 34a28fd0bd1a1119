"""Ocean: shallow water on a C grid, forward-backward in time, periodic in x."""

import numpy as np

SIZES = (12, 64, 256)  # points along a side


class ShallowWater:
    def __init__(self, n, depth=100.0, dx=1e4, coriolis=1e-4, drag=1e-6):
        self.n = n
        self.depth = depth
        self.dx = dx
        self.g = 9.81
        self.f = coriolis
        self.drag = drag
        self.dt = 0.3 * dx / np.sqrt(self.g * depth)
        x = np.arange(n) * dx
        xx, yy = np.meshgrid(x, x, indexing="ij")
        middle = 0.5 * n * dx
        self.eta = np.exp(-((xx - middle) ** 2 + (yy - middle) ** 2) / (0.1 * n * dx) ** 2)
        self.u = np.zeros((n, n))
        self.v = np.zeros((n, n))

    def pressure(self):
        detadx = (self.eta - np.roll(self.eta, 1, axis=0)) / self.dx
        detady = np.zeros_like(self.eta)
        detady[:, 1:] = (self.eta[:, 1:] - self.eta[:, :-1]) / self.dx
        return self.g * detadx, self.g * detady

    def step(self):
        px, py = self.pressure()
        vbar = 0.25 * (
            self.v
            + np.roll(self.v, 1, axis=0)
            + np.roll(self.v, -1, axis=1)
            + np.roll(np.roll(self.v, 1, axis=0), -1, axis=1)
        )
        ubar = 0.25 * (
            self.u
            + np.roll(self.u, -1, axis=0)
            + np.roll(self.u, 1, axis=1)
            + np.roll(np.roll(self.u, -1, axis=0), 1, axis=1)
        )
        self.u = self.u + self.dt * (self.f * vbar - px - self.drag * self.u)
        self.v = self.v + self.dt * (-self.f * ubar - py - self.drag * self.v)
        self.v[:, 0] = 0.0
        flux_x = self.depth * (np.roll(self.u, -1, axis=0) - self.u) / self.dx
        flux_y = np.zeros_like(flux_x)
        flux_y[:, :-1] = self.depth * (self.v[:, 1:] - self.v[:, :-1]) / self.dx
        flux_y[:, -1] = -self.depth * self.v[:, -1] / self.dx
        self.eta = self.eta - self.dt * (flux_x + flux_y)

    def energy(self):
        kinetic = 0.5 * self.depth * (self.u**2 + self.v**2).sum()
        return kinetic + 0.5 * self.g * (self.eta**2).sum()


def run(size, rounds):
    energies = []
    for _ in range(rounds):
        model = ShallowWater(size)
        for _ in range(20):
            model.step()
        energies.append(model.energy())
    return model.eta, model.u, model.v, energies[-1]
