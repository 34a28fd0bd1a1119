"""Functions on NumPy arrays whose allocations fail in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
from programs import program


@program
def chain(s: Any) -> object:
    x = np.arange(1000.0)
    for _ in range(3):
        x = x * 1.5 + 2.0 - x / 3.0
        s.log.append(float(x[5]))
    return float(x.sum())


@program
def in_place(s: Any) -> object:
    x = np.ones(1000)
    x += 2.0
    x *= 3.0
    s.log.append(float(x[0]))
    x[10:20] = x[10:20] * 2.0
    return float(x.sum())


@program
def items(s: Any) -> object:
    x = np.arange(50.0)
    total = 0.0
    for i in range(1, 50):
        x[i] = x[i] * 0.5 + x[i - 1]
        total += x[i]
    s.log.append(float(total))
    return x.tolist()


@program
def scalars(s: Any) -> object:
    total = np.float64(0.0)
    for v in np.arange(40.0):
        total = total + v * 2.0
    k = np.int64(1)
    for i in np.arange(20):
        k = k * 3 % 1000003 + i
    return float(total), int(k)


@program
def calls(s: Any) -> object:
    x = np.linspace(0.1, 1.0, 500)
    y = np.sqrt(np.exp(x) + np.log(x + 1.0)) * np.where(x > 0.5, x, 2.0)
    s.log.append(float(y[3]))
    return float(np.maximum(y, 1.0).mean())


@program
def masks(s: Any) -> object:
    x = np.arange(200.0)
    big = (x > 50.0) & (x < 150.0)
    return float(np.where(big, x, 0.0).sum()), int(big.sum())
