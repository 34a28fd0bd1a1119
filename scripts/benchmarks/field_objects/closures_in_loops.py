"""Closures that are made anew in each round."""


def make_scale(factor):
    def scale(x):
        return x * factor

    return scale


def compose(first, second):
    return lambda x: second(first(x))


def run():
    total = 0
    for k in range(2000):
        f = compose(make_scale(k % 5), make_scale(3))
        total += f(2)
        total += sum(map(lambda x: x + k, (1, 2, 3)))
    return total
