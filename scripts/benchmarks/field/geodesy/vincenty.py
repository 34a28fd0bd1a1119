"""Geodesy: lengths of geodesics on the ellipsoid by Vincenty's iteration, for all pairs until all converge."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # pairs


class Ellipsoid:
    def __init__(self, a=6378137.0, f=1 / 298.257223563):
        self.a = a
        self.f = f
        self.b = a * (1 - f)

    def inverse(self, lat1, lon1, lat2, lon2, tolerance=1e-12, most=20):
        f = self.f
        u1 = np.arctan((1 - f) * np.tan(lat1))
        u2 = np.arctan((1 - f) * np.tan(lat2))
        su1, cu1, su2, cu2 = np.sin(u1), np.cos(u1), np.sin(u2), np.cos(u2)
        length = lon2 - lon1
        lam = length
        for _ in range(most):
            sl, cl = np.sin(lam), np.cos(lam)
            ss = np.sqrt((cu2 * sl) ** 2 + (cu1 * su2 - su1 * cu2 * cl) ** 2)
            cs = su1 * su2 + cu1 * cu2 * cl
            sigma = np.arctan2(ss, cs)
            sa = cu1 * cu2 * sl / ss
            c2a = 1 - sa**2
            c2m = cs - 2 * su1 * su2 / c2a
            c = f / 16 * c2a * (4 + f * (4 - 3 * c2a))
            last = lam
            lam = length + (1 - c) * f * sa * (sigma + c * ss * (c2m + c * cs * (-1 + 2 * c2m**2)))
            if np.max(np.abs(lam - last)) < tolerance:
                break
        u2 = c2a * (self.a**2 - self.b**2) / self.b**2
        big_a = 1 + u2 / 16384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)))
        big_b = u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
        inner = c2m + big_b / 4 * (
            cs * (-1 + 2 * c2m**2) - big_b / 6 * c2m * (-3 + 4 * ss**2) * (-3 + 4 * c2m**2)
        )
        return self.b * big_a * (sigma - big_b * ss * inner)


def run(size, rounds):
    rng = np.random.default_rng(59)
    lat1, lat2 = np.radians(rng.uniform(-60, 60, (2, size)))
    lon1 = np.radians(rng.uniform(-180, 180, size))
    lon2 = lon1 + np.radians(rng.uniform(1, 90, size))
    earth = Ellipsoid()
    for _ in range(rounds):
        s = earth.inverse(lat1, lon1, lat2, lon2)
    return s, s.mean()
