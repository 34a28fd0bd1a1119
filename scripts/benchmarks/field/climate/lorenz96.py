"""Climate: an ensemble of the Lorenz (1996) model with Runge–Kutta steps, and its spread."""

import numpy as np

SIZES = (2, 50, 2_000)  # members of 40 variables each

FORCING = 8.0


def tendency(x):
    return (np.roll(x, -1, axis=-1) - np.roll(x, 2, axis=-1)) * np.roll(x, 1, axis=-1) - x + FORCING


def rk4(x, dt):
    k1 = tendency(x)
    k2 = tendency(x + 0.5 * dt * k1)
    k3 = tendency(x + 0.5 * dt * k2)
    k4 = tendency(x + dt * k3)
    return x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def run(size, rounds):
    rng = np.random.default_rng(2)
    x = FORCING + 0.01 * rng.standard_normal((size, 40))
    spread = []
    for _ in range(rounds):
        for _ in range(5):
            x = rk4(x, 0.01)
        spread.append(x.std(axis=0).mean())
    return x, np.array(spread)


def by_hand(njit):
    @njit
    def rate(x, out):
        for m in range(x.shape[0]):
            for k in range(40):
                out[m, k] = (x[m, (k + 1) % 40] - x[m, k - 2]) * x[m, k - 1] - x[m, k] + FORCING

    @njit
    def forward(x, k, factor, out):
        for m in range(x.shape[0]):
            for i in range(40):
                out[m, i] = x[m, i] + factor * k[m, i]

    @njit
    def combine(x, dt, k1, k2, k3, k4):
        for m in range(x.shape[0]):
            for i in range(40):
                x[m, i] += dt / 6 * (k1[m, i] + 2 * k2[m, i] + 2 * k3[m, i] + k4[m, i])

    def by_loops(size, rounds):
        rng = np.random.default_rng(2)
        x = FORCING + 0.01 * rng.standard_normal((size, 40))
        k1, k2, k3, k4, y = (np.empty_like(x) for _ in range(5))
        spread = []
        for _ in range(rounds):
            for _ in range(5):
                rate(x, k1)
                forward(x, k1, 0.005, y)
                rate(y, k2)
                forward(x, k2, 0.005, y)
                rate(y, k3)
                forward(x, k3, 0.01, y)
                rate(y, k4)
                combine(x, 0.01, k1, k2, k3, k4)
            spread.append(x.std(axis=0).mean())
        return x, np.array(spread)

    return {"run": by_loops}
