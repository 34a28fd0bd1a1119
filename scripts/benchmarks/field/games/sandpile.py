"""Games: sand that topples until no cell holds four grains, integers in place."""

import numpy as np

SIZES = (11, 41, 201)  # cells along a side


def topple(grid):
    times = grid // 4
    grid %= 4
    grid[1:] += times[:-1]
    grid[:-1] += times[1:]
    grid[:, 1:] += times[:, :-1]
    grid[:, :-1] += times[:, 1:]
    return times


def relax(grid, most):
    toppled = np.zeros_like(grid)
    for count in range(most):
        if not (grid >= 4).any():
            break
        toppled += topple(grid)
    return toppled, count


def run(size, rounds):
    for number in range(rounds):
        grid = np.zeros((size, size), dtype=np.int32)
        grid[size // 2, size // 2] = 200 + number % 3
        grid[size // 3, size // 3] = 100
        toppled, count = relax(grid, 60)
    return grid, toppled, count
