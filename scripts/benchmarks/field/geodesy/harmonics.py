"""Geodesy: a field of gravity from spherical harmonics, Legendre functions by recursion."""

import numpy as np

SIZES = (5, 200, 10_000)  # points; degree 12

DEGREE = 12


def legendre(t, degree):
    u = np.sqrt(1 - t**2)
    p = {(0, 0): np.ones_like(t)}
    for n in range(1, degree + 1):
        factor = np.sqrt(3.0) if n == 1 else np.sqrt((2 * n + 1) / (2 * n))
        p[n, n] = factor * u * p[n - 1, n - 1]
        p[n, n - 1] = np.sqrt(2 * n + 1) * t * p[n - 1, n - 1]
        for m in range(n - 1):
            a = np.sqrt((2 * n - 1) * (2 * n + 1) / ((n - m) * (n + m)))
            b = np.sqrt((2 * n + 1) * (n + m - 1) * (n - m - 1) / ((n - m) * (n + m) * (2 * n - 3)))
            p[n, m] = a * t * p[n - 1, m] - b * p[n - 2, m]
    return p


def potential(lat, lon, r, c, s):
    p = legendre(np.sin(lat), DEGREE)
    ratio = 6378136.3 / r
    total = np.zeros_like(lat)
    for n in range(2, DEGREE + 1):
        inner = np.zeros_like(lat)
        for m in range(n + 1):
            inner += (c[n, m] * np.cos(m * lon) + s[n, m] * np.sin(m * lon)) * p[n, m]
        total += ratio**n * inner
    return 3.986004415e14 / r * (1 + total)


def run(size, rounds):
    rng = np.random.default_rng(64)
    lat = np.radians(rng.uniform(-89, 89, size))
    lon = np.radians(rng.uniform(-180, 180, size))
    r = 6378136.3 + 1000 * rng.random(size)
    c, s = 1e-6 * rng.standard_normal((2, DEGREE + 1, DEGREE + 1))
    for _ in range(rounds):
        v = potential(lat, lon, r, c, s)
        height = (v - v.mean()) / 9.80665
    return v, height.max()


def by_hand(njit):
    @njit
    def at_point(t, lon, ratio, c, s, p):
        u = np.sqrt(1 - t**2)
        p[0, 0] = 1.0
        for n in range(1, DEGREE + 1):
            factor = np.sqrt(3.0) if n == 1 else np.sqrt((2 * n + 1) / (2 * n))
            p[n, n] = factor * u * p[n - 1, n - 1]
            p[n, n - 1] = np.sqrt(2 * n + 1) * t * p[n - 1, n - 1]
            for m in range(n - 1):
                a = np.sqrt((2 * n - 1) * (2 * n + 1) / ((n - m) * (n + m)))
                b = np.sqrt((2 * n + 1) * (n + m - 1) * (n - m - 1) / ((n - m) * (n + m) * (2 * n - 3)))
                p[n, m] = a * t * p[n - 1, m] - b * p[n - 2, m]
        total = 0.0
        for n in range(2, DEGREE + 1):
            inner = 0.0
            for m in range(n + 1):
                inner += (c[n, m] * np.cos(m * lon) + s[n, m] * np.sin(m * lon)) * p[n, m]
            total += ratio**n * inner
        return total

    @njit
    def field(lat, lon, r, c, s):
        out = np.empty(lat.size)
        p = np.empty((DEGREE + 1, DEGREE + 1))
        for i in range(lat.size):
            total = at_point(np.sin(lat[i]), lon[i], 6378136.3 / r[i], c, s, p)
            out[i] = 3.986004415e14 / r[i] * (1 + total)
        return out

    return {"potential": field}
