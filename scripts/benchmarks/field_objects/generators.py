"""A pipeline of generators."""


def numbers(limit):
    n = 0
    while n < limit:
        yield n
        n += 1


def only(predicate, source):
    for item in source:
        if predicate(item):
            yield item


def pairs(source):
    before = None
    for item in source:
        if before is not None:
            yield before, item
        before = item


def run():
    odd = only(lambda n: n % 2, numbers(4000))
    return sum(b * a % 7 for a, b in pairs(odd))
