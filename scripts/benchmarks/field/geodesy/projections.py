"""Geodesy: transverse Mercator by Krüger's series, Lambert's cone and Mercator, from one base class."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # points


class Projection:
    a = 6378137.0
    f = 1 / 298.257223563

    @property
    def e(self):
        return np.sqrt(self.f * (2 - self.f))

    def conformal(self, lat):
        s = np.sin(lat)
        return np.arctanh(s) - self.e * np.arctanh(self.e * s)


class Mercator(Projection):
    def __call__(self, lat, lon):
        return self.a * lon, self.a * self.conformal(lat)


class TransverseMercator(Projection):
    def __init__(self, meridian, scale=0.9996):
        self.meridian = meridian
        self.scale = scale
        n = self.f / (2 - self.f)
        self.radius = self.a / (1 + n) * (1 + n**2 / 4 + n**4 / 64)
        self.alpha = (n / 2 - 2 / 3 * n**2 + 5 / 16 * n**3, 13 / 48 * n**2 - 3 / 5 * n**3, 61 / 240 * n**3)

    def __call__(self, lat, lon):
        t = np.sinh(self.conformal(lat))
        d = lon - self.meridian
        xi = np.arctan2(t, np.cos(d))
        eta = np.arcsinh(np.sin(d) / np.hypot(t, np.cos(d)))
        x, y = eta, xi
        for j, alpha in enumerate(self.alpha, start=1):
            x = x + alpha * np.cos(2 * j * xi) * np.sinh(2 * j * eta)
            y = y + alpha * np.sin(2 * j * xi) * np.cosh(2 * j * eta)
        return 500_000 + self.scale * self.radius * x, self.scale * self.radius * y


class Lambert(Projection):
    def __init__(self, lat1, lat2, meridian):
        self.meridian = meridian
        m = [np.cos(at) / np.sqrt(1 - (self.e * np.sin(at)) ** 2) for at in (lat1, lat2)]
        t = [np.exp(-self.conformal(at)) for at in (lat1, lat2)]
        self.n = np.log(m[0] / m[1]) / np.log(t[0] / t[1])
        self.c = m[0] / (self.n * t[0] ** self.n)

    def __call__(self, lat, lon):
        rho = self.a * self.c * np.exp(-self.n * self.conformal(lat))
        theta = self.n * (lon - self.meridian)
        return rho * np.sin(theta), -rho * np.cos(theta)


def run(size, rounds):
    rng = np.random.default_rng(61)
    lat = np.radians(rng.uniform(42, 52, size))
    lon = np.radians(rng.uniform(0, 6, size))
    maps = [
        Mercator(),
        TransverseMercator(np.radians(3)),
        Lambert(np.radians(44), np.radians(49), np.radians(3)),
    ]
    for _ in range(rounds):
        found = [projection(lat, lon) for projection in maps]
        distance = np.hypot(found[1][0] - found[2][0], found[1][1] - found[2][1])
    return *found[0], *found[1], *found[2], distance.mean()
