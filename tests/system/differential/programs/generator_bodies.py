"""Bodies of generators: recorded from resume to yield, replayed, left and resumed in all possible ways."""
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
# f(2) => record, hit
# f(3) => hit, hit
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
# f([1, 2]) => record record hit exit record hit exit record, hit hit hit exit hit hit exit hit
# f([3]) => hit hit exit hit exit hit, hit hit exit hit exit hit
# f([]) => hit exit hit, hit exit hit
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
# f() => record record hit record record, hit hit hit hit hit
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
# f(1) => record, hit
# f(2) => hit record, hit hit
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
# f(2) => record record record hit exit record, hit hit hit hit exit hit
# f(3) => hit hit hit hit hit exit hit, hit hit hit hit hit exit hit
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
