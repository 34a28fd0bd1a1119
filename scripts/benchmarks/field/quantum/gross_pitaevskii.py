"""Quantum: the ground state of a condensate in imaginary time, complex and in the plane."""

import numpy as np

SIZES = (12, 64, 300)  # points along a side


def laplacian(psi, dx):
    lap = -4 * psi
    lap[1:] += psi[:-1]
    lap[:-1] += psi[1:]
    lap[:, 1:] += psi[:, :-1]
    lap[:, :-1] += psi[:, 1:]
    return lap / dx**2


def normalise(psi, dx):
    return psi / np.sqrt((np.abs(psi) ** 2).sum() * dx**2)


def step(psi, potential, p):
    density = np.abs(psi) ** 2
    h = -0.5 * laplacian(psi, p["dx"]) + (potential + p["g"] * density) * psi
    h = h - p["omega"] * 1j * p["dx"] * psi
    return normalise(psi - p["dt"] * h, p["dx"])


def run(size, rounds):
    x = np.linspace(-6, 6, size)
    dx = x[1] - x[0]
    p = {"dx": dx, "dt": 0.1 * dx**2, "g": 20.0, "omega": 0.1}
    xx, yy = np.meshgrid(x, x)
    potential = 0.5 * (xx**2 + yy**2)
    start = normalise((xx + 1j * yy) * np.exp(-0.5 * (xx**2 + yy**2)), dx)
    for _ in range(rounds):
        psi = start
        for _ in range(5):
            psi = step(psi, potential, p)
        phase = np.angle(psi[size // 3])
    return psi, phase
