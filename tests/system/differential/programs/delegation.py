"""Generators that `yield from` resumes inside the graph of the one who delegates."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B007, B012, B023, B026, B904


# program: delegated_body_in_the_graph
# trace: outer, inner
# f(3) => record record miss record record, hit hit hit hit
# f(3) => hit hit hit hit, hit hit hit hit
# f(2.5) => hit hit hit hit, hit hit hit hit
def inner(n):
    got = yield n
    print("inner got", got)
    got = yield got * 2
    print("inner got", got)
    return got + 1


def outer(n):
    result = yield from inner(n)
    print("result", result)
    yield result


def f(n):
    g = outer(n)
    return next(g), g.send(n), g.send(n), list(g)


# program: delegation_in_a_consumer
# trace: f, outer, inner
# f(3) => record, hit
# f(4) => hit exit record record, hit exit hit hit
# f(0) => hit exit hit, hit exit hit
def inner(n):
    for i in range(n):
        yield i * i
    return "end"


def outer(n):
    x = yield from inner(n)
    yield x


def f(n):
    out = []
    for x in outer(n):
        out.append(x)
    return out


# program: delegation_of_many_levels
# trace: f, a, b, c
# f(2) => record, hit
# f(2) => hit, hit
# f(1) => hit exit record record miss record record, hit exit hit hit hit hit
def c(n):
    for i in range(n):
        yield "c", i
    return n


def b(n):
    x = yield from c(n)
    yield "b", x
    return x + 1


def a(n):
    x = yield from b(n)
    y = yield from b(x - 1)
    yield "a", x, y


def f(n):
    out = []
    for x in a(n):
        out.append(x)
    return out


# program: walking_a_tree
# trace: f, Node.__iter__, Node.walk
# f(3) => record hit record, hit hit hit
# f(3) => hit hit hit, hit hit hit
# f(7) => hit exit hit hit hit record record miss hit record miss record hit hit record record miss hit record miss record, hit exit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit
class Node:
    def __init__(self, low, high):
        middle = (low + high) // 2
        self.value = middle
        self.left = Node(low, middle) if low < middle else None
        self.right = Node(middle + 1, high) if middle + 1 < high else None

    def __iter__(self):
        return self.walk()

    def walk(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


def f(n):
    out = []
    for x in Node(0, n):
        out.append(x)
    return out


# program: guards_fail_inside_the_delegated_body
# trace: f, outer, inner
# f([1, 2]) => record, hit
# f([1, "a"]) => hit exit record record, hit exit hit hit
# f([-1, 2]) => hit exit hit exit miss record hit, hit exit hit exit hit hit
# f([2, -1, 3]) => hit exit hit exit hit hit, hit exit hit exit hit hit
def inner(items):
    for x in items:
        if isinstance(x, int) and x > 0:
            yield x
        else:
            yield ("other", x)
        print("after", x)
    return len(items)


def outer(items):
    count = yield from inner(items)
    yield "count", count


def f(items):
    out = []
    for x in outer(items):
        out.append(x)
    return out


# program: delegated_body_returns_elsewhere
# trace: outer, inner
# f(1) => record record, hit hit
# f(0) => hit exit record hit, hit exit hit hit
# f(-1) => hit exit hit, hit exit hit
def inner(n):
    if n > 0:
        return "positive"
    if n == 0:
        yield "zero"
        return "was zero"
    raise ValueError(n)


def outer(n):
    try:
        x = yield from inner(n)
    except ValueError as error:
        x = repr(error)
    yield x


def f(n):
    return list(outer(n))


# program: delegation_limited
# trace: f, outer, inner
# limits: inline_depth=1
# f(3) => record record hit hit exit record, hit hit hit hit exit hit
# f(3) => hit hit hit hit exit hit, hit hit hit hit exit hit
def inner(n):
    for i in range(n):
        yield i
    return "end"


def outer(n):
    x = yield from inner(n)
    yield x


def f(n):
    out = []
    for x in outer(n):
        out.append(x)
    return out
