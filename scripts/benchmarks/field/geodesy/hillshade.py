"""Geodesy: slope, aspect, curvature and shadow of terrain in single precision."""

import numpy as np

SIZES = (16, 128, 1_024)  # heights along a side


class Terrain:
    def __init__(self, n, cell=30.0):
        rng = np.random.default_rng(62)
        x = np.linspace(0, 8, n)
        z = 200 * np.sin(x)[:, None] * np.cos(0.7 * x)[None, :] + rng.normal(0, 2, (n, n))
        self.z = z.astype(np.float32)
        self.cell = cell

    def horn(self):
        z = self.z
        p = ((z[:-2, 2:] + 2 * z[1:-1, 2:] + z[2:, 2:]) - (z[:-2, :-2] + 2 * z[1:-1, :-2] + z[2:, :-2])) / (
            8 * self.cell
        )
        q = ((z[2:, :-2] + 2 * z[2:, 1:-1] + z[2:, 2:]) - (z[:-2, :-2] + 2 * z[:-2, 1:-1] + z[:-2, 2:])) / (
            8 * self.cell
        )
        return p, q

    def shade(self, azimuth, altitude):
        p, q = self.horn()
        slope = np.arctan(np.sqrt(p**2 + q**2))
        aspect = np.arctan2(q, -p)
        a, h = np.radians(360 - azimuth + 90), np.radians(altitude)
        light = np.sin(h) * np.cos(slope) + np.cos(h) * np.sin(slope) * np.cos(a - aspect)
        return np.clip(255 * light, 0, 255).astype(np.uint8), slope

    def curvature(self):
        z = self.z
        return (z[:-2, 1:-1] + z[2:, 1:-1] + z[1:-1, :-2] + z[1:-1, 2:] - 4 * z[1:-1, 1:-1]) / self.cell**2


def run(size, rounds):
    terrain = Terrain(size)
    for number in range(rounds):
        image, slope = terrain.shade(315.0 - 15 * (number % 4), 45.0)
        steep = (slope > np.radians(20)).mean()
        c = terrain.curvature()
    return image, steep, c
