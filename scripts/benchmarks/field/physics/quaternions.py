"""Physics: bodies that tumble, orientations as quaternions, rows of four numbers."""

import numpy as np

SIZES = (3, 300, 30_000)  # bodies


def multiply(p, q):
    w0, x0, y0, z0 = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
    w1, x1, y1, z1 = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    return np.stack(
        [
            w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1,
            w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1,
            w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1,
            w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1,
        ],
        axis=-1,
    )


def rotate(q, v):
    t = 2 * np.cross(q[..., 1:], v)
    return v + q[..., :1] * t + np.cross(q[..., 1:], t)


class Bodies:
    def __init__(self, n):
        rng = np.random.default_rng(66)
        self.q = np.zeros((n, 4))
        self.q[:, 0] = 1
        self.w = rng.standard_normal((n, 3))
        self.inertia = np.array([1.0, 2.0, 3.0])

    def step(self, dt):
        torque = -np.cross(self.w, self.inertia * self.w)
        self.w = self.w + dt * torque / self.inertia
        spin = np.concatenate([np.zeros((len(self.w), 1)), self.w], axis=1)
        self.q = self.q + 0.5 * dt * multiply(self.q, spin)
        self.q /= np.linalg.norm(self.q, axis=1, keepdims=True)

    def energy(self):
        return 0.5 * (self.inertia * self.w**2).sum(axis=1)


def run(size, rounds):
    axis = np.array([0.0, 0.0, 1.0])
    for _ in range(rounds):
        bodies = Bodies(size)
        for _ in range(8):
            bodies.step(0.01)
        pointing = rotate(bodies.q, np.broadcast_to(axis, (size, 3)))
        energy = bodies.energy()
    return bodies.q, pointing, energy
