"""Bioinformatics: reads trimmed and filtered by their qualities in bytes, profiles along the read."""

import numpy as np

SIZES = (5, 500, 50_000)  # reads of 100 letters


def error_probability(quality):
    return 10.0 ** (-quality.astype(np.float32) / 10)


def trim_end(quality, threshold=20):
    drop = np.cumsum(threshold - quality[:, ::-1].astype(np.int16), axis=1)
    best = drop.argmax(axis=1)
    return np.where(drop.max(axis=1) > 0, quality.shape[1] - best - 1, quality.shape[1])


def sliding_mean(quality, window=4):
    total = np.cumsum(quality, axis=1, dtype=np.int32)
    inner = total[:, window:] - total[:, :-window]
    return inner / window


def run(size, rounds):
    rng = np.random.default_rng(108)
    fall = 40 - 20 * (np.arange(100) / 100) ** 2
    quality = np.clip(fall + rng.normal(0, 5, (size, 100)), 2, 41).astype(np.uint8)
    letters = rng.integers(0, 4, (size, 100), dtype=np.uint8)
    for _ in range(rounds):
        end = trim_end(quality)
        kept = np.arange(100)[None, :] < end[:, None]
        expected = np.where(kept, error_probability(quality), np.float32(0)).sum(axis=1)
        worst = sliding_mean(quality).min(axis=1)
        good = (expected < 1.0) & (worst > 15) & (end > 30)
        masked = np.where(quality < 15, 4, letters)
        gc = ((masked == 1) | (masked == 2)) & kept
        content = gc.sum(axis=1) / np.maximum(kept.sum(axis=1), 1)
        profile = np.array(
            [(masked[good] == k).mean(axis=0) if good.any() else np.zeros(100) for k in range(5)]
        )
    return end, expected, good, content, profile
