"""Geodesy: geographic to geocentric coordinates and back by Bowring, local axes, visible satellites."""

import numpy as np

SIZES = (8, 800, 80_000)  # points

a = 6378137.0
f = 1 / 298.257223563
b = a * (1 - f)
e2 = f * (2 - f)
ep2 = e2 / (1 - e2)


def to_geocentric(lat, lon, h):
    n = a / np.sqrt(1 - e2 * np.sin(lat) ** 2)
    x = (n + h) * np.cos(lat) * np.cos(lon)
    y = (n + h) * np.cos(lat) * np.sin(lon)
    z = (n * (1 - e2) + h) * np.sin(lat)
    return x, y, z


def to_geographic(x, y, z):
    p = np.hypot(x, y)
    theta = np.arctan2(z * a, p * b)
    lat = np.arctan2(z + ep2 * b * np.sin(theta) ** 3, p - e2 * a * np.cos(theta) ** 3)
    lon = np.arctan2(y, x)
    n = a / np.sqrt(1 - e2 * np.sin(lat) ** 2)
    return lat, lon, p / np.cos(lat) - n


def local(lat, lon, x, y, z, at):
    x0, y0, z0 = to_geocentric(lat, lon, at)
    dx, dy, dz = x - x0, y - y0, z - z0
    east = -np.sin(lon) * dx + np.cos(lon) * dy
    north = -np.sin(lat) * np.cos(lon) * dx - np.sin(lat) * np.sin(lon) * dy + np.cos(lat) * dz
    up = np.cos(lat) * np.cos(lon) * dx + np.cos(lat) * np.sin(lon) * dy + np.sin(lat) * dz
    return east, north, up


def run(size, rounds):
    rng = np.random.default_rng(60)
    lat = np.radians(rng.uniform(-80, 80, size))
    lon = np.radians(rng.uniform(-180, 180, size))
    h = rng.uniform(0, 4000, size)
    satellite = (15e6, 10e6, 19e6)
    for _ in range(rounds):
        x, y, z = to_geocentric(lat, lon, h)
        back = to_geographic(x, y, z)
        east, north, up = local(lat, lon, *satellite, h)
        elevation = np.degrees(np.arctan2(up, np.hypot(east, north)))
        azimuth = np.degrees(np.arctan2(east, north)) % 360
        visible = elevation > 10
        error = np.abs(back[0] - lat).max()
    return x, y, z, elevation, azimuth, visible, error
