"""Generators whose bodies are recorded into the graph of the `for` that consumes them."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B007, B012, B023, B026, B904


# program: consumed_to_the_end
# trace: f, g
# f(3) => record, hit
# f(3.5) => hit, hit
def g(n, x):
    for i in range(n):
        y = i * x
        yield y


def f(x):
    total = 0
    for y in g(3, x):
        total += y
    return total


# program: consumed_with_other_lengths
# trace: f, g
# f(2) => record, hit
# f(4) => hit exit record hit exit, hit exit hit hit exit
# f(1) => hit exit, hit exit
# f(0) => hit exit, hit exit
# f(2) => hit, hit
def g(n):
    print("start")
    for i in range(n):
        print("give", i)
        yield i
    print("end")


def f(n):
    out = []
    for x in g(n):
        print("take", x)
        out.append(x)
    else:
        print("else")
    return out


# program: consumed_and_left
# trace: f, g
# f(1) => record, hit
# f(2) => hit exit record, hit exit hit
# f(9) => hit exit hit hit hit exit, hit exit hit hit hit exit
def g():
    try:
        for i in range(4):
            yield i
    finally:
        print("finally")


def f(n):
    for x in g():
        if x == n:
            break
    print("behind", x)
    return x


# program: consumed_and_returned_from
# trace: f, g
# f(1) => record, hit
# f(5) => hit exit record hit hit exit, hit exit hit hit hit exit
def g():
    try:
        for i in range(4):
            yield i
    finally:
        print("finally")


def f(n):
    for x in g():
        if x == n:
            return "found"
    return "not found"


# program: guards_fail_inside_the_body
# trace: f, g
# f([1, 2]) => record, hit
# f([1, "a"]) => hit exit record, hit exit hit
# f([-1, 2]) => hit exit hit exit record, hit exit hit exit hit
# f([2, -1, 3]) => hit exit hit exit hit, hit exit hit exit hit
def g(items):
    for x in items:
        if isinstance(x, int) and x > 0:
            yield x
        else:
            yield ("other", x)
        print("after", x)


def f(items):
    out = []
    for x in g(items):
        out.append(x)
    return out


# program: body_raises
# trace: f, g
# f([1, 2]) => record, hit
# f([1, 0]) => hit exit, hit exit
# f([0]) => hit exit, hit exit
def g(items):
    for x in items:
        yield 6 // x


def f(items):
    out = []
    try:
        for x in g(items):
            out.append(x)
    except ZeroDivisionError as error:
        tb = error.__traceback__
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
    return out


# program: body_raises_when_recorded
# trace: f, g
# f([1, 0]) => record, hit
# f([1, 2]) => hit exit record, hit exit hit
def g(items):
    for x in items:
        yield 6 // x


def f(items):
    out = []
    try:
        for x in g(items):
            out.append(x)
    except ZeroDivisionError as error:
        tb = error.__traceback__
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
    return out


# program: body_catches
# trace: f, g
# f([1, 0, 2]) => record, hit
# f([0, 1, "a"]) => hit exit record hit exit, hit exit hit hit exit
def g(items):
    for x in items:
        try:
            y = 6 // x
        except ZeroDivisionError as error:
            y = str(error)
        yield y


def f(items):
    out = []
    for x in g(items):
        out.append(x)
    return out


# program: callee_of_the_body_raises
# trace: f, g, inverse
# f([1, 2]) => record, hit
# f([1, 0]) => hit exit, hit exit
# f([2, 0]) => hit exit, hit exit
def inverse(x):
    return 6 // x


def g(items):
    for x in items:
        yield inverse(x)


def f(items):
    out = []
    try:
        for x in g(items):
            out.append(x)
    except ZeroDivisionError as error:
        tb = error.__traceback__
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
    return out


# program: callee_of_the_body_raises_when_recorded
# trace: f, g, inverse
# f([1, 0]) => record, hit
# f([1, 2]) => hit exit record, hit exit hit
def inverse(x):
    return 6 // x


def g(items):
    for x in items:
        yield inverse(x)


def f(items):
    out = []
    try:
        for x in g(items):
            out.append(x)
    except ZeroDivisionError as error:
        out.append(str(error))
    return out


# program: body_raises_stop_iteration
# trace: f, g
# f(1) => record, hit
# f(0) => hit exit, hit exit
def g(n):
    yield 1
    if not n:
        raise StopIteration("no")
    yield 2


def f(n):
    out = []
    try:
        for x in g(n):
            out.append(x)
    except RuntimeError as error:
        out.append((str(error), repr(error.__cause__)))
    return out


# program: consumer_raises
# trace: f, g
# f(1) => record, hit
# f(0) => hit, hit
def g():
    try:
        yield 1
        yield 0
    finally:
        print("finally")


def f(n):
    out = []
    try:
        for x in g():
            out.append(n // x)
    except ZeroDivisionError as error:
        out.append(str(error))
    return out


# program: frames_seen_from_inside
# trace: f, g, stack
# f(2) => record, hit
# f(3) => record hit exit hit exit record, hit hit exit hit exit hit
import sys


def stack():
    frame, out = sys._getframe(1), []
    while frame and frame.f_code.co_filename == here:
        out.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
        frame = frame.f_back
    return out


here = stack.__code__.co_filename


def g(n):
    for i in range(n):
        x = stack()
        yield x


def f(n):
    out = []
    for x in g(n):
        out.append(x)
        out.append(stack())
    return out


# program: state_seen_from_inside
# trace: f, g
# f(2) => record, hit
# f(3) => hit exit record, hit exit hit
import inspect


def g(n):
    yield "first"
    for i in range(n):
        look()
        yield i


def look():
    seen.append((inspect.getgeneratorstate(it), it.gi_running, it.gi_frame.f_lineno, dict(it.gi_frame.f_locals)))


def f(n):
    global it, seen
    seen = []
    it = g(n)
    for x in it:
        seen.append((inspect.getgeneratorstate(it), it.gi_running))
        look()
    return seen, it.gi_frame


# program: resumed_by_others_in_between
# trace: f, g
# f(3) => record, hit
# f(4) => hit exit record, hit exit hit
def g(n):
    for i in range(n):
        got = yield i
        print("got", got)


def f(n):
    it = g(n)
    out = []
    for x in it:
        out.append(x)
        try:
            out.append(it.send("sent"))
        except StopIteration:
            out.append("stop")
    return out


# program: closed_in_between
# trace: f, g
# f(0) => record, hit
# f(1) => hit exit record, hit exit hit
def g():
    try:
        for i in range(3):
            yield i
    finally:
        print("finally")


def f(n):
    it = g()
    for x in it:
        print(x)
        if x == n:
            it.close()
    return list(it)


# program: resumes_itself
# trace: f, g
# f() => record, hit
def g():
    yield 1
    try:
        next(it)
    except ValueError as error:
        yield str(error)


def f():
    global it
    it = g()
    out = []
    for x in it:
        out.append(x)
    return out


# program: exception_info_while_inlined
# trace: f, g
# f(2) => record, hit
# f(1) => hit exit, hit exit
import sys


def g(n):
    for i in range(n):
        yield sys.exc_info()[0]
        try:
            raise KeyError(i)
        except KeyError:
            pass
        yield sys.exc_info()[0]


def f(n):
    out = []
    try:
        raise IndexError
    except IndexError:
        for x in g(n):
            out.append((x, sys.exc_info()[0]))
    return out


# program: yields_while_handling
# trace: f, g
# f(2) => record, hit
# f(2) => hit, hit
import sys


def g(n):
    for i in range(n):
        try:
            raise KeyError(i)
        except KeyError as error:
            yield error.args, sys.exc_info()[0]
        yield sys.exc_info()[0]


def f(n):
    out = []
    for x in g(n):
        out.append((x, sys.exc_info()[0]))
    return out


# program: values_die_in_time
# trace: f, g
# f(2) => record, hit
# f(3) => hit exit record, hit exit hit
class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g(n):
    kept = Noisy("kept")
    for i in range(n):
        x = Noisy(i)
        yield x
        print("resumed")
    print("end")


def f(n):
    for x in g(n):
        print("take", x.name)
    print("behind")


# program: generator_dies_with_its_loop
# trace: f, g
# f(2) => record, hit
# f(3) => hit, hit
class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g(n):
    local = Noisy("local")
    try:
        for i in range(n):
            yield i
    finally:
        print("finally")


def f(n):
    for x in g(n):
        if x == 1:
            break
    print("behind")


# program: frame_kept_by_a_callee
# trace: f, g
# f(2) => record, hit
# f(3) => hit exit, hit exit
import sys


def g(n):
    frames.append(sys._getframe())
    for i in range(n):
        x = i * 2
        yield x


def f(n):
    global frames
    frames = []
    for x in g(n):
        print(frames[0].f_lineno, sorted(frames[0].f_locals), frames[0].f_back)
    return frames[0].f_locals, frames[0].f_lineno


# program: nested_consumers
# trace: f, g, h
# f(2) => record, hit
# f(3) => hit exit record record hit exit record, hit exit hit hit hit exit hit
def g(n):
    for i in range(n):
        yield i


def h(n):
    for x in g(n):
        yield x * 10


def f(n):
    out = []
    for y in h(n):
        for x in g(y // 10):
            out.append((y, x))
    return out


# program: two_at_a_time
# trace: f, g
# f(3) => record, hit
# f(2) => hit exit, hit exit
def g(name, n):
    for i in range(n):
        yield name, i


def f(n):
    out = []
    a = g("a", n)
    for x in a:
        out.append(x)
        for y in g("b", 2):
            out.append(y)
        for z in a:
            out.append(z)
            break
    return out


# program: delegating_generators_consumed
# trace: f, g, h
# f(2) => record, hit
# f(3) => hit exit record record, hit exit hit hit
def h(n):
    for i in range(n):
        yield i
    return "result"


def g(n):
    x = yield from h(n)
    yield x


def f(n):
    out = []
    for x in g(n):
        out.append(x)
    return out


# program: expressions_consumed
# trace: f
# f([1, 2, 3]) => record, hit
# f([1, 2]) => hit exit, hit exit
def f(items):
    out = []
    k = 2
    for x in (i * k for i in items if i != 2):
        out.append(x)
    return out


# program: locals_unbound_in_places
# trace: f, g
# f(True) => record, hit
# f(False) => hit exit record record, hit exit hit hit
def g(bound):
    if bound:
        x = 1
    yield "a"
    try:
        yield x
    except NameError as error:
        yield str(error)
    if bound:
        del x
    yield "b"


def f(bound):
    out = []
    for x in g(bound):
        out.append(x)
    return out


# program: closures_of_an_inlined_body
# trace: f, g
# f(2) => record, hit
# f(3) => hit exit record, hit exit hit
def g(n):
    count = 0

    def more():
        nonlocal count
        count += 1
        return count

    for i in range(n):
        yield more, count
        count += 10


def f(n):
    out = []
    for more, count in g(n):
        out.append((more(), count))
    return out


# program: code_exchanged_in_between
# trace: f, g
# f(3) => record, hit exit
# f(3) => hit exit, hit exit
def g(n):
    for i in range(n):
        yield i


def other(n):
    yield "other"


def f(n):
    old = g.__code__
    out = []
    for x in g(n):
        out.append(x)
        g.__code__ = other.__code__
    for x in g(n):
        out.append(x)
    g.__code__ = old
    return out


# program: profiled_in_between
# trace: f, g
# f(False) => record, hit
# f(True) => hit exit record stop:watched, hit exit hit exit
# f(False) => hit, hit
import sys


def g(n, watch):
    for i in range(n):
        if watch and i == 1:
            sys.setprofile(profile)
        yield i


def profile(frame, event, arg):
    if frame.f_code.co_name in ("f", "g"):
        events.append((frame.f_code.co_name, event, frame.f_lineno, arg if event == "return" else None))


def f(watch):
    global events
    events = []
    for x in g(4, watch):
        pass
    sys.setprofile(None)
    return events


# program: warnings_of_an_inlined_body
# trace: f, g
# f(2) => record, hit
# f(2) => hit, hit
import warnings


def g(n):
    for i in range(n):
        warnings.warn("from body", stacklevel=1)
        warnings.warn("from consumer", stacklevel=2)
        yield i


def f(n):
    out = []
    for x in g(n):
        out.append(x)
    return out


# program: consumed_as_an_argument
# trace: f, g, use
# f(2) => record record hit exit record, hit hit hit exit hit
# f(3) => hit exit hit exit record hit hit hit hit exit hit, hit exit hit exit hit hit hit hit hit exit hit
def g(n):
    for i in range(n):
        yield i


def use(items):
    out = []
    for x in items:
        out.append(x)
    return out


def f(n):
    return use(g(n)), use(range(n)), use(x for x in g(n))


# program: with_in_an_inlined_body
# trace: f, g
# f(2) => record, hit
# f(3) => hit, hit
class Manager:
    def __enter__(self):
        print("enter")

    def __exit__(self, *what):
        print("exit", what[0])


def g(n):
    with Manager():
        for i in range(n):
            with Manager():
                yield i


def f(n):
    for x in g(n):
        print(x)
        if x == 1:
            break
    return x
