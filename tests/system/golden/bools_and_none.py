"""Tests for None, `and`, and a conditional expression."""


def program(value, default):
    return default if value is None and default else value


CALLS = [(None, 3), (None, 4), (5, 6)]
