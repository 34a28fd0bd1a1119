"""Cells in a set of pairs."""


def neighbours(cell):
    x, y = cell
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            if dx or dy:
                yield x + dx, y + dy


def step(alive):
    counts = {}
    for cell in alive:
        for other in neighbours(cell):
            counts[other] = counts.get(other, 0) + 1
    return {cell for cell, count in counts.items() if count == 3 or (count == 2 and cell in alive)}


def run():
    alive = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2), (5, 5), (5, 6), (5, 7)}
    for _ in range(30):
        alive = step(alive)
    return len(alive)
