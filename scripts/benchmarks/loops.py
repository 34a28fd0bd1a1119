"""Loops over plain numbers, lists and both, by CPython and replayed with the option `loops` on.

The kernels are functions of their own where a program of the field has nested loops: a trace is closed by the innermost
loop, what follows goes on as written. `nested` and `mandelbrot` show what that costs.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from benchmarks.measure import Figure, pair, replayed

TITLE = "CPython / replayed: loops"


def float_sum(n):
    total = 0.0
    for i in range(n):
        total += i * 0.5
    return total


def int_sum(n):
    total = 0
    for i in range(n):
        total += i * 3
    return total


def while_loop(n):
    i = 0
    odd = 0
    while i < n:
        odd += i & 1
        i += 1
    return odd


def list_indexing(items):
    total = 0.0
    for i in range(len(items)):
        total += items[i] * items[-1 - i]
    return total


def list_iteration(items):
    total = 0.0
    for item in items:
        total += item * item
    return total


def nested(n):
    total = 0
    for i in range(n):
        for j in range(n):
            total += i * j
    return total


def mandelbrot_point(cr, ci, limit):
    zr = zi = 0.0
    count = 0
    while count < limit and zr * zr + zi * zi <= 4.0:
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        count += 1
    return count


def mandelbrot(size, limit):
    total = 0
    for y in range(size):
        for x in range(size):
            cr, ci = 2.0 * x / size - 1.5, 2.0 * y / size - 1.0
            zr = zi = 0.0
            count = 0
            while count < limit and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                count += 1
            total += count
    return total


def spectral_row(i, u):
    total = 0.0
    for j in range(len(u)):
        total += u[j] / ((i + j) * (i + j + 1) // 2 + i + 1)
    return total


def sieve_strike(flags, n, prime):
    for k in range(prime * prime, n, prime):
        flags[k] = False
    return flags


def crc(values, table):
    state = 0xFFFFFFFF
    for value in values:
        state = (state >> 8) ^ table[(state ^ value) & 255]
    return state


def array_dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def array_norm(a):
    total = 0.0
    for x in a:
        total += x * x
    return total


def array_prefix_sums(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return float(a[-1])


def array_histogram(values, counts):
    counts[:] = 0
    for i in range(len(values)):
        counts[values[i]] += 1
    return int(counts[0])


def array_jacobi(a, b):
    rows, columns = a.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            b[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) * 0.25
    return float(b[1, 1])


def array_count(a):
    positive = 0
    for i in range(len(a)):
        if a[i] > 0.25 and a[i] < 0.75:
            positive += 1
    return positive


def _table() -> list[int]:
    table = []
    for start in range(256):
        state = start
        for _ in range(8):
            state = (state >> 1) ^ 0xEDB88320 if state & 1 else state >> 1
        table.append(state)
    return table


def _array_programs() -> list[tuple[Callable[..., Any], tuple[Any, ...], float | None]]:
    row = np.linspace(0.0, 1.0, 1000)
    grid = np.linspace(0.0, 1.0, 40 * 40).reshape(40, 40)
    return [
        (array_dot, (row, row[::-1]), 5.0),
        (array_norm, (row,), 5.0),
        (array_prefix_sums, (np.zeros(1000),), 5.0),
        (array_histogram, (np.arange(1000) % 50, np.zeros(50, int)), 5.0),
        (array_jacobi, (grid, grid.copy()), 5.0),
        (array_count, (row,), 5.0),
    ]


def _programs() -> list[tuple[Callable[..., Any], tuple[Any, ...], float | None]]:
    floats = [0.5 + i for i in range(1000)]
    return [
        (float_sum, (1000,), 3.0),
        (int_sum, (1000,), 3.0),
        (while_loop, (1000,), 3.0),
        (list_indexing, (floats,), 3.0),
        (list_iteration, (floats,), 3.0),
        (mandelbrot_point, (-0.1, 0.3, 1000), 3.0),
        (spectral_row, (3, floats), 3.0),
        (sieve_strike, ([True] * 2000, 2000, 2), 3.0),
        (crc, ([i * 7 & 255 for i in range(1000)], _table()), 3.0),
        *_array_programs(),
        (nested, (40,), None),
        (mandelbrot, (8, 100), None),
    ]


def figures(rounds: int) -> list[Figure]:
    return [_figure(function, arguments, bar, rounds) for function, arguments, bar in _programs()]


def _figure(function: Any, arguments: tuple[Any, ...], bar: float | None, rounds: int) -> Figure:
    eager = FunctionType(function.__code__, globals(), "eager")
    traced = replayed(FunctionType(function.__code__.replace(), globals(), "traced"), *arguments)
    if traced(*arguments) != eager(*arguments):
        raise RuntimeError(f"the replayed {function.__name__} gives another result")
    cpython, mine, ratio = pair(eager, traced, arguments, rounds, 5)
    beside = f"{cpython / 1000:.1f} µs / {mine / 1000:.1f} µs"
    return Figure(function.__name__, ratio, "x", beside, bar=bar, at_least=True)
