"""A generator that is consumed by a loop."""


def squares(count):
    for number in range(count):
        yield number * number


def program(count):
    total = 0
    for square in squares(count):
        total += square
    return total


CALLS = [(6,), (6,), (6,)]
