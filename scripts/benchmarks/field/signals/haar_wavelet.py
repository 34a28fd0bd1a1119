"""Signals: denoising by Haar wavelets: down, soft thresholds, and up again."""

import numpy as np

SIZES = (64, 4_096, 1_048_576)  # samples, a power of two


def forward(x, levels):
    details = []
    for _ in range(levels):
        even, odd = x[0::2], x[1::2]
        details.append((even - odd) / np.sqrt(2))
        x = (even + odd) / np.sqrt(2)
    return x, details


def backward(x, details):
    for d in reversed(details):
        out = np.empty(2 * len(x))
        out[0::2] = (x + d) / np.sqrt(2)
        out[1::2] = (x - d) / np.sqrt(2)
        x = out
    return x


def soft(x, threshold):
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0)


def denoise(x, levels=5):
    smooth, details = forward(x, levels)
    sigma = np.median(np.abs(details[0])) / 0.6745
    threshold = sigma * np.sqrt(2 * np.log(len(x)))
    return backward(smooth, [soft(d, threshold) for d in details])


def run(size, rounds):
    t = np.linspace(0, 1, size)
    clean = np.sign(np.sin(4 * np.pi * t)) + t
    noisy = clean + 0.2 * np.random.default_rng(28).standard_normal(size)
    for _ in range(rounds):
        found = denoise(noisy)
        snr = 10 * np.log10((clean**2).sum() / ((found - clean) ** 2).sum())
    return found, snr
