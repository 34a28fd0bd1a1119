"""Physics: an absorption spectrum from Voigt lines by Humlíček's regions of complex numbers."""

import numpy as np

SIZES = (100, 2_000, 50_000)  # points of the spectrum; 20 lines


def faddeeva(x, y):
    """Humlíček (1982) for |x| + y above 5.5, and his second region below it."""
    t = y - 1j * x
    s = np.abs(x) + y
    outer = t * 0.5641896 / (0.5 + t * t)
    u = t * t
    inner = t * (1.410474 + u * 0.5641896) / (0.75 + u * (3.0 + u))
    return np.where(s > 15, outer, inner).real


class Lines:
    def __init__(self, count):
        rng = np.random.default_rng(68)
        self.centre = np.sort(rng.uniform(1000, 1010, count))
        self.strength = rng.gamma(1.0, 0.1, count)
        self.lorentz = rng.uniform(0.05, 0.1, count)
        self.doppler = 0.02

    def cross_section(self, nu, pressure):
        total = np.zeros_like(nu)
        scale = np.sqrt(np.log(2)) / self.doppler
        for centre, strength, width in zip(self.centre, self.strength, self.lorentz):
            x = scale * (nu - centre)
            y = scale * width * pressure
            total += strength * faddeeva(x, y) * scale / np.sqrt(np.pi)
        return total


def run(size, rounds):
    nu = np.linspace(999, 1011, size)
    lines = Lines(20)
    for number in range(rounds):
        sigma = lines.cross_section(nu, 1.0 + 0.1 * (number % 4))
        transmission = np.exp(-0.5 * sigma)
        depth = 1 - transmission.min()
    return sigma, transmission, depth
