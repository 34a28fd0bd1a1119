"""N bodies: charged particles in a magnetic bottle, by the push of Boris."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # particles


class Bottle:
    def __init__(self, b0=1.0, length=5.0):
        self.b0 = b0
        self.length = length

    def field(self, x):
        z = x[2] / self.length
        bz = self.b0 * (1 + z**2)
        slope = self.b0 * z / self.length
        return np.stack([-x[0] * slope, -x[1] * slope, bz])


def cross(a, b):
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def push(x, v, bottle, electric, dt, charge=1.0, mass=1.0):
    half = charge * dt / (2 * mass)
    minus = v + half * electric[:, None]
    t = half * bottle.field(x)
    s = 2 * t / (1 + (t**2).sum(axis=0))
    prime = minus + cross(minus, t)
    plus = minus + cross(prime, s)
    v = plus + half * electric[:, None]
    return x + dt * v, v


def run(size, rounds):
    rng = np.random.default_rng(33)
    x0, v0 = rng.standard_normal((3, size)), rng.standard_normal((3, size))
    bottle = Bottle()
    electric = np.array([0.0, 0.01, 0.0])
    for _ in range(rounds):
        x, v = x0, v0
        for _ in range(10):
            x, v = push(x, v, bottle, electric, 0.05)
        energy = 0.5 * (v**2).sum(axis=0)
        trapped = np.abs(x[2]) < bottle.length
    return x, v, energy, trapped


def by_hand(njit):
    @njit
    def advance(x, v, b0, length, ey, dt, steps):
        for i in range(x.shape[1]):
            px, py, pz, vx, vy, vz = x[0, i], x[1, i], x[2, i], v[0, i], v[1, i], v[2, i]
            half = dt / 2
            for _ in range(steps):
                vy += half * ey
                z = pz / length
                slope = b0 * z / length
                tx, ty, tz = -half * px * slope, -half * py * slope, half * b0 * (1 + z**2)
                scale = 2 / (1 + tx * tx + ty * ty + tz * tz)
                ax, ay, az = vx + vy * tz - vz * ty, vy + vz * tx - vx * tz, vz + vx * ty - vy * tx
                vx, vy, vz = (
                    vx + scale * (ay * tz - az * ty),
                    vy + scale * (az * tx - ax * tz),
                    vz + scale * (ax * ty - ay * tx),
                )
                vy += half * ey
                px, py, pz = px + dt * vx, py + dt * vy, pz + dt * vz
            x[0, i], x[1, i], x[2, i], v[0, i], v[1, i], v[2, i] = px, py, pz, vx, vy, vz

    def by_loops(size, rounds):
        rng = np.random.default_rng(33)
        x0, v0 = rng.standard_normal((3, size)), rng.standard_normal((3, size))
        for _ in range(rounds):
            x, v = x0.copy(), v0.copy()
            advance(x, v, 1.0, 5.0, 0.01, 0.05, 10)
            energy = 0.5 * (v**2).sum(axis=0)
            trapped = np.abs(x[2]) < 5.0
        return x, v, energy, trapped

    return {"run": by_loops}
