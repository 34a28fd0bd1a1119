"""Probabilities of scores."""

import numpy as np


def data(n):
    return (np.random.default_rng(38).normal(size=n),)


def run(scores):
    e = np.exp(scores - scores.max())
    return round(float((e / e.sum()).max()), 9)
