"""Climate: thickness of sea ice by layers of snow and ice through a year (Semtner, 1976)."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # columns


class SeaIce:
    def __init__(self, columns, **changes):
        self.p = {"k_ice": 2.03, "k_snow": 0.31, "melt": 3e8, "emissivity": 0.99, "albedo_ice": 0.64}
        self.p.update(changes)
        self.ice = np.full(columns, 2.0)
        self.snow = np.zeros(columns)
        self.surface = np.full(columns, -10.0)

    def balance(self, t, sun, down):
        p = self.p
        albedo = np.where(self.snow > 0.05, 0.84, p["albedo_ice"])
        conductivity = p["k_ice"] * p["k_snow"] / (p["k_ice"] * self.snow + p["k_snow"] * self.ice)
        out = p["emissivity"] * 5.67e-8 * (t + 273.15) ** 4
        slope = 4 * p["emissivity"] * 5.67e-8 * (t + 273.15) ** 3 + conductivity
        return (1 - albedo) * sun + down - out + conductivity * (-1.8 - t), slope, conductivity

    def day(self, sun, down, fall):
        t = self.surface
        for _ in range(3):
            flux, slope, conductivity = self.balance(t, sun, down)
            t = t + flux / slope
        melting = t > 0
        t = np.minimum(t, 0.0)
        flux, _, conductivity = self.balance(t, sun, down)
        energy = np.where(melting, np.maximum(flux, 0), 0) * 86400
        lost = np.minimum(self.snow, energy / (self.p["melt"] / 3))
        self.snow += fall - lost
        grown = (conductivity * (-1.8 - t) * -1 - 2.0) * 86400 / self.p["melt"]
        self.ice = np.maximum(self.ice + grown - (energy - lost * self.p["melt"] / 3) / self.p["melt"], 0.1)
        self.surface = t


def run(size, rounds):
    offset = np.linspace(-20, 20, size)
    for _ in range(rounds):
        model = SeaIce(size, k_snow=0.3)
        for day in range(0, 360, 15):
            sun = np.maximum(250 * np.sin(2 * np.pi * (day - 80) / 360) + offset, 0)
            model.day(sun, 220 + 60 * np.sin(2 * np.pi * (day - 100) / 360) + offset, 0.005)
    return model.ice, model.snow, model.surface
