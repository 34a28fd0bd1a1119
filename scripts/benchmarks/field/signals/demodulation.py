"""Signals: a carrier mixed down with complex numbers, amplitude and frequency read from it."""

import numpy as np

SIZES = (64, 10_000, 1_000_000)  # samples

rate = 48_000.0


class Receiver:
    def __init__(self, carrier, smooth=8):
        self.carrier = carrier
        self.smooth = smooth

    def mix(self, signal, t):
        return signal * np.exp(-2j * np.pi * self.carrier * t)

    def low_pass(self, z):
        total = np.cumsum(z)
        out = total.copy()
        out[self.smooth :] = total[self.smooth :] - total[: -self.smooth]
        return out / self.smooth

    def envelope(self, z):
        return 2 * np.abs(z)

    def frequency(self, z):
        turned = z[1:] * np.conj(z[:-1])
        return np.angle(turned) * rate / (2 * np.pi)


def run(size, rounds):
    t = np.arange(size) / rate
    message = np.sin(2 * np.pi * 300 * t)
    signal = (1 + 0.5 * message) * np.cos(2 * np.pi * 12_000 * t)
    receiver = Receiver(12_000.0)
    for _ in range(rounds):
        base = receiver.low_pass(receiver.mix(signal, t))
        amplitude = receiver.envelope(base)
        drift = receiver.frequency(base)
        power = (base.real**2 + base.imag**2).mean()
    return amplitude, drift, power
