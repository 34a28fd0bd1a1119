"""A function that is made, and called with a variable of its maker's."""


def program(start):
    def add(number):
        return start + number

    return add(1) + add(2)


CALLS = [(10,), (20,), (30,)]
