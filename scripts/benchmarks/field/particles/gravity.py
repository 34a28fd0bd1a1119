"""N bodies: gravity between all pairs, leapfrog, energies."""

import numpy as np

SIZES = (5, 50, 500)  # bodies


class Cluster:
    def __init__(self, n, softening=0.05, seed=30):
        rng = np.random.default_rng(seed)
        self.mass = np.ones(n) / n
        self.pos = rng.standard_normal((n, 3))
        self.vel = 0.3 * rng.standard_normal((n, 3))
        self.softening = softening
        self.acc = self.acceleration()

    def acceleration(self):
        x, y, z = self.pos[:, 0:1], self.pos[:, 1:2], self.pos[:, 2:3]
        dx, dy, dz = x.T - x, y.T - y, z.T - z
        inverse = (dx**2 + dy**2 + dz**2 + self.softening**2) ** -1.5
        ax = (dx * inverse) @ self.mass
        ay = (dy * inverse) @ self.mass
        az = (dz * inverse) @ self.mass
        return np.stack((ax, ay, az), axis=1)

    def step(self, dt):
        self.vel += self.acc * dt / 2.0
        self.pos += self.vel * dt
        self.acc = self.acceleration()
        self.vel += self.acc * dt / 2.0

    def energy(self):
        kinetic = 0.5 * np.sum(self.mass[:, None] * self.vel**2)
        d = self.pos[:, None, :] - self.pos[None, :, :]
        r = np.sqrt((d**2).sum(axis=-1) + self.softening**2)
        pairs = np.outer(self.mass, self.mass) / r
        return kinetic - 0.5 * (pairs.sum() - np.trace(pairs))


def run(size, rounds):
    for _ in range(rounds):
        cluster = Cluster(size)
        for _ in range(5):
            cluster.step(0.01)
        energy = cluster.energy()
    return cluster.pos, cluster.vel, energy


def by_hand(njit):
    @njit
    def accelerate(pos, mass, softening, acc):
        n = pos.shape[0]
        for i in range(n):
            ax = ay = az = 0.0
            for j in range(n):
                dx, dy, dz = pos[j, 0] - pos[i, 0], pos[j, 1] - pos[i, 1], pos[j, 2] - pos[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + softening**2
                w = mass[j] / (r2 * np.sqrt(r2))
                ax += dx * w
                ay += dy * w
                az += dz * w
            acc[i, 0], acc[i, 1], acc[i, 2] = ax, ay, az

    @njit
    def energy_of(pos, vel, mass, softening):
        total = 0.0
        for i in range(pos.shape[0]):
            total += 0.5 * mass[i] * (vel[i] ** 2).sum()
            for j in range(i):
                r2 = ((pos[i] - pos[j]) ** 2).sum() + softening**2
                total -= mass[i] * mass[j] / np.sqrt(r2)
        return total

    def by_loops(size, rounds):
        for _ in range(rounds):
            c = Cluster(size)
            for _ in range(5):
                c.vel += c.acc * 0.005
                c.pos += c.vel * 0.01
                accelerate(c.pos, c.mass, c.softening, c.acc)
                c.vel += c.acc * 0.005
            energy = energy_of(c.pos, c.vel, c.mass, c.softening)
        return c.pos, c.vel, energy

    return {"run": by_loops}
