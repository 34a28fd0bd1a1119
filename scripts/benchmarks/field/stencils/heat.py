"""Stencils: heat in a plate whose conductivity varies, sources and fixed edges."""

import numpy as np

SIZES = (12, 128, 700)  # points along a side


class Plate:
    def __init__(self, n):
        self.dx = 1.0 / n
        rng = np.random.default_rng(6)
        self.k = 0.5 + rng.random((n, n))
        self.source = np.zeros((n, n))
        self.source[n // 3 : n // 2, n // 3 : n // 2] = 50.0
        self.t = np.full((n, n), 20.0)
        self.dt = 0.2 * self.dx**2 / self.k.max()
        self.time = 0.0

    def edges(self):
        self.t[0, :] = 20.0
        self.t[-1, :] = 20.0
        self.t[:, 0] = self.t[:, 1]
        self.t[:, -1] = self.t[:, -2]

    def laplacian(self):
        t, k = self.t, self.k
        east = 0.5 * (k[1:-1, 1:-1] + k[1:-1, 2:]) * (t[1:-1, 2:] - t[1:-1, 1:-1])
        west = 0.5 * (k[1:-1, 1:-1] + k[1:-1, :-2]) * (t[1:-1, 1:-1] - t[1:-1, :-2])
        north = 0.5 * (k[1:-1, 1:-1] + k[2:, 1:-1]) * (t[2:, 1:-1] - t[1:-1, 1:-1])
        south = 0.5 * (k[1:-1, 1:-1] + k[:-2, 1:-1]) * (t[1:-1, 1:-1] - t[:-2, 1:-1])
        return (east - west + north - south) / self.dx**2

    def step(self):
        self.t[1:-1, 1:-1] += self.dt * (self.laplacian() + self.source[1:-1, 1:-1])
        self.edges()
        self.time += self.dt


def run(size, rounds):
    plate = Plate(size)
    peaks = []
    for _ in range(rounds):
        for _ in range(10):
            plate.step()
        peaks.append(plate.t.max())
    return plate.t, np.array(peaks[-5:]), plate.time
