"""Functions behind decorators, with keywords and defaults."""

import functools


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


def bounded(low, high):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return min(max(function(*args, **kwargs), low), high)

        return wrapper

    return decorate


@counted
@bounded(0, 50)
def score(a, b=2, *, bonus=0):
    return a * b + bonus


def run():
    total = 0
    for k in range(2000):
        total += score(k % 30) + score(k % 20, 3, bonus=k % 4)
    return total
