"""Quantum: a packet meets a barrier; real and imaginary parts step in turn (Visscher, 1991)."""

import numpy as np

SIZES = (50, 1_000, 100_000)  # points


class Packet:
    def __init__(self, n, momentum=1.0):
        self.dx = 0.5
        self.dt = 0.05
        x = self.dx * np.arange(n)
        width = 0.05 * n * self.dx
        envelope = np.exp(-((x - 0.3 * n * self.dx) ** 2) / (2 * width**2))
        self.re = envelope * np.cos(momentum * x)
        self.im = envelope * np.sin(momentum * x)
        self.potential = np.where(np.abs(x - 0.5 * n * self.dx) < 3, 0.6, 0.0)

    def hamiltonian(self, psi):
        out = self.potential * psi
        out[1:-1] -= 0.5 / self.dx**2 * (psi[2:] - 2 * psi[1:-1] + psi[:-2])
        return out

    def step(self):
        self.re += self.dt * self.hamiltonian(self.im)
        self.im -= self.dt * self.hamiltonian(self.re)

    def density(self):
        return self.re**2 + self.im**2


def run(size, rounds):
    packet = Packet(size)
    for _ in range(rounds):
        for _ in range(20):
            packet.step()
        density = packet.density()
        passed = density[size // 2 :].sum() / density.sum()
    return packet.re, packet.im, passed


def by_hand(njit):
    @njit
    def kick(a, b, potential, dt, dx, sign):
        n = a.size
        a[0] += sign * dt * potential[0] * b[0]
        a[n - 1] += sign * dt * potential[n - 1] * b[n - 1]
        for i in range(1, n - 1):
            h = potential[i] * b[i] - 0.5 / dx**2 * (b[i + 1] - 2 * b[i] + b[i - 1])
            a[i] += sign * dt * h

    def by_loops(size, rounds):
        p = Packet(size)
        for _ in range(rounds):
            for _ in range(20):
                kick(p.re, p.im, p.potential, p.dt, p.dx, 1.0)
                kick(p.im, p.re, p.potential, p.dt, p.dx, -1.0)
            density = p.density()
            passed = density[size // 2 :].sum() / density.sum()
        return p.re, p.im, passed

    return {"run": by_loops}


def by_numexpr(numexpr):
    def hamiltonian(self, psi):
        out = self.potential * psi
        middle, left, right, inner = psi[1:-1], psi[:-2], psi[2:], out[1:-1]
        factor = 0.5 / self.dx**2
        numexpr.evaluate("inner - factor * (right - 2 * middle + left)", out=inner)
        return out

    Packet.hamiltonian = hamiltonian
    return {}
