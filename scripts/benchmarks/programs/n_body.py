"""Planets under gravity: float attributes of lists, a triangular pair of loops."""

from __future__ import annotations

from math import sqrt

SIZE = 300
KIND = "numbers"

X, Y, Z, VX, VY, VZ, MASS = range(7)


def system():
    """Five bodies as lists: place, velocity, mass."""
    return [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.5],
        [4.84, -1.16, -0.10, 0.61, 2.81, -0.03, 0.0377],
        [8.34, 4.12, -0.40, -1.01, 1.82, 0.008, 0.0113],
        [12.9, -15.1, -0.22, 1.08, 0.87, -0.01, 0.0017],
        [15.4, -25.9, 0.18, 0.98, 0.59, -0.03, 0.0020],
    ]


def attract(bodies, step):
    count = len(bodies)
    for i in range(count):
        one = bodies[i]
        for j in range(i + 1, count):
            two = bodies[j]
            dx = one[X] - two[X]
            dy = one[Y] - two[Y]
            dz = one[Z] - two[Z]
            squared = dx * dx + dy * dy + dz * dz
            force = step / (squared * sqrt(squared))
            pull = two[MASS] * force
            one[VX] -= dx * pull
            one[VY] -= dy * pull
            one[VZ] -= dz * pull
            pull = one[MASS] * force
            two[VX] += dx * pull
            two[VY] += dy * pull
            two[VZ] += dz * pull


def move(bodies, step):
    for body in bodies:
        body[X] += step * body[VX]
        body[Y] += step * body[VY]
        body[Z] += step * body[VZ]


def energy(bodies):
    total = 0.0
    for i, one in enumerate(bodies):
        total += 0.5 * one[MASS] * (one[VX] ** 2 + one[VY] ** 2 + one[VZ] ** 2)
        for two in bodies[i + 1 :]:
            dx, dy, dz = one[X] - two[X], one[Y] - two[Y], one[Z] - two[Z]
            total -= one[MASS] * two[MASS] / sqrt(dx * dx + dy * dy + dz * dz)
    return total


def run(size):
    bodies = system()
    for _ in range(size):
        attract(bodies, 0.01)
        move(bodies, 0.01)
    return energy(bodies)
