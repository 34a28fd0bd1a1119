"""Quantum: light behind slits summed from every point of the aperture, complex phases without an FFT."""

import numpy as np

SIZES = (20, 200, 1_500)  # points on the screen; 200 in the aperture


class Aperture:
    def __init__(self, points, width, slits):
        self.x = np.linspace(-width / 2, width / 2, points)
        self.open = np.zeros(points)
        for centre, half in slits:
            self.open[np.abs(self.x - centre) < half] = 1.0

    def field(self, screen, distance, wavelength):
        k = 2 * np.pi / wavelength
        dx = screen[:, None] - self.x[None, :]
        r = np.sqrt(distance**2 + dx**2)
        wave = self.open * np.exp(1j * k * (r - distance)) / r
        return wave.sum(axis=1) * (self.x[1] - self.x[0]) * distance


def run(size, rounds):
    aperture = Aperture(200, 2e-3, [(-4e-4, 1e-4), (4e-4, 1e-4)])
    screen = np.linspace(-5e-3, 5e-3, size)
    for number in range(rounds):
        wavelength = (450 + 50 * (number % 4)) * 1e-9
        field = aperture.field(screen, 1.0, wavelength)
        intensity = np.abs(field) ** 2
        intensity = intensity / intensity.max()
        contrast = (intensity.max() - intensity.min()) / (intensity.max() + intensity.min())
    return field, intensity, contrast


def by_numexpr(numexpr):
    def field(self, screen, distance, wavelength):
        k = 2j * np.pi / wavelength
        dx = screen[:, None] - self.x[None, :]
        r = numexpr.evaluate("sqrt(distance**2 + dx**2)")
        opened = self.open
        wave = numexpr.evaluate("opened * exp(k * (r - distance)) / r")
        return wave.sum(axis=1) * (self.x[1] - self.x[0]) * distance

    Aperture.field = field
    return {}
