"""Physics: many double pendulums by Runge–Kutta, and when they first turn over."""

import numpy as np

SIZES = (10, 500, 50_000)  # pendulums


class DoublePendulum:
    def __init__(self, m1=1.0, m2=1.0, l1=1.0, l2=1.0, g=9.81):
        self.m1, self.m2, self.l1, self.l2, self.g = m1, m2, l1, l2, g

    def derivative(self, state):
        th1, th2, w1, w2 = state
        d = th1 - th2
        m = self.m1 + self.m2
        den = 2 * self.m1 + self.m2 - self.m2 * np.cos(2 * d)
        a1 = (
            -self.g * (2 * self.m1 + self.m2) * np.sin(th1)
            - self.m2 * self.g * np.sin(th1 - 2 * th2)
            - 2 * np.sin(d) * self.m2 * (w2**2 * self.l2 + w1**2 * self.l1 * np.cos(d))
        ) / (self.l1 * den)
        a2 = (
            2
            * np.sin(d)
            * (w1**2 * self.l1 * m + self.g * m * np.cos(th1) + w2**2 * self.l2 * self.m2 * np.cos(d))
        ) / (self.l2 * den)
        return np.array([w1, w2, a1, a2])

    def rk4(self, state, dt):
        k1 = self.derivative(state)
        k2 = self.derivative(state + dt / 2 * k1)
        k3 = self.derivative(state + dt / 2 * k2)
        k4 = self.derivative(state + dt * k3)
        return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def run(size, rounds):
    pendulum = DoublePendulum()
    angles = np.linspace(0.5, 3.0, size)
    for _ in range(rounds):
        state = np.stack([angles, angles[::-1], np.zeros(size), np.zeros(size)])
        flipped = np.full(size, -1)
        for k in range(8):
            state = pendulum.rk4(state, 0.02)
            over = (np.abs(state[1]) > np.pi) & (flipped < 0)
            flipped[over] = k
    return state, flipped
