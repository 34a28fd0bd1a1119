"""A series for pi: one loop over floats."""

from __future__ import annotations

SIZE = 50000
KIND = "numbers"


def run(size):
    total = 0.0
    sign = 1.0
    for k in range(size):
        total += sign / (2.0 * k + 1.0)
        sign = -sign
    return 4.0 * total
