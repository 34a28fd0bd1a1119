"""A loop over a range: the ints need no objects."""


def program(count):
    total = 0
    for number in range(count):
        total += number * number
    return total


CALLS = [(50,), (60,), (70,)]
