"""The product of two matrices that are lists of lists of floats: three nested loops."""

from __future__ import annotations

SIZE = 32
KIND = "numbers"


def product(a, b):
    rows, inner, columns = len(a), len(b), len(b[0])
    result = []
    for i in range(rows):
        row = a[i]
        out = []
        for j in range(columns):
            total = 0.0
            for k in range(inner):
                total += row[k] * b[k][j]
            out.append(total)
        result.append(out)
    return result


def run(size):
    a = [[(i * 3 + j) % 7 / 8 for j in range(size)] for i in range(size)]
    b = [[(i + j * 5) % 9 / 4 for j in range(size)] for i in range(size)]
    c = product(product(a, b), a)
    return sum(c[k][k] for k in range(size))
