"""Finance: an Asian option by simulated paths with antithetic variates."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # paths


class GeometricBrownianMotion:
    def __init__(self, spot, rate, vol):
        self.spot = spot
        self.rate = rate
        self.vol = vol

    def drift(self, dt):
        return (self.rate - 0.5 * self.vol**2) * dt

    def step(self, s, z, dt):
        return s * np.exp(self.drift(dt) + self.vol * np.sqrt(dt) * z)


class AsianCall:
    def __init__(self, strike, expiry, dates):
        self.strike = strike
        self.expiry = expiry
        self.dates = dates

    def payoff(self, mean):
        return np.maximum(mean - self.strike, 0.0)


def simulate(model, option, normals):
    dt = option.expiry / option.dates
    up = np.full(normals.shape[1], model.spot)
    down = up.copy()
    total_up, total_down = np.zeros_like(up), np.zeros_like(up)
    for z in normals:
        up = model.step(up, z, dt)
        down = model.step(down, -z, dt)
        total_up += up
        total_down += down
    payoff = 0.5 * (option.payoff(total_up / option.dates) + option.payoff(total_down / option.dates))
    payoff *= np.exp(-model.rate * option.expiry)
    return payoff.mean(), payoff.std() / np.sqrt(len(payoff))


def run(size, rounds):
    normals = np.random.default_rng(9).standard_normal((12, size))
    for number in range(rounds):
        model = GeometricBrownianMotion(100.0, 0.05, 0.2 + 0.01 * (number % 4))
        value, error = simulate(model, AsianCall(100.0, 1.0, 12), normals)
    return value, error
