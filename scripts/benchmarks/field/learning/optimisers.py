"""Learning: five optimisers on a valley of many dimensions (Rosenbrock), each a class with its state."""

import numpy as np

SIZES = (4, 400, 100_000)  # dimensions


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def gradient(x):
    g = np.zeros_like(x)
    inner = x[1:] - x[:-1] ** 2
    g[:-1] = -400.0 * x[:-1] * inner - 2 * (1 - x[:-1])
    g[1:] += 200.0 * inner
    return g


class Descent:
    def __init__(self, rate):
        self.rate = rate

    def update(self, x, grad):
        return x - self.rate * grad


class Momentum(Descent):
    def __init__(self, rate, beta=0.9):
        super().__init__(rate)
        self.beta = beta
        self.velocity = 0.0

    def update(self, x, grad):
        self.velocity = self.beta * self.velocity - self.rate * grad
        return x + self.velocity


class AdaGrad(Descent):
    def __init__(self, rate):
        super().__init__(rate)
        self.total = 0.0

    def update(self, x, grad):
        self.total = self.total + grad**2
        return x - self.rate * grad / (np.sqrt(self.total) + 1e-8)


class RmsProp(Descent):
    def __init__(self, rate, decay=0.9):
        super().__init__(rate)
        self.decay = decay
        self.mean = 0.0

    def update(self, x, grad):
        self.mean = self.decay * self.mean + (1 - self.decay) * grad**2
        return x - self.rate * grad / np.sqrt(self.mean + 1e-8)


class Adam(Descent):
    def __init__(self, rate):
        super().__init__(rate)
        self.state = {"m": 0.0, "v": 0.0, "t": 0}

    def update(self, x, grad):
        s = self.state
        s["t"] += 1
        s["m"] = 0.9 * s["m"] + 0.1 * grad
        s["v"] = 0.999 * s["v"] + 0.001 * grad**2
        m = s["m"] / (1 - 0.9 ** s["t"])
        v = s["v"] / (1 - 0.999 ** s["t"])
        return x - self.rate * m / (np.sqrt(v) + 1e-8)


def run(size, rounds):
    start = np.tile([-1.2, 1.0], size // 2)
    for _ in range(rounds):
        values = []
        for optimiser in (Descent(1e-4), Momentum(1e-5), AdaGrad(0.05), RmsProp(0.01), Adam(0.02)):
            x = start
            for _ in range(20):
                x = optimiser.update(x, gradient(x))
            values.append(rosenbrock(x))
    return x, np.array(values)
