"""Signals: a spectrogram by windows and FFT, in decibels, with noise taken off."""

import numpy as np

SIZES = (512, 16_384, 524_288)  # samples


def frames(signal, length, hop):
    count = 1 + (len(signal) - length) // hop
    index = np.arange(length)[None, :] + hop * np.arange(count)[:, None]
    return signal[index]


def mel(f):
    return 2595 * np.log10(1 + f / 700)


def spectrogram(signal, length=256, hop=128):
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)
    parts = frames(signal, length, hop)
    parts = parts - parts.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(parts * window, axis=1)
    power = np.abs(spectrum) ** 2 / (window**2).sum()
    power[:, 1:-1] *= 2
    return power


def run(size, rounds):
    t = np.arange(size) / 16_000.0
    rng = np.random.default_rng(27)
    signal = np.sin(2 * np.pi * (500 + 800 * t) * t) + 0.1 * rng.standard_normal(size)
    for _ in range(rounds):
        power = spectrogram(signal)
        db = 10 * np.log10(power + 1e-12)
        floor = np.percentile(db, 20, axis=0)
        clean = np.where(db > floor + 6, db - floor, 0.0)
        frequency = np.fft.rfftfreq(256, 1 / 16_000.0)
        centroid = (power * mel(frequency)).sum(axis=1) / power.sum(axis=1)
    return clean, centroid
