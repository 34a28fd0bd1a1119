"""Bioinformatics: counts of genes made comparable, tested between two groups, q-values."""

import numpy as np

SIZES = (20, 2_000, 40_000)  # genes in twelve samples


def size_factors(counts):
    with np.errstate(divide="ignore"):
        logs = np.log(counts)
    mean = logs.mean(axis=1)
    used = np.isfinite(mean)
    return np.exp(np.median(logs[used] - mean[used, None], axis=0))


def cpm(counts, factors, prior=0.5):
    total = counts.sum(axis=0) * factors
    return np.log2((counts + prior) / (total + 1) * 1e6)


def welch(a, b):
    va, vb = a.var(axis=1, ddof=1) / a.shape[1], b.var(axis=1, ddof=1) / b.shape[1]
    t = (a.mean(axis=1) - b.mean(axis=1)) / np.sqrt(va + vb + 1e-9)
    df = (va + vb) ** 2 / (va**2 / (a.shape[1] - 1) + vb**2 / (b.shape[1] - 1) + 1e-18)
    return t, df


def p_value(t, df):
    """By a normal approximation of t (Wallace, 1959)."""
    z = np.sqrt(df * np.log1p(t**2 / df)) * (1 - 2 * 3 / (8 * df + 3) / 3)
    y = 1 / (1 + 0.2316419 * z)
    poly = y * (0.319381530 + y * (-0.356563782 + y * (1.781477937 + y * (-1.821255978 + y * 1.330274429))))
    return np.minimum(2 * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) * poly, 1.0)


def benjamini_hochberg(p):
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.minimum.accumulate(scaled[::-1])[::-1]
    out = np.empty_like(q)
    out[order] = np.minimum(q, 1)
    return out


def run(size, rounds):
    rng = np.random.default_rng(54)
    mean = np.exp(rng.normal(4, 1.5, (size, 1))) * np.where(rng.random((size, 1)) < 0.1, 3, 1) ** (
        np.arange(12) > 5
    )
    counts = rng.poisson(mean).astype(float)
    for _ in range(rounds):
        logs = cpm(counts, size_factors(counts))
        t, df = welch(logs[:, :6], logs[:, 6:])
        q = benjamini_hochberg(p_value(t, df))
        found = int((q < 0.05).sum())
    return t, q, found
