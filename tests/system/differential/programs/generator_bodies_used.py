"""Bodies of generators in programs: recursion, methods, closures, context managers, what dies when."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B012, B023, B026, B904


# program: trees
# trace: walk
# f(3) => record record record miss hit record hit exit hit hit exit hit exit hit hit exit hit hit hit exit hit hit exit hit exit hit exit hit hit hit hit hit exit hit hit exit hit exit hit hit exit hit hit hit exit hit hit exit hit exit hit exit, hit hit hit hit hit hit exit hit hit exit hit exit hit hit exit hit hit hit exit hit hit exit hit exit hit exit hit hit hit hit hit exit hit hit exit hit exit hit hit exit hit hit hit exit hit hit exit hit exit hit exit
# f(2) => hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit, hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit
class Node:
    def __init__(self, depth, name):
        self.name = name
        self.children = [Node(depth - 1, name + str(i)) for i in range(2)] if depth else []


def walk(node):
    yield node.name
    for child in node.children:
        yield from walk(child)


def f(depth):
    return list(walk(Node(depth, "n")))


# program: permutations
# trace: permute
# f([1, 2, 3]) => record hit exit record hit exit record hit exit hit exit hit exit hit hit hit exit hit hit exit hit exit hit exit hit hit hit exit hit hit exit, hit hit exit hit hit hit exit hit hit exit hit exit hit exit hit hit hit exit hit hit exit hit exit hit exit hit hit hit exit hit hit exit
# f("ab") => hit exit miss record hit exit, hit exit hit hit exit
def permute(items):
    items = list(items)
    if len(items) <= 1:
        yield tuple(items)
    for i in range(len(items)):
        for rest in permute(items[:i] + items[i + 1:]):
            if len(items) > 1:
                yield (items[i], *rest)


def f(items):
    return list(permute(items))


# program: infinite
# trace: count, primes
# f(5) => record record hit exit record hit exit hit hit exit hit hit hit, hit hit hit exit hit hit exit hit hit exit hit hit hit
# f(6) => hit hit hit exit hit hit exit hit hit exit hit hit hit hit exit hit, hit hit hit exit hit hit exit hit hit exit hit hit hit hit exit hit
def count(start):
    while True:
        yield start
        start += 1


def primes():
    found = []
    for n in count(2):
        if all(n % p for p in found):
            found.append(n)
            yield n


def f(n):
    import itertools
    return list(itertools.islice(primes(), n))


# program: two_instances_interleaved
# trace: g
# f(3) => record hit record hit hit hit exit hit hit exit, hit hit hit hit hit hit exit hit hit exit
# f(2) => hit hit hit hit hit exit hit exit, hit hit hit hit hit exit hit exit
def g(name, n):
    for i in range(n):
        print(name, i)
        yield name, i


def f(n):
    a, b = g("a", n), g("b", n)
    out = []
    while True:
        try:
            out.append(next(a))
            out.append(next(b))
            out.append(next(b))
        except StopIteration:
            return out, list(a), list(b)


# program: generator_methods
# trace: Box.__iter__, Box.pairs, Box.all
# f([1, 2]) => record record hit exit record record hit exit record record hit exit hit hit hit exit hit hit hit hit hit exit, hit hit hit exit hit hit hit exit hit hit hit exit hit hit hit exit hit hit hit hit hit exit
# f(["a"]) => hit hit exit hit hit exit hit hit exit hit hit hit exit hit hit hit exit, hit hit exit hit hit exit hit hit exit hit hit hit exit hit hit hit exit
class Box:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        for x in self.items:
            yield x

    @property
    def doubled(self):
        return self.pairs(2)

    def pairs(self, n):
        for x in self:
            yield x, n

    @classmethod
    def of(cls, *items):
        return cls(items)

    @staticmethod
    def all(boxes):
        for box in boxes:
            yield from box


def f(items):
    box = Box(items)
    return list(box), list(box.doubled), list(Box.all([box, Box.of(1, 2)])), list(zip(box, box))


# program: super_in_a_generator
# trace: A.run, B.run
# f(2) => record record record hit exit, hit hit hit hit exit
# f(1) => hit hit hit exit, hit hit hit exit
class A:
    def run(self, n):
        for i in range(n):
            yield "A", i


class B(A):
    def run(self, n):
        yield __class__.__name__
        for x in super().run(n):
            yield "B", x


def f(n):
    return list(B().run(n))


# program: closures_in_bodies
# trace: g, f
# f(2) => record, hit
# f(3) => hit exit record record record, hit exit hit hit hit
def g(n):
    total = 0

    def add(x):
        nonlocal total
        total += x
        return total

    for i in range(n):
        yield add
        yield total
    yield add


def f(n):
    out = []
    for x in g(n):
        out.append(x(5) if callable(x) else x)
    return out


# program: expressions_with_closures
# trace: f
# f(3, 2) => record, hit
# f(2, "a") => hit, hit
def f(n, k):
    squares = (i * k for i in range(n))
    nested = ((i, j) for i in range(n) for j in range(i) if j != k)
    lazy = (k for _ in range(2))
    k = "changed"
    return list(squares), list(nested), list(lazy)


# program: expressions_consumed_by_builtins
# trace: f
# f([3, 1, 2]) => record, hit
# f([1.5, 2.5]) => hit, hit
# f([]) => hit, hit
def f(items):
    out = [
        sum(x * 2 for x in items), any(x > 2 for x in items), all(x > 0 for x in items),
        list(x + 1 for x in items), tuple(x for x in items if x != 1), set(x for x in items),
        dict((x, -x) for x in items), sorted((x for x in items), reverse=True), ",".join(str(x) for x in items),
        max((x for x in items), default=None), min((x for x in items), default=None),
        [*(x for x in items)], {**dict((str(x), x) for x in items)},
    ]
    a, *b = (x for x in [*items, 7])
    return out, a, b


# program: context_managers_of_generators
# trace: managed, f
# f(1) => record hit record, hit hit hit
# f(0) => hit hit hit exit, hit hit hit exit
# f(1) => hit hit hit, hit hit hit
import contextlib


@contextlib.contextmanager
def managed(name):
    print("enter", name)
    try:
        yield name.upper()
    except ZeroDivisionError as error:
        print("swallowed", error)
    finally:
        print("exit", name)


def f(x):
    with managed("a") as a, managed("b") as b:
        print(a, b)
        y = 1 // x
        print(y)
    return x


# program: manager_as_decorator
# f(2) => record record record, hit hit hit
# f(3) => hit hit hit, hit hit hit
import contextlib


@contextlib.contextmanager
@trace
def around(text):
    print("before", text)
    yield
    print("after", text)


@around("call")
def f(x):
    print("in", x)
    return x * 2


# program: yield_as_an_argument
# trace: g
# f([1, 2, 3]) => record record record record, hit hit hit hit
# f("abc") => hit hit hit hit, hit hit hit hit
def g():
    out = []
    while True:
        out.append((yield len(out)))
        print("sum", [*out, (yield), (yield "third")])


def f(values):
    it = g()
    next(it)
    return [it.send(v) for v in values]


# program: yield_in_expressions
# trace: g
# f(1, 2) => record record record record record record record record, hit hit hit hit hit hit hit hit
# f("a", "b") => hit hit miss record hit hit hit miss record hit, hit hit hit hit hit hit hit hit
# f(1.5, None) => hit hit hit exit, hit hit hit exit
def g():
    while True:
        x = (yield 1) + (yield 2)
        y = [(yield x), (yield x), {"k": (yield 3)}]
        yield y if (yield "cond") else -1


def f(a, b):
    it = g()
    out = [next(it)]
    for value in (a, b, a, b, a, b, a):
        try:
            out.append(it.send(value))
        except TypeError as error:
            out.append(str(error))
            break
    return out


# program: what_was_sent_dies_in_time
# trace: g
# f() => record record record record record, hit hit hit hit hit
class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g():
    yield
    print("one")
    x = yield
    print("two")
    x = None
    print("three")
    yield (yield)
    print("four")


def f():
    it = g()
    next(it)
    for name in "abcd":
        try:
            it.send(Noisy(name))
        except StopIteration:
            print("stop")


# program: locals_die_at_the_end
# trace: g
# f(1) => record record hit, hit hit hit
# f(2) => hit hit exit hit hit, hit hit exit hit hit
class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g(n):
    a = Noisy("a")
    for i in range(n):
        b = Noisy(("b", i))
        yield i
    print("end")


def f(n):
    for i in g(n):
        print(i)
    it = g(n)
    next(it)
    print("drop")
    del it
    print("dropped")


# program: collected_while_suspended
# trace: g
# f() => record record, hit hit
import gc
import weakref


def g():
    me = yield
    try:
        yield me
    finally:
        print("finally")


def f():
    it = g()
    next(it)
    it.send(it)
    ref = weakref.ref(it)
    del it
    print(ref() is None)
    gc.collect()
    return ref() is None
