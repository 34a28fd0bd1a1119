"""Bodies that attract each other, as arrays of positions."""

import numpy as np


def forces(places, masses):
    between = places[None, :, :] - places[:, None, :]
    squares = (between**2).sum(axis=2) + 0.01
    return (between * (masses[None, :, None] / squares[:, :, None] ** 1.5)).sum(axis=1)


def energy(places, speeds, masses):
    return 0.5 * (masses * (speeds**2).sum(axis=1)).sum()


source = np.random.default_rng(1)
places = source.normal(size=(24, 3))
speeds = np.zeros((24, 3))
masses = source.uniform(0.5, 2, 24)
for _ in range(5000):
    speeds += forces(places, masses) * 0.001
    places += speeds * 0.001
print(round(float(energy(places, speeds, masses)), 6))
