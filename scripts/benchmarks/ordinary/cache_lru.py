"""Caches: an LRU cache of one's own, memoised functions, and decorators."""

import functools
import random
from collections import OrderedDict


class Cache:
    def __init__(self, size):
        self.size = size
        self.entries = OrderedDict()
        self.hits = self.misses = 0

    def get(self, key, compute):
        try:
            value = self.entries[key]
        except KeyError:
            self.misses += 1
            value = self.entries[key] = compute(key)
            if len(self.entries) > self.size:
                self.entries.popitem(last=False)
            return value
        self.hits += 1
        self.entries.move_to_end(key)
        return value


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
def square(x):
    return x * x


def memo(function):
    known = {}

    @functools.wraps(function)
    def wrapper(*args):
        if args not in known:
            known[args] = function(*args)
        return known[args]

    return wrapper


@memo
def ways(stairs, step=3):
    if stairs <= 0:
        return int(stairs == 0)
    return sum(ways(stairs - k) for k in range(1, step + 1))


source = random.Random(9)
cache = Cache(500)
total = 0
for _ in range(300000):
    total += cache.get(int(source.gauss(500, 200)), square)
print(total, cache.hits, cache.misses, square.calls)
print(ways(200) % 1000007)
