"""Signals: a low pass of windowed sinc taps, applied as shifted sums, and every fourth sample kept."""

import numpy as np

SIZES = (100, 10_000, 1_000_000)  # samples


def taps(cutoff, count):
    m = np.arange(count) - (count - 1) / 2
    h = np.sinc(2 * cutoff * m) * np.hamming(count)
    return h / h.sum()


def apply(signal, h):
    n = len(signal) - len(h) + 1
    out = np.zeros(n)
    for k in range(len(h)):
        out += h[len(h) - 1 - k] * signal[k : k + n]
    return out


def decibels(power):
    return 10 * np.log10(np.maximum(power, 1e-20))


def run(size, rounds):
    t = np.arange(size) / 8000.0
    noise = np.random.default_rng(25).standard_normal(size)
    signal = np.sin(2 * np.pi * 440 * t) + 0.3 * noise
    h = taps(0.1, 21)
    for _ in range(rounds):
        low = apply(signal, h)
        fewer = low[::4]
        level = decibels(np.mean(fewer**2))
    return low, fewer.copy(), level


def by_hand(njit):
    @njit
    def convolve(signal, h, out):
        n = out.size
        for i in range(n):
            total = 0.0
            for k in range(h.size):
                total += h[h.size - 1 - k] * signal[i + k]
            out[i] = total

    def by_loops(size, rounds):
        t = np.arange(size) / 8000.0
        noise = np.random.default_rng(25).standard_normal(size)
        signal = np.sin(2 * np.pi * 440 * t) + 0.3 * noise
        h = taps(0.1, 21)
        for _ in range(rounds):
            low = np.empty(size - 20)
            convolve(signal, h, low)
            fewer = low[::4]
            level = decibels(np.mean(fewer**2))
        return low, fewer.copy(), level

    return {"run": by_loops}


def by_numexpr(numexpr):
    def shifted_sums(signal, h):
        n = len(signal) - len(h) + 1
        names = {f"x{k}": signal[k : k + n] for k in range(len(h))}
        weights = {f"h{k}": h[len(h) - 1 - k] for k in range(len(h))}
        return numexpr.evaluate(" + ".join(f"h{k} * x{k}" for k in range(len(h))), names | weights)

    return {"apply": shifted_sums}
