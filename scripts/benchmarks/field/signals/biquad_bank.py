"""Signals: a bank of resonators of second order, one sample after another over many channels."""

import numpy as np

SIZES = (8, 256, 8_192)  # channels; 100 samples


class Biquad:
    def __init__(self, frequency, q, rate):
        w = 2 * np.pi * frequency / rate
        alpha = np.sin(w) / (2 * q)
        a0 = 1 + alpha
        self.b0 = alpha / a0
        self.b2 = -alpha / a0
        self.a1 = -2 * np.cos(w) / a0
        self.a2 = (1 - alpha) / a0
        self.z1 = np.zeros_like(frequency)
        self.z2 = np.zeros_like(frequency)

    def process(self, x):
        y = self.b0 * x + self.z1
        self.z1 = self.z2 - self.a1 * y
        self.z2 = self.b2 * x - self.a2 * y
        return y


def run(size, rounds):
    samples = np.random.default_rng(26).standard_normal(100)
    frequency = np.geomspace(50.0, 4000.0, size)
    for _ in range(rounds):
        bank = Biquad(frequency, 8.0, 16000.0)
        energy = np.zeros(size)
        for x in samples:
            y = bank.process(x)
            energy += y * y
        loudest = int(np.argmax(energy))
    return energy, loudest


def by_hand(njit):
    @njit
    def process(samples, b0, b2, a1, a2, energy):
        for c in range(b0.size):
            z1 = z2 = total = 0.0
            for k in range(samples.size):
                x = samples[k]
                y = b0[c] * x + z1
                z1 = z2 - a1[c] * y
                z2 = b2[c] * x - a2[c] * y
                total += y * y
            energy[c] = total

    def by_loops(size, rounds):
        samples = np.random.default_rng(26).standard_normal(100)
        frequency = np.geomspace(50.0, 4000.0, size)
        for _ in range(rounds):
            bank = Biquad(frequency, 8.0, 16000.0)
            energy = np.zeros(size)
            process(samples, bank.b0, bank.b2, bank.a1, bank.a2, energy)
            loudest = int(np.argmax(energy))
        return energy, loudest

    return {"run": by_loops}


def by_numexpr(numexpr):
    def process(self, x):
        b0, b2, a1, a2, z1, z2 = self.b0, self.b2, self.a1, self.a2, self.z1, self.z2
        y = numexpr.evaluate("b0 * x + z1")
        self.z1 = numexpr.evaluate("z2 - a1 * y")
        self.z2 = numexpr.evaluate("b2 * x - a2 * y")
        return y

    Biquad.process = process
    return {}
