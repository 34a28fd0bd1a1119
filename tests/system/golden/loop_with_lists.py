"""A loop that reads one list, and writes and extends others."""


def program(numbers):
    doubled = []
    for place in range(len(numbers)):
        numbers[place] = numbers[place] * 2.0
        doubled.append(numbers[place])
    return doubled


CALLS = [([float(number) for number in range(40)],) for _ in range(3)]
