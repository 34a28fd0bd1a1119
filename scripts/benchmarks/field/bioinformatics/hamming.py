"""Bioinformatics: distances between sequences of bytes, corrected for repeated changes, and a tree's first joins."""

import numpy as np

SIZES = (4, 30, 150)  # sequences of 200 letters


def differences(sequences):
    n = len(sequences)
    d = np.zeros((n, n))
    for i in range(n):
        d[i] = (sequences != sequences[i]).mean(axis=1)
    return d


def jukes_cantor(p):
    return -0.75 * np.log(1 - 4 / 3 * np.minimum(p, 0.74))


def kimura(sequences):
    n = len(sequences)
    out = np.zeros((n, n))
    purine = (sequences == 0) | (sequences == 2)
    for i in range(n):
        other = sequences != sequences[i]
        same_kind = purine == purine[i]
        ts = (other & same_kind).mean(axis=1)
        tv = (other & ~same_kind).mean(axis=1)
        out[i] = -0.5 * np.log(1 - 2 * ts - tv) - 0.25 * np.log(1 - 2 * tv)
    return out


def join(d, count):
    d = d + np.diag(np.full(len(d), np.inf))
    pairs = []
    for _ in range(count):
        i, j = np.unravel_index(np.argmin(d), d.shape)
        pairs.append((i, j))
        merged = (d[i] + d[j]) / 2
        d[i], d[:, i] = merged, merged
        d[i, i] = np.inf
        d[j], d[:, j] = np.inf, np.inf
    return np.array(pairs)


def run(size, rounds):
    rng = np.random.default_rng(57)
    ancestor = rng.integers(0, 4, 200, dtype=np.uint8)
    sequences = np.where(rng.random((size, 200)) < 0.1, (ancestor + 1) % 4, ancestor).astype(np.uint8)
    for _ in range(rounds):
        jc = jukes_cantor(differences(sequences))
        k2p = kimura(sequences)
        pairs = join(k2p, size - 2)
    return jc, k2p, pairs
