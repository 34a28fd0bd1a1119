"""Bodies of generators: recorded from resume to yield, replayed, left and resumed by every way there is."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B012, B023, B026, B904


# program: body_of_a_loop
# trace: g
# f(3) => record record hit hit exit record, hit hit hit hit exit hit
# f(5) => hit hit hit hit hit hit exit hit, hit hit hit hit hit hit exit hit
def g(n):
    total = 0
    for i in range(n):
        total += i
        yield total
    yield "end"


def f(n):
    return list(g(n))


# program: body_with_locals_and_calls
# trace: g, double
# f(3) => record record hit hit exit, hit hit hit hit exit
# f(4) => hit hit hit hit hit exit, hit hit hit hit hit exit
def double(x):
    return x * 2


def g(n):
    i = 0
    while i < n:
        a = double(i)
        b = [a, i]
        yield b
        b.append(a)
        i += 1


def f(n):
    return [tuple(b) for b in g(n)]


# program: body_without_a_yield_reached
# trace: g
# f(0) => record, hit
# f(1) => hit exit record, hit exit hit
def g(n):
    print("start", n)
    if n:
        yield n
    print("end", n)
    return n


def f(n):
    it = g(n)
    out = []
    while True:
        try:
            out.append(next(it))
        except StopIteration as stop:
            return out, stop.value


# program: send_values_of_changing_types
# trace: g
# f([1, 2, 3]) => record record hit hit, hit hit hit hit
# f([1.5, None, "a"]) => hit hit hit hit, hit hit hit hit
# f([[1], (2,)]) => hit hit hit, hit hit hit
def g():
    got = None
    while True:
        got = yield (got, type(got).__name__)


def f(values):
    it = g()
    return [next(it), *[it.send(v) for v in values]]


# program: send_before_the_start
# trace: g
# f(1) => none, none
# f(None) => record, hit
def g():
    yield 1


def f(x):
    return g().send(x)


# program: throw_at_every_state
# trace: g
# f(0) => none, none
# f(1) => record record, hit hit
# f(2) => hit record hit, hit hit hit
# f(3) => hit hit record, hit hit hit
def g():
    try:
        print("first")
        yield 1
        print("second")
        yield 2
    except ValueError as error:
        print("caught", error)
        yield 3
    finally:
        print("finally")
    yield 4


def f(n):
    it = g()
    for _ in range(n):
        print(next(it))
    out = []
    try:
        out.append(it.throw(ValueError("v")))
        out.extend(it)
    except ValueError as error:
        tb = error.__traceback__
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
    return out


# program: close_at_every_state
# trace: g
# f(0) => none, none
# f(1) => record, hit
# f(2) => hit record, hit hit
# f(3) => hit hit record, hit hit hit
def g():
    try:
        yield 1
        yield 2
    except GeneratorExit:
        print("exit")
        raise
    finally:
        print("finally")
    yield 4


def f(n):
    it = g()
    for _ in range(n):
        print(next(it))
    it.close()
    it.close()
    return list(it)


# program: close_ignored
# trace: g
# f(1) => record, hit
# f(2) => hit record, hit hit
def g():
    while True:
        try:
            yield 1
        except GeneratorExit:
            print("ignored")


def f(n):
    it = g()
    for _ in range(n):
        next(it)
    try:
        it.close()
    except RuntimeError as error:
        return str(error)


# program: yield_in_finally
# trace: g
# f() => record record record, hit hit hit
def g():
    try:
        yield 1
    finally:
        yield 2
        print("after")


def f():
    return list(g())


# program: yield_in_except_handler
# trace: g
# f(3) => record record hit exit, hit hit hit exit
# f(0) => hit exit, hit exit
def g(n):
    for i in range(n):
        try:
            if i % 2:
                raise ValueError(i)
            yield i
        except ValueError as error:
            yield ("handling", str(error))
            yield ("still", str(error))


def f(n):
    import sys
    out = []
    for x in g(n):
        out.append((x, sys.exc_info()[0]))
    return out


# program: exception_info_belongs_to_the_generator
# trace: g, f
# f(2) => record record record, hit hit hit
# f(3) => hit hit hit, hit hit hit
import sys


def g(n):
    yield sys.exc_info()[0]
    try:
        raise KeyError(n)
    except KeyError:
        for _ in range(n):
            yield sys.exc_info()[0]
    yield sys.exc_info()[0]


def f(n):
    it = g(n)
    out = [next(it)]
    try:
        raise IndexError
    except IndexError:
        out.append(next(it))
        out.append(sys.exc_info()[0])
        out.extend(it)
        out.append(sys.exc_info()[0])
    return out


# program: exception_out_of_a_body
# trace: g
# f([1, 2]) => record record hit exit, hit hit hit exit
# f([1, 0]) => hit hit exit, hit hit exit
# f([0]) => hit exit, hit exit
def g(items):
    for x in items:
        yield 10 // x


def f(items):
    out = []
    it = g(items)
    try:
        for x in it:
            out.append(x)
    except ZeroDivisionError as error:
        tb = error.__traceback__
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
    return out, list(it), it.gi_frame


# program: stop_iteration_inside_is_a_runtime_error
# trace: g
# f(1) => record record, hit hit
# f(2) => hit miss record, hit hit
def g(n):
    yield 1
    if n > 1:
        yield next(iter(()))
    raise StopIteration(n)


def f(n):
    out = []
    try:
        for x in g(n):
            out.append(x)
    except RuntimeError as error:
        out.append((str(error), type(error.__cause__).__name__, type(error.__context__).__name__))
    return out


# program: return_values
# trace: g
# f(2) => record record hit exit, hit hit hit exit
# f(0) => hit exit, hit exit
def g(n):
    for i in range(n):
        yield i
    return ("done", n)


def f(n):
    it = g(n)
    out = []
    try:
        while True:
            out.append(next(it))
    except StopIteration as stop:
        return out, stop.value


# program: delegation
# trace: g, h
# f([1, 2]) => record record record record hit exit hit exit record hit exit record, hit hit hit hit hit exit hit exit hit hit exit hit
# f([3]) => hit hit hit exit hit exit hit exit hit, hit hit hit exit hit exit hit exit hit
# f([]) => hit exit hit exit hit, hit exit hit exit hit
def h(items):
    total = 0
    for x in items:
        total += x
        yield x
    return total


def g(items):
    a = yield from h(items)
    b = yield from items
    yield (a, b)


def f(items):
    return list(g(items))


# program: delegation_of_send_and_throw
# trace: g, h
# f() => record record record record hit hit record record, hit hit hit hit hit hit hit hit
def h():
    got = []
    while True:
        try:
            got.append((yield len(got)))
        except ValueError as error:
            got.append(str(error))
        except KeyError:
            return got


def g():
    result = yield from h()
    yield ("result", result)
    yield "end"


def f():
    it = g()
    out = [next(it), it.send("a"), it.throw(ValueError("b")), it.send(None), it.throw(KeyError)]
    return out, list(it)


# program: delegation_to_non_generators
# trace: g
# f([1, 2]) => record record hit hit exit hit exit record record hit exit record, hit hit hit hit exit hit exit hit hit hit exit hit
# f("ab") => hit hit hit hit exit hit exit hit hit hit exit hit, hit hit hit hit exit hit exit hit hit hit exit hit
# f({1: 2}) => hit hit hit hit exit hit hit exit hit, hit hit hit hit exit hit hit exit hit
# f(3) => hit exit, hit exit
class Sendable:
    def __init__(self, items):
        self.items = list(items)

    def __iter__(self):
        return self

    def __next__(self):
        return self.send(None)

    def send(self, value):
        if not self.items:
            raise StopIteration("value")
        return self.items.pop(0), value


def g(items):
    yield (yield from items)
    yield (yield from Sendable(items))


def f(items):
    it = g(items)
    out = [next(it)]
    try:
        while True:
            out.append(it.send(len(out)))
    except StopIteration:
        pass
    except AttributeError as error:
        out.append(str(error))
        out.extend(g(items))
    return out


# program: closing_while_delegating
# trace: g, h
# f(1) => record record, hit hit
# f(2) => hit hit record record, hit hit hit hit
def h(n):
    try:
        for i in range(9):
            yield i
    finally:
        print("inner finally", n)


def g(n):
    try:
        yield from h(n)
    finally:
        print("outer finally", n)


def f(n):
    it = g(n)
    for _ in range(n):
        next(it)
    it.close()
    return it.gi_yieldfrom, it.gi_running, it.gi_frame


# program: yieldfrom_and_states
# trace: g, h
# f(2) => record record record record record hit exit hit exit record, hit hit hit hit hit hit exit hit exit hit
# f(3) => hit hit hit hit hit hit hit hit exit hit exit hit, hit hit hit hit hit hit hit hit exit hit exit hit
import inspect


def h(n):
    seen.append((inspect.getgeneratorstate(gen), gen.gi_running, gen.gi_yieldfrom, gen.gi_suspended))
    for i in range(n):
        yield i


def g(n):
    yield "first"
    yield from h(n)
    yield "last"


def f(n):
    global gen, seen
    seen = []
    gen = g(n)
    states = [inspect.getgeneratorstate(gen)]
    for _ in gen:
        inner = gen.gi_yieldfrom
        states.append((inspect.getgeneratorstate(gen), gen.gi_running, inner and inner.__name__, gen.gi_frame.f_lineno))
        if inner:
            states.append((inspect.getgeneratorstate(inner), inspect.getgeneratorlocals(inner)))
    states.append((inspect.getgeneratorstate(gen), gen.gi_frame))
    return states, seen


# program: locals_of_a_suspended_frame
# trace: g
# f(2) => record record hit exit record, hit hit hit exit hit
# f(3) => hit hit hit hit exit hit, hit hit hit hit exit hit
def g(n, *rest, key=None, **more):
    square = 0
    for i in range(n):
        square = i * i
        yield i
    del square
    yield None


def f(n):
    it = g(n, 1, 2, key="k", other=3)
    out = [dict(it.gi_frame.f_locals)]
    for _ in it:
        out.append({k: v for k, v in it.gi_frame.f_locals.items()})
        out.append((it.gi_frame.f_lineno, it.gi_code.co_name, it.__name__, it.__qualname__))
    return out


# program: call_stack_in_a_body
# trace: g, h, stack
# f(2) => record record record record record hit exit hit exit hit record hit exit, hit hit hit hit hit hit exit hit exit hit hit hit exit
# f(2) => hit hit hit hit hit hit exit hit exit hit hit hit exit, hit hit hit hit hit hit exit hit exit hit hit hit exit
import sys


def stack():
    frame, out = sys._getframe(1), []
    while frame and frame.f_code.co_filename == __file__:
        out.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return out


__file__ = stack.__code__.co_filename


def h(n):
    for _ in range(n):
        yield stack()


def g(n):
    yield stack()
    yield from h(n)
    for x in h(n):
        yield x


def f(n):
    return list(g(n))


# program: a_frame_held_by_others
# trace: g
# f(3) => record, hit
# f(3) => hit, hit
import sys


def g(n):
    frames.append(sys._getframe())
    for i in range(n):
        x = i * 10
        yield x
        del x


def f(n):
    global frames
    frames = []
    out = []
    for x in g(n):
        out.append((x, frames[0].f_locals["x"], frames[0].f_lineno, frames[0].f_back))
    return out, frames[0].f_locals


# program: trees
# trace: walk
# f(3) => record hit record hit hit record hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit hit exit hit hit hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit hit exit hit exit hit hit hit hit hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit hit exit hit hit hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit hit exit hit exit, hit hit hit hit hit hit hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit hit exit hit hit hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit hit exit hit exit hit hit hit hit hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit hit exit hit hit hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit hit exit hit exit
# f(2) => hit hit hit hit hit hit hit exit hit exit hit hit hit exit hit exit hit exit hit hit hit hit hit exit hit exit hit hit hit exit hit exit hit exit, hit hit hit hit hit hit hit exit hit exit hit hit hit exit hit exit hit exit hit hit hit hit hit exit hit exit hit hit hit exit hit exit hit exit
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
# f([1, 2]) => record record hit exit record record hit exit hit record hit record hit exit hit exit hit hit hit hit exit hit exit hit hit hit hit hit exit, hit hit hit exit hit hit hit exit hit hit hit hit hit exit hit exit hit hit hit hit exit hit exit hit hit hit hit hit exit
# f(["a"]) => hit hit exit hit hit exit hit hit hit exit hit exit hit hit hit hit exit hit exit hit hit hit exit, hit hit exit hit hit exit hit hit hit exit hit exit hit hit hit hit exit hit exit hit hit hit exit
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


# program: already_executing
# trace: g
# f() => record record, hit hit
def g():
    yield 1
    try:
        next(it)
    except ValueError as error:
        yield str(error)


def f():
    global it
    it = g()
    return list(it)


# program: generator_replaces_its_function
# trace: g
# f() => record record record record, none
def g():
    yield 1
    g.__code__ = other.__code__
    yield 2
    yield 3


def other():
    yield "other"


def f():
    old = g.__code__
    first = g()
    out = [*first, *g()]
    g.__code__ = old
    return out


# program: globals_change_between_resumes
# trace: g
# f(1) => record record hit hit exit, hit hit hit hit exit
# f("a") => hit hit hit hit exit, hit hit hit hit exit
def g():
    while True:
        yield value


def f(x):
    global value
    it = g()
    out = []
    for value in (x, 2, [3]):
        out.append(next(it))
    del value
    try:
        next(it)
    except NameError as error:
        out.append(str(error))
    return out


# program: with_statement_in_a_body
# trace: g
# f(2) => record record record miss record record hit, hit hit hit hit hit hit
# f(3) => hit hit hit hit exit hit hit exit hit hit, hit hit hit hit exit hit hit exit hit hit
class Manager:
    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, *what):
        print("exit", what[0])
        return what[0] is KeyError


def g(n):
    for i in range(n):
        with Manager():
            yield i
            if i == 1:
                raise KeyError(i)
            yield -i
    with Manager():
        yield "last"


def f(n):
    out = list(g(n))
    it = g(n)
    next(it)
    out.append(it.throw(KeyError))
    it.close()
    return out


# program: try_in_a_body
# trace: g
# f([1, 0, 2]) => record record record hit hit exit, hit hit hit hit hit exit
# f([0, "a"]) => hit exit hit exit, hit exit hit exit
def g(items):
    for x in items:
        try:
            y = 6 // x
        except ZeroDivisionError:
            yield "zero"
            continue
        except TypeError as error:
            y = error
        else:
            yield "else"
        finally:
            print("finally", x)
        yield y


def f(items):
    return list(g(items))


# program: match_in_a_body
# trace: g
# f([1, (2, 3), {"k": 4}, "x"]) => record record record record record, hit hit hit hit hit
# f([{"k": 1}]) => hit exit miss record, hit exit hit
def g(items):
    for item in items:
        match item:
            case int(x):
                yield "int", x
            case (a, b):
                yield "pair", a, b
            case {"k": v}:
                yield "dict", v
            case _:
                yield "other"


def f(items):
    return list(g(items))


# program: comprehensions_in_a_body
# trace: g
# f(2) => record record record record hit exit hit hit exit, hit hit hit hit hit exit hit hit exit
# f(3) => hit hit hit hit hit exit hit hit exit hit exit hit hit exit, hit hit hit hit hit exit hit hit exit hit exit hit hit exit
def g(n):
    for i in range(n):
        yield [j * i for j in range(i)]
        yield {j: i for j in range(i)}
        yield sum(j for j in range(i))


def f(n):
    return list(g(n))


# program: deep_delegation
# trace: g
# f(3) => record record, miss record hit hit hit record hit hit hit
# f(12) => hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit, hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit
def g(n):
    if n:
        x = yield from g(n - 1)
        return x + 1
    yield "bottom"
    return 0


def f(n):
    it = g(n)
    out = [next(it)]
    try:
        next(it)
    except StopIteration as stop:
        out.append(stop.value)
    return out


# program: recursion_error_in_generators
# trace: g
# do deep = f(0)
# f(990) => hit hit hit hit hit hit hit hit hit hit miss record hit exit hit exit hit exit, hit hit hit hit hit hit hit hit hit hit hit hit exit hit exit hit exit
import sys


def g(n):
    yield n
    if n < 5000:
        yield from g(n + 1)


def f(start):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    out = 0
    it = g(start if start == 0 else 4997)
    try:
        for _ in it:
            out += 1
    except RecursionError as error:
        return str(error), out > 100
    finally:
        sys.setrecursionlimit(limit)
    return out


# program: arguments_are_generators
# trace: g, total
# f(3) => record record hit hit exit hit hit hit hit exit hit hit hit hit exit record, hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit
# f(4) => hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit, hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit
def g(n):
    for i in range(n):
        yield i


def total(items, *more):
    return sum(items) + sum(sum(m) for m in more)


def f(n):
    return total(g(n), g(n), (x * x for x in g(n)))


# program: zip_map_filter_chain
# trace: g
# f(3) => record hit record hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit hit exit hit hit hit hit exit hit hit hit hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit, hit hit hit hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit hit exit hit hit hit hit exit hit hit hit hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit
# f(4) => hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit exit hit hit hit hit hit exit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit, hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit exit hit hit hit hit hit exit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit
import itertools


def g(n):
    for i in range(n):
        yield i


def f(n):
    return (
        list(zip(g(n), g(n + 1))), list(map(str, g(n))), list(filter(None, g(n))), list(enumerate(g(n))),
        list(itertools.chain(g(n), g(1))), max(g(n)), dict(zip(g(n), g(n))), [*g(n)], sorted(g(n)),
    )


# program: unpacking_generators
# trace: g, f
# f(2) => record record hit exit hit hit hit exit record, hit hit hit exit hit hit hit exit hit
# f(3) => hit hit hit hit exit hit hit hit hit exit, hit hit hit hit exit hit hit hit hit exit
def g(n):
    for i in range(n):
        print("give", i)
        yield i


def f(n):
    try:
        a, b = g(n)
    except ValueError as error:
        a, b = str(error), None
    first, *rest = g(n)
    return a, b, first, rest


# program: resumed_in_other_threads
# trace: g
# f(4) => record record hit hit hit exit, hit hit hit hit hit exit
# f(3) => hit hit hit hit exit, hit hit hit hit exit
import threading


def g(n):
    local = []
    for i in range(n):
        local.append(i)
        yield list(local)


def f(n):
    it, out = g(n), []
    for _ in range(n + 1):
        thread = threading.Thread(target=lambda: out.append(next(it, None)))
        thread.start()
        thread.join()
    return out


# program: profiled_generators
# trace: g
# f(2) => record record hit exit hit hit hit exit, hit hit hit exit hit hit hit exit
# f(2) => hit hit hit exit hit hit hit exit, hit hit hit exit hit hit hit exit
import sys


def g(n):
    for i in range(n):
        yield i


def f(n):
    events = []

    def profile(frame, event, arg):
        if frame.f_code.co_name == "g":
            events.append((event, frame.f_lineno, arg))

    plain = list(g(n))
    sys.setprofile(profile)
    list(g(n))
    sys.setprofile(None)
    return plain, events, list(g(n))


# program: watched_generators
# trace: g
# f(2) => record record miss record hit hit hit hit, hit hit hit hit hit hit hit
# f(2) => hit hit hit hit hit hit hit, hit hit hit hit hit hit hit
import sys


def g(n):
    for i in range(n):
        x = yield i
        x = i


def f(n):
    events = []

    def watch(frame, event, arg):
        if frame.f_code.co_name != "g":
            return None
        events.append((event, frame.f_lineno, arg))
        return watch

    plain = list(g(n))
    half = g(n)
    next(half)
    sys.settrace(watch)
    list(g(n))
    list(half)
    sys.settrace(None)
    return plain, events, list(g(n))


# program: warnings_from_bodies
# trace: g
# f(2) => record record hit exit, hit hit hit exit
# f(2) => hit hit hit exit, hit hit hit exit
import warnings


def g(n):
    for i in range(n):
        warnings.warn("from body", stacklevel=1)
        warnings.warn("from consumer", stacklevel=2)
        yield i


def f(n):
    return list(g(n))


# program: numbers_of_changing_types
# trace: g
# f([1, 2, 3]) => record record hit exit, hit hit hit exit
# f([1.5, 2]) => hit hit exit, hit hit exit
# f(["a", "b"]) => hit hit exit, hit hit exit
def g(items):
    it = iter(items)
    total = next(it)
    for x in it:
        total = total + x
        yield total


def f(items):
    return list(g(items))


# program: copies_and_pickles_fail_alike
# trace: g
# f() => none, none
import copy
import pickle


def g():
    yield 1


def f():
    out = []
    for call in (copy.copy, pickle.dumps):
        try:
            call(g())
        except TypeError as error:
            out.append(str(error))
    return out, repr(g())[:20]


# program: generator_coroutines_by_decorator
# trace: g, h
# f(2) => record record record record hit exit hit exit hit hit exit record, hit hit hit hit hit exit hit exit hit hit exit hit
# f(3) => hit hit hit hit hit hit hit exit hit exit hit hit exit hit, hit hit hit hit hit hit hit exit hit exit hit hit exit hit
import types


@types.coroutine
def g(n):
    got = []
    for i in range(n):
        got.append((yield i))
    return got


async def h(n):
    a = await g(n)
    b = await g(1)
    return a, b


def f(n):
    it = h(n)
    out = [it.send(None)]
    try:
        while True:
            out.append(it.send(len(out)))
    except StopIteration as stop:
        out.append(stop.value)
    return out, it.cr_frame, it.cr_running


# program: locals_bound_on_one_way_only
# trace: g, h
# f(True) => record record record record record record record, hit hit hit hit hit hit hit
# f(False) => miss record miss record hit hit miss record miss record record, hit hit hit hit hit hit hit
# f(True) => hit hit hit hit hit hit hit, hit hit hit hit hit hit hit
def g(bound):
    if bound:
        x = "x"
    yield 1
    try:
        yield x
    except NameError as error:
        yield str(error)
    x = 2
    yield x
    del x
    yield "deleted"


def h(bound):
    if not bound:
        x = "x"
    yield 1
    try:
        yield x
    except NameError as error:
        yield str(error)


def f(bound):
    return list(g(bound)), list(h(bound))
