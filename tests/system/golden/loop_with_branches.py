"""A loop with two ways through it: a side exit becomes a trace of its own."""


def program(count):
    even = odd = 0
    for number in range(count):
        if number % 2:
            odd += number
        else:
            even += 1
    return even, odd


CALLS = [(80,), (90,), (100,)]
