"""Quantum: many packets in boxes, a tridiagonal solve with complex numbers in each step."""

import numpy as np

SIZES = (4, 64, 2_000)  # packets on 40 points


class CrankNicolson:
    def __init__(self, potential, dx, dt):
        n = len(potential)
        r = 1j * dt / (4 * dx**2)
        self.off = -r
        self.diagonal = 1 + 2 * r + 0.5j * dt * potential
        self.explicit = 1 - 2 * r - 0.5j * dt * potential
        self.c = np.zeros(n, dtype=complex)
        self.c[0] = self.off / self.diagonal[0]
        for i in range(1, n):
            self.c[i] = self.off / (self.diagonal[i] - self.off * self.c[i - 1])

    def right(self, psi):
        d = self.explicit[:, None] * psi
        d[1:] -= self.off * psi[:-1]
        d[:-1] -= self.off * psi[1:]
        return d

    def step(self, psi):
        d = self.right(psi)
        d[0] /= self.diagonal[0]
        for i in range(1, len(d)):
            d[i] = (d[i] - self.off * d[i - 1]) / (self.diagonal[i] - self.off * self.c[i - 1])
        for i in range(len(d) - 2, -1, -1):
            d[i] -= self.c[i] * d[i + 1]
        return d


def run(size, rounds):
    x = np.linspace(0, 1, 40)
    potential = 200 * (x - 0.5) ** 2
    momenta = np.linspace(-30, 30, size)
    start = np.exp(-100 * (x[:, None] - 0.4) ** 2 + 1j * momenta * x[:, None])
    for _ in range(rounds):
        solver = CrankNicolson(potential, x[1] - x[0], 1e-4)
        psi = start
        for _ in range(3):
            psi = solver.step(psi)
        density = psi.real**2 + psi.imag**2
        where = (density * x[:, None]).sum(axis=0) / density.sum(axis=0)
    return psi, where
