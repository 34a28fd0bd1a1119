"""Signals: many adaptive filters (normalised LMS) in step, one sample after another."""

import numpy as np

SIZES = (2, 64, 4_096)  # channels of 16 taps; 60 samples


class Canceller:
    def __init__(self, channels, taps=16, rate=0.5, leak=1e-4):
        self.w = np.zeros((channels, taps))
        self.line = np.zeros((channels, taps))
        self.rate = rate
        self.leak = leak

    def step(self, reference, wanted):
        self.line = np.roll(self.line, 1, axis=1)
        self.line[:, 0] = reference
        estimate = (self.w * self.line).sum(axis=1)
        error = wanted - estimate
        power = (self.line**2).sum(axis=1) + 1e-6
        self.w *= 1 - self.leak
        self.w += self.rate * (error / power)[:, None] * self.line
        return error


def run(size, rounds):
    rng = np.random.default_rng(104)
    reference = rng.standard_normal((60, size))
    wanted = 0.7 * np.roll(reference, 2, axis=0) + 0.05 * rng.standard_normal((60, size))
    for _ in range(rounds):
        canceller = Canceller(size)
        errors = np.zeros(60)
        for k in range(60):
            e = canceller.step(reference[k], wanted[k])
            errors[k] = np.sqrt((e * e).mean())
    return canceller.w, errors
