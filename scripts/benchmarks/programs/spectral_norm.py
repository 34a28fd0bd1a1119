"""The spectral norm of a matrix that is given by a formula: nested loops, calls of a small function."""

from __future__ import annotations

from math import sqrt

SIZE = 60
KIND = "numbers"


def entry(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(vector):
    result = []
    for i in range(len(vector)):
        total = 0.0
        for j in range(len(vector)):
            total += entry(i, j) * vector[j]
        result.append(total)
    return result


def transposed_times(vector):
    result = []
    for i in range(len(vector)):
        total = 0.0
        for j in range(len(vector)):
            total += entry(j, i) * vector[j]
        result.append(total)
    return result


def run(size):
    u = [1.0] * size
    v = u
    for _ in range(4):
        v = transposed_times(times(u))
        u = transposed_times(times(v))
    top = bottom = 0.0
    for i in range(size):
        top += u[i] * v[i]
        bottom += v[i] * v[i]
    return sqrt(top / bottom)
