"""Statistics: many Markov chains at once by Metropolis, on a curved density."""

import numpy as np

SIZES = (4, 200, 20_000)  # chains


class Banana:
    def __init__(self, b=0.1, scale=10.0):
        self.b = b
        self.scale = scale

    def log_density(self, x, y):
        bent = y + self.b * x**2 - self.b * self.scale
        return -0.5 * (x**2 / self.scale + bent**2)


class Metropolis:
    def __init__(self, target, step):
        self.target = target
        self.step = step
        self.accepted = 0
        self.tried = 0

    def advance(self, x, y, log_p, noise, uniform):
        xn = x + self.step * noise[0]
        yn = y + self.step * noise[1]
        new = self.target.log_density(xn, yn)
        accept = np.log(uniform) < new - log_p
        x = np.where(accept, xn, x)
        y = np.where(accept, yn, y)
        self.accepted += accept.sum()
        self.tried += accept.size
        return x, y, np.where(accept, new, log_p)


def run(size, rounds):
    rng = np.random.default_rng(22)
    noise = rng.standard_normal((50, 2, size))
    uniform = rng.random((50, size)) + 1e-12
    for _ in range(rounds):
        sampler = Metropolis(Banana(), 1.5)
        x, y = np.zeros(size), np.zeros(size)
        log_p = sampler.target.log_density(x, y)
        for k in range(50):
            x, y, log_p = sampler.advance(x, y, log_p, noise[k], uniform[k])
        rate = sampler.accepted / sampler.tried
    return x, y, rate


def by_numexpr(numexpr):
    def log_density(self, x, y):
        b, scale = self.b, self.scale
        return numexpr.evaluate("-0.5 * (x**2 / scale + (y + b * x**2 - b * scale) ** 2)")

    def advance(self, x, y, log_p, noise, uniform):
        step, nx, ny = self.step, noise[0], noise[1]
        xn = numexpr.evaluate("x + step * nx")
        yn = numexpr.evaluate("y + step * ny")
        new = self.target.log_density(xn, yn)
        accept = numexpr.evaluate("log(uniform) < new - log_p")
        self.accepted += accept.sum()
        self.tried += accept.size
        x = numexpr.evaluate("where(accept, xn, x)")
        y = numexpr.evaluate("where(accept, yn, y)")
        return x, y, numexpr.evaluate("where(accept, new, log_p)")

    Banana.log_density = log_density
    Metropolis.advance = advance
    return {}
