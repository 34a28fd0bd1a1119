"""Rotating phasors and their power."""

import numpy as np


def data(n):
    return (np.linspace(0.0, 20.0, n),)


def run(t):
    wave = np.exp(1j * t) * 0.5
    power = wave.real**2 + wave.imag**2
    return round(float(power.sum()), 6)
