"""Climate: growing degree days, dry spells and heat waves from daily stations, float32 with missing values."""

import numpy as np

SIZES = (3, 100, 3_000)  # stations with a year of days


def make(stations):
    rng = np.random.default_rng(4)
    day = np.arange(365, dtype=np.float32)
    season = 12 - 10 * np.cos(2 * np.pi * day / 365).astype(np.float32)
    high = season + 5 + rng.normal(0, 3, (stations, 365)).astype(np.float32)
    low = season - 5 + rng.normal(0, 3, (stations, 365)).astype(np.float32)
    rain = np.maximum(rng.normal(-2, 6, (stations, 365)), 0).astype(np.float32)
    high[rng.random(high.shape) < 0.01] = np.nan
    return high, low, rain


def fill(values):
    missing = np.isnan(values)
    mean = np.nanmean(values, axis=1, keepdims=True)
    return np.where(missing, mean, values)


def degree_days(high, low, base=10.0, ceiling=30.0):
    mean = (np.minimum(high, ceiling) + np.maximum(low, base)) / 2
    return np.maximum(mean - base, 0).sum(axis=1)


def longest_spell(flags):
    longest = np.zeros(flags.shape[0], dtype=np.int64)
    current = np.zeros(flags.shape[0], dtype=np.int64)
    for day in range(flags.shape[1]):
        current = np.where(flags[:, day], current + 1, 0)
        longest = np.maximum(longest, current)
    return longest


def run(size, rounds):
    high, low, rain = make(size)
    for _ in range(rounds):
        filled = fill(high)
        grown = degree_days(filled, low)
        dry = longest_spell(rain < 1.0)
        hot = longest_spell(filled > 25.0)
        anomaly = (filled - filled.mean(axis=0)) / filled.std(axis=0)
    return grown, dry, hot, anomaly
