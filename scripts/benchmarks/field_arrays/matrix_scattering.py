"""Products of many small complex matrices."""

import numpy as np


def data(n):
    rng = np.random.default_rng(27)
    count = min(max(n // 100, 1), 12)
    make = lambda *shape: rng.random(shape) + 1j * rng.random(shape)
    return make(count, 4, 4), make(count, 4, 4), make(count)


def run(g, h, d):
    s = np.zeros_like(g)
    for k in range(g.shape[0]):
        for a in range(h.shape[0]):
            s[k] += (g[k] @ h[a]) @ (h[a] * d[a])
    return round(abs(complex(s.sum())), 3)
