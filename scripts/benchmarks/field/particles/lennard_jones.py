"""N bodies: a fluid of Lennard-Jones particles in a periodic box, velocity Verlet and a thermostat."""

import numpy as np

SIZES = (9, 49, 400)  # particles in a plane


def minimum_image(d, box):
    return d - box * np.round(d / box)


def forces(pos, box, cutoff=2.5):
    d = minimum_image(pos[:, None, :] - pos[None, :, :], box)
    r2 = (d**2).sum(axis=-1)
    np.fill_diagonal(r2, np.inf)
    near = r2 < cutoff**2
    s6 = np.where(near, 1.0 / r2**3, 0.0)
    strength = 24 * (2 * s6**2 - s6) / r2
    force = (strength[:, :, None] * d).sum(axis=1)
    energy = 2 * (s6**2 - s6).sum()
    virial = 0.5 * (strength * np.where(near, r2, 0.0)).sum()
    return force, energy, virial


def rescale(vel, wanted):
    current = (vel**2).mean()
    return vel * np.sqrt(1 + 0.1 * (wanted / current - 1))


def run(size, rounds):
    side = int(round(size**0.5))
    box = 1.2 * side
    grid = 1.2 * (np.arange(side) + 0.5)
    start = np.array([(x, y) for x in grid for y in grid])
    first = np.random.default_rng(31).standard_normal(start.shape)
    dt = 0.004
    for _ in range(rounds):
        pos, vel = start.copy(), first - first.mean(axis=0)
        force, energy, virial = forces(pos, box)
        for _ in range(10):
            vel += 0.5 * dt * force
            pos = (pos + dt * vel) % box
            force, energy, virial = forces(pos, box)
            vel += 0.5 * dt * force
            vel = rescale(vel, 1.0)
        pressure = (side**2 * (vel**2).mean() + virial) / box**2
    return pos, vel, energy, pressure
