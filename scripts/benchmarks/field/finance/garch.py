"""Finance: likelihoods of GARCH(1,1) for many sets of parameters at once, day by day."""

import numpy as np

SIZES = (5, 200, 10_000)  # sets of parameters; 250 days


class Garch:
    def __init__(self, omega, alpha, beta):
        self.omega = omega
        self.alpha = alpha
        self.beta = beta

    @property
    def persistence(self):
        return self.alpha + self.beta

    def unconditional(self):
        return self.omega / (1 - self.persistence)

    def log_likelihood(self, returns):
        variance = self.unconditional()
        total = np.zeros_like(variance)
        for r in returns:
            total -= 0.5 * (np.log(2 * np.pi) + np.log(variance) + r**2 / variance)
            variance = self.omega + self.alpha * r**2 + self.beta * variance
        return total


def run(size, rounds):
    rng = np.random.default_rng(11)
    returns = 0.01 * rng.standard_normal(250)
    for _ in range(rounds):
        alpha = np.linspace(0.02, 0.15, size)
        beta = np.linspace(0.7, 0.84, size)
        model = Garch(1e-6 * (1 + np.arange(size) % 5), alpha, beta)
        value = model.log_likelihood(returns)
        best = int(np.argmax(value))
    return value, best


def by_numexpr(numexpr):
    def log_likelihood(self, returns):
        omega, alpha, beta = self.omega, self.alpha, self.beta
        variance = self.unconditional()
        total = np.zeros_like(variance)
        for r in returns:
            numexpr.evaluate(
                "total - 0.5 * (log(6.283185307179586) + log(variance) + r**2 / variance)", out=total
            )
            variance = numexpr.evaluate("omega + alpha * r**2 + beta * variance")
        return total

    Garch.log_likelihood = log_likelihood
    return {}
