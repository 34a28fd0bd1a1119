"""Finance: paths of Heston's model with full truncation, barriers and a control variate."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # paths; 25 steps


class Heston:
    def __init__(self, **p):
        self.p = p

    def paths(self, normals, dt):
        p = self.p
        s = np.full(normals.shape[2], p["spot"])
        v = np.full_like(s, p["v0"])
        lowest = s.copy()
        for z1, z in normals:
            z2 = p["rho"] * z1 + np.sqrt(1 - p["rho"] ** 2) * z
            positive = np.maximum(v, 0)
            root = np.sqrt(positive * dt)
            s = s * np.exp((p["rate"] - 0.5 * positive) * dt + root * z1)
            v = v + p["kappa"] * (p["theta"] - positive) * dt + p["xi"] * root * z2
            lowest = np.minimum(lowest, s)
        return s, lowest


def run(size, rounds):
    normals = np.random.default_rng(101).standard_normal((25, 2, size))
    for number in range(rounds):
        model = Heston(
            spot=100.0, v0=0.04, rate=0.02, rho=-0.7, kappa=1.5, theta=0.04, xi=0.3 + 0.1 * (number % 2)
        )
        s, lowest = model.paths(normals, 1 / 25)
        pay = np.where(lowest > 85.0, np.maximum(s - 100.0, 0), 0) * np.exp(-0.02)
        control = s * np.exp(-0.02) - 100.0
        covariance = ((pay - pay.mean()) * (control - control.mean())).mean()
        adjusted = pay - covariance / control.var() * control
        value, error = adjusted.mean(), adjusted.std() / np.sqrt(size)
    return s, value, error
