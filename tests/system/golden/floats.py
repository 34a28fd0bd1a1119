"""Arithmetic of floats, with a comparison that decides."""


def program(x, y):
    if x < y:
        x, y = y, x
    return (x * x - y * y) ** 0.5


CALLS = [(3.0, 5.0), (1.0, 2.0), (2.5, 1.5)]
