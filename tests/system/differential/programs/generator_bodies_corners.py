"""Bodies of generators whose frames are looked at, that nest, change the world, are watched or run in threads."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B012, B023, B026, B904


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
# f(2) => record record record hit exit record record hit exit, hit hit hit hit exit hit hit hit exit
# f(2) => hit hit hit hit exit hit hit hit exit, hit hit hit hit exit hit hit hit exit
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
# f(3) => record record, miss record hit record hit
# f(12) => hit hit hit hit hit hit hit hit hit hit, hit hit hit hit hit hit hit hit hit hit
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
# f(990) => hit hit hit hit hit hit exit hit exit, hit hit hit hit hit hit exit hit exit
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
# f(3) => record record hit hit exit hit hit hit hit exit record, hit hit hit hit exit hit hit hit hit exit hit
# f(4) => hit exit hit exit hit hit hit hit hit exit hit hit hit hit hit exit, hit exit hit exit hit hit hit hit hit exit hit hit hit hit hit exit
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
# f(2) => record record hit exit record, hit hit hit exit hit
# f(3) => hit exit hit hit hit hit exit, hit exit hit hit hit hit exit
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
# f(2) => record record hit exit record record, hit hit hit exit hit hit
# f(3) => hit hit hit hit exit hit hit, hit hit hit hit exit hit hit
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


# program: locals_bound_on_one_path_only
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
