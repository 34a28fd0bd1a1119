"""How long each point of a grid stays near zero: three nested loops, floats only in the innermost."""

from __future__ import annotations

SIZE = 40
KIND = "numbers"


def run(size):
    total = 0
    for row in range(size):
        ci = 2.0 * row / size - 1.0
        for column in range(size):
            cr = 3.0 * column / size - 2.0
            zr = zi = 0.0
            count = 0
            while count < 60 and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                count += 1
            total += count
    return total
