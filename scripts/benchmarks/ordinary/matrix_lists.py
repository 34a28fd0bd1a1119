"""Matrices as lists of lists: products, elimination, a convolution."""

import random


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def solve(matrix, right):
    rows = [row[:] + [value] for row, value in zip(matrix, right)]
    size = len(rows)
    for place in range(size):
        pivot = max(range(place, size), key=lambda k: abs(rows[k][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        for other in range(place + 1, size):
            factor = rows[other][place] / rows[place][place]
            for column in range(place, size + 1):
                rows[other][column] -= factor * rows[place][column]
    out = [0.0] * size
    for place in reversed(range(size)):
        rest = sum(rows[place][k] * out[k] for k in range(place + 1, size))
        out[place] = (rows[place][size] - rest) / rows[place][place]
    return out


source = random.Random(10)
a = [[source.random() for _ in range(60)] for _ in range(60)]
b = [[source.random() for _ in range(60)] for _ in range(60)]
for _ in range(40):
    c = product(a, b)
    b = [[x / 30 for x in row] for row in c]
print(round(sum(map(sum, b)), 9))
right = [float(k) for k in range(60)]
for _ in range(16):
    found = solve(a, right)
print(max(abs(sum(x * y for x, y in zip(row, found)) - value) for row, value in zip(a, right)) < 1e-8)
