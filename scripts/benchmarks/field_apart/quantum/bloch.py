"""Quantum: two-level systems driven by pulses, as pairs of complex amplitudes and as density matrices."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # systems


class Drive:
    def __init__(self, rabi, detuning, decay):
        self.rabi = rabi
        self.detuning = detuning
        self.decay = decay

    def propagate(self, up, down, dt):
        total = np.sqrt(abs(self.rabi) ** 2 + self.detuning**2)
        c, s = np.cos(total * dt / 2), np.sin(total * dt / 2)
        z = self.detuning / total
        x = self.rabi / total
        new_up = (c - 1j * z * s) * up - 1j * x * s * down
        new_down = -1j * np.conj(x) * s * up + (c + 1j * z * s) * down
        return new_up, new_down

    def lindblad(self, rho, dt):
        p, q = rho["population"], rho["coherence"]
        dp = -np.imag(np.conj(self.rabi) * q) - self.decay * p
        dq = (1j * self.detuning - self.decay / 2) * q + 0.5j * self.rabi * (2 * p - 1)
        return {"population": p + dt * dp, "coherence": q + dt * dq}


def run(size, rounds):
    detuning = np.linspace(-3, 3, size)
    for number in range(rounds):
        drive = Drive(1.0 + 0.2j * (number % 3), detuning, 0.1)
        up, down = np.zeros(size, complex), np.ones(size, complex)
        rho = {"population": np.zeros(size), "coherence": np.zeros(size, complex)}
        for _ in range(8):
            up, down = drive.propagate(up, down, 0.1)
            rho = drive.lindblad(rho, 0.1)
        excited = up.real**2 + up.imag**2
        purity = rho["population"] ** 2 + (1 - rho["population"]) ** 2 + 2 * np.abs(rho["coherence"]) ** 2
    return up, down, excited, purity
