"""Climate: heat and momentum from sea to air by bulk formulas, with stability found by iteration."""

import numpy as np

SIZES = (20, 2_000, 200_000)  # points of the sea


class BulkFluxes:
    gravity = 9.81
    karman = 0.4
    latent_heat = 2.5e6
    heat_capacity = 1004.7

    def __init__(self, height=10.0, iterations=4):
        self.height = height
        self.iterations = iterations

    def saturation(self, celsius):
        return 0.98 * 640380.0 * np.exp(-5107.4 / (celsius + 273.15)) / 1.22

    def drag(self, wind):
        return 1e-3 * (2.7 / wind + 0.142 + wind / 13.09)

    def stability(self, zeta):
        zeta = np.clip(zeta, -10, 10)
        stable = -5 * zeta
        x = np.sqrt(np.sqrt(np.abs(1 - 16 * zeta)))
        x2 = x**2
        unstable = np.log((1 + x2) / 2 * ((1 + x) / 2) ** 2) - 2 * np.arctan(x) + np.pi / 2
        return np.where(zeta > 0, stable, unstable), np.where(zeta > 0, stable, 2 * np.log((1 + x2) / 2))

    def compute(self, wind, t_air, t_sea, q_air):
        wind = np.maximum(wind, 0.5)
        virtual = (t_air + 273.15) * (1 + 0.608 * q_air)
        q_sea = self.saturation(t_sea)
        dt, dq = t_air - t_sea, q_air - q_sea
        neutral = wind
        cd = self.drag(neutral)
        ct = 1e-3 * np.where(dt > 0, 18.0, 32.7) * np.sqrt(cd)
        ce = 1e-3 * 34.6 * np.sqrt(cd)
        for _ in range(self.iterations):
            ustar = np.sqrt(cd) * wind
            tstar = ct / np.sqrt(cd) * dt
            qstar = ce / np.sqrt(cd) * dq
            zeta = (
                self.karman
                * self.gravity
                * self.height
                / ustar**2
                * (tstar / virtual + qstar / (q_air + 1 / 0.608))
            )
            psi_m, psi_h = self.stability(zeta)
            neutral = np.maximum(wind / (1 + np.sqrt(cd) / self.karman * -psi_m), 0.5)
            cd_n = self.drag(neutral)
            root = np.sqrt(cd_n)
            cd = cd_n / (1 - root / self.karman * psi_m) ** 2
            ratio = np.sqrt(cd / cd_n)
            ct_n = 1e-3 * np.where(zeta > 0, 18.0, 32.7) * root
            ct = ct_n * ratio / (1 - ct_n * psi_h / (self.karman * root))
            ce_n = 1e-3 * 34.6 * root
            ce = ce_n * ratio / (1 - ce_n * psi_h / (self.karman * root))
        return {
            "stress": 1.22 * cd * wind**2,
            "sensible": 1.22 * self.heat_capacity * ct * wind * dt,
            "latent": 1.22 * self.latent_heat * ce * wind * dq,
        }


def run(size, rounds):
    rng = np.random.default_rng(3)
    wind = 12 * rng.random(size) + 1
    t_sea = 5 + 20 * rng.random(size)
    t_air = t_sea + rng.normal(0, 2, size)
    fluxes = BulkFluxes()
    q_air = 0.8 * fluxes.saturation(t_air)
    for _ in range(rounds):
        found = fluxes.compute(wind, t_air, t_sea, q_air)
    return found["stress"], found["sensible"], found["latent"]
