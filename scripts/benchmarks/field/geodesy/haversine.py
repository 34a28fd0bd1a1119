"""Geodesy: distances and bearings along a track of positions in degrees, and the legs that are too fast."""

import numpy as np

SIZES = (10, 1_000, 100_000, 1_000_000)  # positions

RADIUS = 6_371_008.8


def haversine(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = map(np.radians, (lat1, lon1, lat2, lon2))
    dlat = lat2 - lat1
    dlon = lon2 - lon1
    a = np.sin(dlat / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin(dlon / 2) ** 2
    return 2 * RADIUS * np.arcsin(np.sqrt(a))


def bearing(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = map(np.deg2rad, (lat1, lon1, lat2, lon2))
    dlon = lon2 - lon1
    y = np.sin(dlon) * np.cos(lat2)
    x = np.cos(lat1) * np.sin(lat2) - np.sin(lat1) * np.cos(lat2) * np.cos(dlon)
    return (np.degrees(np.arctan2(y, x)) + 360) % 360


def run(size, rounds):
    rng = np.random.default_rng(58)
    lat = 48 + np.cumsum(rng.normal(0, 1e-4, size))
    lon = 11 + np.cumsum(rng.normal(0, 1e-4, size))
    seconds = np.cumsum(rng.integers(1, 5, size)).astype(float)
    for _ in range(rounds):
        d = haversine(lat[:-1], lon[:-1], lat[1:], lon[1:])
        b = bearing(lat[:-1], lon[:-1], lat[1:], lon[1:])
        speed = d / np.diff(seconds)
        fast = speed > 3 * np.median(speed)
        turn = np.abs((np.diff(b) + 180) % 360 - 180)
        length = d[~fast].sum()
    return d, b, turn, length


def by_hand(njit):
    @njit
    def legs(lat, lon, d, b):
        for i in range(lat.size - 1):
            a1, o1, a2, o2 = (
                np.radians(lat[i]),
                np.radians(lon[i]),
                np.radians(lat[i + 1]),
                np.radians(lon[i + 1]),
            )
            dlon = o2 - o1
            a = np.sin((a2 - a1) / 2) ** 2 + np.cos(a1) * np.cos(a2) * np.sin(dlon / 2) ** 2
            d[i] = 2 * 6_371_008.8 * np.arcsin(np.sqrt(a))
            y = np.sin(dlon) * np.cos(a2)
            x = np.cos(a1) * np.sin(a2) - np.sin(a1) * np.cos(a2) * np.cos(dlon)
            b[i] = (np.degrees(np.arctan2(y, x)) + 360) % 360

    def by_loops(size, rounds):
        rng = np.random.default_rng(58)
        lat = 48 + np.cumsum(rng.normal(0, 1e-4, size))
        lon = 11 + np.cumsum(rng.normal(0, 1e-4, size))
        seconds = np.cumsum(rng.integers(1, 5, size)).astype(float)
        for _ in range(rounds):
            d, b = np.empty(size - 1), np.empty(size - 1)
            legs(lat, lon, d, b)
            speed = d / np.diff(seconds)
            fast = speed > 3 * np.median(speed)
            turn = np.abs((np.diff(b) + 180) % 360 - 180)
            length = d[~fast].sum()
        return d, b, turn, length

    return {"run": by_loops}


def by_numexpr(numexpr):
    def distance(lat1, lon1, lat2, lon2):
        k = np.pi / 180
        return numexpr.evaluate(
            "12742017.6 * arcsin(sqrt(sin((lat2 - lat1) * k / 2) ** 2"
            " + cos(lat1 * k) * cos(lat2 * k) * sin((lon2 - lon1) * k / 2) ** 2))"
        )

    def direction(lat1, lon1, lat2, lon2):
        lat1, lat2, d = np.radians(lat1), np.radians(lat2), np.radians(lon2) - np.radians(lon1)
        turn = 180 / np.pi
        return numexpr.evaluate(
            "(arctan2(sin(d) * cos(lat2), cos(lat1) * sin(lat2) - sin(lat1) * cos(lat2) * cos(d)) * turn + 360) % 360"
        )

    return {"haversine": distance, "bearing": direction}
