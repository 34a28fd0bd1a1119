"""Arithmetic of ints, with an intermediate result in a variable."""


def program(width, height):
    area = width * height
    return area - width // 2


CALLS = [(7, 3), (8, 4), (9, 5)]
