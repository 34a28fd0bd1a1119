"""Geodesy: the sun's height and direction for many places and hours, and daily radiation above the air."""

import numpy as np

SIZES = (4, 100, 5_000)  # places; 24 hours each


def julian_century(day):
    return (day - 36_525.0 + 0.5) / 36_525.0


def sun(day):
    t = julian_century(day)
    mean_long = (280.46646 + t * (36000.76983 + t * 0.0003032)) % 360
    anomaly = np.radians(357.52911 + t * (35999.05029 - 0.0001537 * t))
    ecc = 0.016708634 - t * (0.000042037 + 0.0000001267 * t)
    centre = (
        np.sin(anomaly) * (1.914602 - t * (0.004817 + 0.000014 * t))
        + np.sin(2 * anomaly) * (0.019993 - 0.000101 * t)
        + np.sin(3 * anomaly) * 0.000289
    )
    apparent = np.radians(mean_long + centre - 0.00569)
    obliquity = np.radians(23.4393 - 0.013 * t)
    declination = np.arcsin(np.sin(obliquity) * np.sin(apparent))
    y = np.tan(obliquity / 2) ** 2
    long = np.radians(mean_long)
    equation = 4 * np.degrees(
        y * np.sin(2 * long) - 2 * ecc * np.sin(anomaly) + 4 * ecc * y * np.sin(anomaly) * np.cos(2 * long)
    )
    return declination, equation


def altitude(lat, lon, hours, day):
    declination, equation = sun(day + hours / 24)
    solar = (hours * 60 + equation + 4 * lon) % 1440
    angle = np.radians(solar / 4 - 180)
    cosz = np.sin(lat) * np.sin(declination) + np.cos(lat) * np.cos(declination) * np.cos(angle)
    zenith = np.arccos(np.clip(cosz, -1, 1))
    azimuth = np.degrees(
        np.arctan2(np.sin(angle), np.cos(angle) * np.sin(lat) - np.tan(declination) * np.cos(lat))
    )
    return 90 - np.degrees(zenith), (azimuth + 180) % 360


def run(size, rounds):
    rng = np.random.default_rng(63)
    lat = np.radians(rng.uniform(-65, 65, size))[:, None]
    lon = rng.uniform(-180, 180, size)[:, None]
    hours = np.arange(24)
    for number in range(rounds):
        height, azimuth = altitude(lat, lon, hours, 44_000 + number % 365)
        up = height > 0
        radiation = np.where(up, 1361 * np.sin(np.radians(height)), 0.0).sum(axis=1)
        length = up.sum(axis=1)
    return height, azimuth, radiation, length
