"""Comprehensions and generator expressions."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: list_comprehension
# f([1, 2, 3]) => record, hit
# f([4, 5, 6]) => hit
# f([1]) => hit exit
# f([]) => hit exit
def f(items):
    return [x * 2 for x in items]


# program: filtered_comprehension
# f([1, -2, 3]) => record, hit
# f([1, 2, 3]) => hit exit
# f([4, -5, 6]) => hit
def f(items):
    return [x for x in items if x > 0]


# program: dict_and_set_comprehensions
# f("abc") => record, hit
# f("xyz") => hit
# f("aab") => hit
def f(s):
    return {c: ord(c) for c in s}, {c.upper() for c in s}


# program: nested_comprehension
# f([[1, 2], [3]]) => record, hit
# f([[4, 5], [6]]) => hit
# f([[4], [6, 7]]) => hit exit
def f(rows):
    return [x + 1 for row in rows for x in row], [[x for x in row] for row in rows]


# program: comprehension_with_captured_names
# f([1, 2], 10) => record, hit
# f([1, 2], 2.5) => miss record
# f([3, 4], 20) => hit
def f(items, k):
    k2 = k + k
    return [x + k2 for x in items], [y for x in items if (y := x + k) > 0]


# program: generator_expression
# f([1, 2, 3]) => record, hit
# f([]) => hit
# f(["a"]) => hit exit
def f(items):
    return sum(x * 2 for x in items)


# program: generator_expression_returned
# f([1, 2]) => record, hit
def f(items):
    g = (x + 1 for x in items)
    first = next(g)
    return first, list(g), list(g)


# program: comprehension_raises
# f([1, 2]) => record, hit
# f([1, 0]) => hit exit
# f([5, 4]) => hit
def f(items):
    try:
        return [10 / x for x in items]
    except ZeroDivisionError as error:
        return error


# program: any_all_with_generators
# f([1, 2, 3]) => record, hit
# f([1, -2, 3]) => hit
# f([]) => hit
def f(items):
    return any(x < 0 for x in items), all(x > 0 for x in items), max((x for x in items), default=None)


# program: walrus_in_comprehension
# f([1, 2, 3]) => record, hit
# f([5, 6, 7]) => hit
def f(items):
    last = None
    out = [last := x for x in items]
    return out, last


# program: async_comprehension_body
# note: the coroutine's body is opaque
# f([1, 2]) => record, hit
def f(items):
    async def numbers():
        for item in items:
            yield item

    async def main():
        return [x * 2 async for x in numbers()]

    c = main()
    try:
        c.send(None)
    except StopIteration as stop:
        return stop.value
