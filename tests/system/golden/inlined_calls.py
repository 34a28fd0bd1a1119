"""Calls of Python functions, which are recorded into their caller."""


def scaled(x, factor=2.0):
    return x * factor


def shifted(x, by):
    return scaled(x) + by


def program(x):
    return shifted(x, 1.0) - scaled(x, factor=0.5)


CALLS = [(1.0,), (2.0,), (3.0,)]
