"""Records that are taken apart."""


def rows(count):
    for k in range(count):
        yield k, (k % 7, k % 11), f"name {k % 13}"


def run():
    totals, names = {}, set()
    for number, (small, large), name in rows(3000):
        first, *rest = number, small, large
        a, b = b, a = small, large
        totals[a] = totals.get(a, 0) + first + sum(rest) - b
        names.add(name)
    return len(names), sum(totals.values())
