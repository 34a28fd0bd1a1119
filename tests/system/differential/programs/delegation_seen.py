"""Who looks at a delegation: from inside, from outside, by the lives of what takes part."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B007, B012, B023, B026, B904


# program: delegation_seen_from_inside
# trace: f, outer, inner
# f(2) => record, hit
# f(2) => hit, hit
# f(3) => hit exit record record, hit exit hit hit
import inspect


def look(where):
    states = [(g.gi_running, g.gi_suspended, g.gi_yieldfrom is the_inner, g.gi_yieldfrom is None,
               inspect.getgeneratorstate(g)) for g in (the_outer, the_inner)]
    lines = [g.gi_frame and (g.gi_frame.f_lineno, sorted(g.gi_frame.f_locals)) for g in (the_outer, the_inner)]
    seen.append((where, states, lines))


def inner(n):
    for i in range(n):
        look("inner")
        yield i
    return "end"


def outer():
    x = yield from the_inner
    look("outer")
    yield x


def f(n):
    global the_outer, the_inner, seen
    the_inner, the_outer, seen = inner(n), outer(), []
    for x in the_outer:
        look("consumer")
    return seen


# program: call_stack_through_delegation
# trace: f, outer, inner
# f(2) => record, hit
# f(2) => hit, hit
import sys
import warnings


def stack():
    frame, out = sys._getframe(1), []
    while frame and frame.f_code.co_filename == here:
        out.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
        frame = frame.f_back
    return out


here = stack.__code__.co_filename


def inner(n):
    for i in range(n):
        x = stack()
        warnings.warn("level 1", stacklevel=1)
        warnings.warn("level 2", stacklevel=2)
        warnings.warn("level 3", stacklevel=3)
        yield x


def outer(n):
    before = "outer"
    yield from inner(n)


def f(n):
    out = []
    for x in outer(n):
        out.append(x)
    return out


# program: inner_kept_and_resumed_by_others
# trace: f, outer, inner
# f(5) => record, hit
# f(5) => hit, hit
# f(4) => hit exit record, hit exit hit
def inner(n):
    for i in range(n):
        yield i
    return "end"


def outer(it):
    yield (yield from it)


def f(n):
    it = inner(n)
    out = []
    for x in outer(it):
        out.append(x)
        out.append(next(it, "none"))
    return out


# program: inner_already_exhausted
# trace: f, outer, inner
# f(0) => record, hit
# f(2) => hit exit record hit exit record record, hit exit hit hit exit hit hit
# f(0) => hit, hit
def inner(n):
    for i in range(n):
        yield i
    return "end"


def outer(it):
    yield (yield from it)
    yield (yield from it)


def f(n):
    out = []
    for x in outer(inner(n)):
        out.append(x)
    return out


# program: inner_already_running
# trace: f, outer, inner
# f() => record, hit
# f() => hit, hit
def inner():
    yield "start"
    yield from the_outer


def outer():
    try:
        yield from the_inner
    except ValueError as error:
        yield str(error)


def f():
    global the_inner, the_outer
    the_inner, the_outer = inner(), outer()
    out = []
    for x in the_outer:
        out.append(x)
    return out


# program: something_sent_to_a_fresh_inner
# trace: outer, inner
# f(None) => record record record, hit hit hit
# f(1) => hit hit miss record, hit hit hit
# f(1) => hit hit hit, hit hit hit
def inner():
    got = yield "inner"
    return got


def outer():
    it = yield "which?"
    yield (yield from it)


class Sender:
    def __init__(self, value):
        self.value = value

    def __iter__(self):
        return inner()


def f(value):
    g = outer()
    out = [next(g), g.send(Sender(value))]
    try:
        out.append(g.send(value))
    except TypeError as error:
        out.append(str(error))
    return out


# program: inner_dies_right_after_its_return
# trace: f, outer, inner
# f(2) => record, hit
# f(2) => hit, hit
# f(3) => hit exit record record, hit exit hit hit
import weakref


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def inner(n):
    first = Noisy("first")
    second = Noisy("second")
    for i in range(n):
        x = Noisy(i)
        yield x
        print("resumed")
    return Noisy("result")


def outer(n):
    it = inner(n)
    weakref.finalize(it, print, "inner is gone")
    x = yield from it
    del it
    print("returned", x.name)
    y = yield from inner(1)
    print("returned", y.name)


def f(n):
    for x in outer(n):
        print("take", x.name)
    print("behind")


# program: sent_values_die_in_time
# trace: outer, inner
# f(2) => record record miss record record, hit hit hit hit
# f(2) => hit hit hit hit, hit hit hit hit
class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def inner(n):
    for i in range(n):
        got = yield Noisy(("given", i))
        print("got", got and got.name)
    return Noisy("result")


def outer(n):
    x = yield from inner(n)
    print("returned", x.name)
    yield x


def f(n):
    g = outer(n)
    print(next(g).name)
    for i in range(n):
        print(g.send(Noisy(("sent", i))).name)
    return list(g)


# program: delegation_in_with_and_finally
# trace: f, outer, inner
# f(2, 1) => record, hit
# f(2, 0) => hit exit record record record record record, hit exit hit hit hit hit hit
# f(2, 0) => hit exit hit hit hit hit hit, hit exit hit hit hit hit hit
class Manager:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        print("enter", self.name)

    def __exit__(self, kind, *rest):
        print("exit", self.name, kind)
        return kind is ZeroDivisionError


def inner(n, x):
    with Manager("inner"):
        for i in range(n):
            yield i
    try:
        yield 6 // x
    finally:
        yield "finally"


def outer(n, x):
    with Manager("outer"):
        try:
            yield from inner(n, x)
        finally:
            yield from inner(1, 1)
    yield "end"


def f(n, x):
    out = []
    for y in outer(n, x):
        out.append(y)
    return out


# program: frames_kept_while_delegated
# trace: f, outer, inner
# f(2) => record, hit
# f(2) => hit, hit
import sys


def inner(n):
    frames.append(sys._getframe())
    for i in range(n):
        x = i * 2
        yield x
    return "end"


def outer(n):
    frames.append(sys._getframe())
    x = yield from inner(n)
    yield x


def f(n):
    global frames
    frames = []
    for x in outer(n):
        print([(frame.f_lineno, sorted(frame.f_locals), frame.f_back) for frame in frames])
    return [(frame.f_lineno, frame.f_locals, frame.f_back) for frame in frames]


# program: profiled_while_delegated
# trace: f, outer, inner
# f(False) => record, hit
# f(True) => hit exit record stop:watched, hit exit hit exit
# f(False) => hit, hit
import sys


def inner(n, watch):
    for i in range(n):
        if watch and i == 1:
            sys.setprofile(profile)
        yield i
    return "end"


def outer(n, watch):
    x = yield from inner(n, watch)
    yield x


def profile(frame, event, arg):
    if frame.f_code.co_name in ("f", "outer", "inner"):
        events.append((frame.f_code.co_name, event, frame.f_lineno, arg if event == "return" else None))


def f(watch):
    global events
    events = []
    for x in outer(4, watch):
        pass
    sys.setprofile(None)
    return events


# program: code_exchanged_while_delegated
# trace: f, outer, inner
# f(3) => record, hit exit record hit hit exit record
# f(3) => hit exit hit hit hit exit hit, hit exit hit hit hit exit hit
def inner(n):
    for i in range(n):
        yield i


def other(n):
    yield "other"


def outer(n):
    yield from inner(n)
    yield from inner(n)


def f(n):
    old = inner.__code__
    out = []
    for x in outer(n):
        out.append(x)
        inner.__code__ = other.__code__
    inner.__code__ = old
    return out


# program: finalisers_while_delegated
# trace: f, outer, inner
# f(2) => record, hit
# f(2) => hit, hit
class Nosy:
    def __del__(self):
        import sys
        frame, out = sys._getframe(1), []
        while frame.f_code.co_filename == here:
            out.append((frame.f_code.co_name, frame.f_lineno))
            frame = frame.f_back
        print(out)


here = Nosy.__del__.__code__.co_filename


def inner(n):
    x = Nosy()
    for i in range(n):
        y = Nosy()
        yield i
    return "end"


def outer(n):
    z = Nosy()
    z = yield from inner(n)
    yield z


def f(n):
    out = []
    for x in outer(n):
        out.append(x)
    return out
