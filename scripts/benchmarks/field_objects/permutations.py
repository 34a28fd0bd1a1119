"""Backtracking with generators."""


def orders(items):
    if not items:
        yield []
        return
    for place, item in enumerate(items):
        for rest in orders(items[:place] + items[place + 1 :]):
            yield [item, *rest]


def run():
    return sum(1 for order in orders([1, 2, 3, 4, 5, 6]) if order[0] < order[-1])
