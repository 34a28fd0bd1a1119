"""Stencils: the wave equation with three time levels that change places, and a sponge at the edges."""

import numpy as np

SIZES = (15, 150, 1_000)  # points along a side


def ricker(t, peak):
    a = (np.pi * peak * (t - 1.0 / peak)) ** 2
    return (1 - 2 * a) * np.exp(-a)


def sponge(n, width):
    profile = np.ones(n)
    ramp = np.exp(-((0.015 * (width - np.arange(width))) ** 2))
    profile[:width] = ramp
    profile[-width:] = ramp[::-1]
    return profile[:, None] * profile[None, :]


def run(size, rounds):
    c = np.full((size, size), 1500.0)
    c[size // 2 :] = 2500.0
    dx = 10.0
    dt = 0.5 * dx / c.max()
    factor = (c * dt / dx) ** 2
    damping = sponge(size, max(size // 10, 2))
    previous, current = np.zeros((size, size)), np.zeros((size, size))
    trace = []
    for number in range(rounds * 10):
        lap = np.zeros_like(current)
        lap[1:-1, 1:-1] = (
            current[2:, 1:-1]
            + current[:-2, 1:-1]
            + current[1:-1, 2:]
            + current[1:-1, :-2]
            - 4 * current[1:-1, 1:-1]
        )
        following = (2 * current - previous + factor * lap) * damping
        following[size // 4, size // 2] += ricker(number % 400 * dt, 25.0)
        previous, current = current * damping, following
        if number % 10 == 0:
            trace.append(current[size // 4, size // 3])
    return current, np.array(trace[-20:])
