"""Generators and coroutines that `yield from`, `await` and send() resume inside the graph of the one who delegates."""
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


# program: delegated_body_raises
# trace: f, outer, inner
# f([1, 2]) => record, hit
# f([1, 0]) => hit exit, hit exit
# f([1, 0]) => hit exit, hit exit
# f([0]) => hit exit, hit exit
def inner(items):
    for x in items:
        yield 6 // x


def outer(items):
    try:
        yield from inner(items)
    except ZeroDivisionError as error:
        yield places(error), error.__context__


def places(error):
    tb, out = error.__traceback__, []
    while tb:
        out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_lasti, tb.tb_frame.f_lineno, sorted(tb.tb_frame.f_locals)))
        tb = tb.tb_next
    return out


def f(items):
    out = []
    for x in outer(items):
        out.append(x)
    return out


# program: delegated_body_raises_when_recorded
# trace: f, outer, inner
# f([1, 0]) => record, hit
# f([1, 0]) => hit, hit
# f([1, 2]) => hit exit record, hit exit hit
def inner(items):
    for x in items:
        yield 6 // x


def outer(items):
    try:
        yield from inner(items)
    except ZeroDivisionError as error:
        yield places(error), error.__context__


def places(error):
    tb, out = error.__traceback__, []
    while tb:
        out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_lasti, tb.tb_frame.f_lineno, sorted(tb.tb_frame.f_locals)))
        tb = tb.tb_next
    return out


def f(items):
    out = []
    for x in outer(items):
        out.append(x)
    return out


# program: exception_through_all_levels
# trace: f, outer, middle, inner
# f([1, 0]) => record, hit
# f([1, 0]) => hit, hit
# f([1, 2]) => hit exit record, hit exit hit
def inner(items):
    try:
        for x in items:
            yield 6 // x
    finally:
        print("inner finally")


def middle(items):
    try:
        yield from inner(items)
    finally:
        print("middle finally")


def outer(items):
    yield from middle(items)


def f(items):
    out = []
    try:
        for x in outer(items):
            out.append(x)
    except ZeroDivisionError as error:
        tb = error.__traceback__
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_lasti))
            tb = tb.tb_next
    return out


# program: exception_out_of_the_delegating_root
# trace: outer, inner
# f([0]) => record, hit
# f([0]) => hit, hit
# f([1]) => hit exit record, hit exit hit
def inner(items):
    for x in items:
        yield 6 // x


def outer(items):
    yield from inner(items)


def f(items):
    out = []
    g = outer(items)
    try:
        for x in g:
            out.append(x)
    except ZeroDivisionError as error:
        tb = error.__traceback__
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_lasti))
            tb = tb.tb_next
    return out, g.gi_frame, g.gi_yieldfrom, next(g, "over")


# program: stop_iteration_out_of_the_delegated_body
# trace: f, outer, inner
# f(0) => record, hit
# f(0) => hit, hit
# f(1) => hit exit record, hit exit hit
def inner(n):
    if not n:
        raise StopIteration("no")
    yield n


def outer(n):
    try:
        yield from inner(n)
    except RuntimeError as error:
        yield str(error), repr(error.__cause__), repr(error.__context__), error.__suppress_context__


def f(n):
    out = []
    for x in outer(n):
        out.append(x)
    return out


# program: exception_with_a_context_of_its_own
# trace: f, outer, inner, fail
# f(1) => record record, hit hit
# f(0) => hit exit hit exit, hit exit hit exit
# f(0) => hit exit hit exit, hit exit hit exit
def fail(n):
    try:
        1 // n
    except ZeroDivisionError:
        raise ValueError("from it")


def inner(n):
    try:
        raise KeyError("handled")
    except KeyError:
        yield "handling"
        fail(n)
    yield "done"


def outer(n):
    try:
        yield from inner(n)
    except ValueError as error:
        context = error.__context__
        yield repr(error), repr(context), repr(context.__context__), repr(context.__context__.__context__)


def f(n):
    out = []
    for x in outer(n):
        out.append(x)
    return out


# program: reraised_out_of_the_delegated_body
# trace: f, outer, inner
# f(0) => record, hit
# f(0) => hit, hit
# f(1) => hit exit record, hit exit hit
def inner(n):
    try:
        yield 6 // n
    except ZeroDivisionError as error:
        print("note", error)
        raise
    finally:
        print("finally")


def outer(n):
    try:
        yield from inner(n)
    except ZeroDivisionError as error:
        tb = error.__traceback__
        while tb:
            yield tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_lasti
            tb = tb.tb_next


def f(n):
    out = []
    for x in outer(n):
        out.append(x)
    return out


# program: consumed_body_raises_through
# trace: f, g, inverse
# f([1, 0]) => record, hit
# f([1, 0]) => hit, hit
# f([1, 2]) => hit exit record, hit exit hit
def inverse(x):
    return 6 // x


def g(items):
    for x in items:
        yield inverse(x)


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
    return out, it.gi_frame, list(it)


# program: consumed_body_raises_out_of_the_consumer
# trace: f, g
# f([1, 0]) => record, hit
# f([1, 0]) => hit, hit
# f([1, 2]) => hit exit record, hit exit hit
def g(items):
    kept = list(items)
    for x in kept:
        yield 6 // x


def f(items):
    out = []
    for x in g(items):
        out.append(x)
    return out


# program: throw_while_delegated
# trace: outer, inner
# f(ValueError) => record record record, hit hit hit
# f(ValueError) => hit hit hit, hit hit hit
# f(KeyError) => hit hit, hit hit
def inner():
    try:
        yield "first"
        yield "second"
    except ValueError as error:
        yield "caught", str(error)
    finally:
        print("inner finally")
    return "returned"


def outer():
    try:
        x = yield from inner()
    except KeyError as error:
        x = repr(error)
    yield x


def f(kind):
    g = outer()
    out = [next(g), g.throw(kind("thrown"))]
    for x in g:
        out.append(x)
    return out


# program: closing_in_order
# trace: outer, middle, inner
# f(0) => none, none
# f(1) => record, hit
# f(2) => hit record, hit hit
def inner():
    try:
        yield "a"
        yield "b"
        yield "c"
    finally:
        print("inner")


def middle():
    try:
        yield from inner()
    finally:
        print("middle")


def outer():
    try:
        yield from middle()
    finally:
        print("outer")


def f(n):
    g = outer()
    for _ in range(n):
        print(next(g))
    g.close()
    return g.gi_frame, g.gi_yieldfrom


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


# program: exception_info_while_delegated
# trace: f, outer, inner
# f(2) => record hit record, hit hit hit
# f(2) => hit hit hit, hit hit hit
import sys


def now():
    return sys.exc_info()[0]


def inner(n):
    for i in range(n):
        yield now()
        try:
            raise KeyError(i)
        except KeyError as error:
            yield error.args, now()
        yield now()


def outer(n):
    try:
        raise LookupError
    except LookupError:
        yield from inner(n)
    yield now()


def f(n):
    out = []
    try:
        raise IndexError
    except IndexError:
        for x in outer(n):
            out.append((x, now()))
    return out


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


# program: sending_in_a_loop
# trace: f, average
# f([1, 2, 6]) => record, hit
# f([1, 2, 6]) => hit, hit
# f([1.5, 2, 7]) => hit, hit
# f([1, "a"]) => hit exit, hit exit
def average():
    total, count, value = 0, 0, None
    while True:
        x = yield value
        if x is None:
            return total
        total += x
        count += 1
        value = total / count


def f(items):
    g = average()
    g.send(None)
    out = []
    try:
        for x in items:
            out.append(g.send(x))
        g.send(None)
    except StopIteration as stop:
        out.append(("stop", stop.value, stop.args))
    except TypeError as error:
        tb = error.__traceback__
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
    return out


# program: sending_to_the_end
# trace: f, g
# f(1) => record, hit
# f(None) => hit, hit
# f((1, 2)) => hit, hit
def g(x):
    got = yield x
    return got


def f(x):
    it = g(x)
    it.send(None)
    out = []
    try:
        it.send(x)
    except StopIteration as stop:
        out.append((stop.value, stop.args, stop.__context__, stop.__traceback__.tb_lineno, stop.__traceback__.tb_next))
    try:
        it.send(x)
    except StopIteration as stop:
        out.append((stop.value, stop.args))
    return out, it.gi_frame


# program: sending_without_a_handler
# trace: f, g
# f(1) => record, hit
# f(2) => hit, hit
def g(x):
    yield x


def f(x):
    it = g(x)
    it.send(None)
    return it.send(None)


# program: sending_wrong_things
# trace: f, g
# f(1) => record, hit
# f(1) => hit, hit
def g(x):
    try:
        yield it.send(None)
    except ValueError as error:
        yield str(error)


def f(x):
    global it
    it = g(x)
    out = []
    for value in (1, None, 2):
        try:
            out.append(it.send(value))
        except (TypeError, StopIteration) as error:
            out.append(repr(error))
    try:
        it.send()
    except TypeError as error:
        out.append(str(error))
    return out


# program: coroutines_driven_in_the_graph
# trace: f, work, part
# f(3) => record, hit
# f(3) => hit, hit
# f("ab") => hit, hit
async def part(x, i):
    return x * i


async def work(x):
    total = []
    for i in range(3):
        total.append(await part(x, i))
    return total


def f(x):
    c = work(x)
    try:
        c.send(None)
    except StopIteration as stop:
        return stop.value, c.cr_frame, c.cr_running


# program: chain_of_awaits
# trace: main, a, b, c
# f(2) => record, hit
# f(3) => hit, hit
# f(0) => hit exit record record, hit exit hit hit
async def c(n):
    return 6 // n


async def b(n):
    return await c(n) + 1


async def a(n):
    try:
        return await b(n) + 1
    except ZeroDivisionError as error:
        tb, out = error.__traceback__, []
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_lasti))
            tb = tb.tb_next
        return out


async def main(n):
    return await a(n), await b(1), await a(n)


def f(n):
    try:
        main(n).send(None)
    except StopIteration as stop:
        return stop.value


# program: chain_that_suspends
# trace: main, a, b
# f(2) => record record miss record, hit hit hit
# f(2) => hit hit hit, hit hit hit
# f("x") => hit hit hit, hit hit hit
class Later:
    def __await__(self):
        return (yield self)


async def b(n):
    return await Later(), n


async def a(n):
    x = await b(n)
    y = await b(n)
    return x, y


async def main(n):
    return await a(n)


def chain(c):
    out = []
    while c is not None and hasattr(c, "cr_await"):
        out.append((c.__name__, c.cr_running, c.cr_suspended, c.cr_frame.f_lineno))
        c = c.cr_await
    return out


def f(n):
    c = main(n)
    seen = []
    try:
        for i in range(5):
            c.send(i or None)
            seen.append(chain(c))
    except StopIteration as stop:
        return stop.value, seen


# program: throw_and_close_while_awaiting
# trace: main, a
# f(ValueError) => record hit, hit hit
# f(KeyError) => hit hit, hit hit
class Later:
    def __await__(self):
        yield


async def a():
    try:
        await Later()
    except ValueError:
        print("caught")
    finally:
        print("a finally")
    return "a"


async def main():
    try:
        return await a()
    finally:
        print("main finally")


def f(kind):
    c = main()
    c.send(None)
    d = main()
    d.send(None)
    d.close()
    try:
        c.throw(kind)
    except StopIteration as stop:
        return stop.value
    except KeyError as error:
        tb, out = error.__traceback__, []
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_lasti))
            tb = tb.tb_next
        return out


# program: coroutine_raises_stop_iteration
# trace: main, a
# f(0) => record, hit
# f(0) => hit, hit
# f(1) => hit exit, hit exit
async def a(n):
    if not n:
        raise StopIteration("no")
    return n


async def main(n):
    try:
        return await a(n)
    except RuntimeError as error:
        return str(error), repr(error.__cause__)


def f(n):
    try:
        main(n).send(None)
    except StopIteration as stop:
        return stop.value


# program: awaited_by_two
# trace: main, a
# f(1) => record hit exit record hit exit, hit hit exit hit hit exit
# f(1) => hit hit exit hit hit exit, hit hit exit hit hit exit
class Later:
    def __await__(self):
        yield


async def a():
    await Later()
    return "a"


async def main(c):
    try:
        return await c
    except RuntimeError as error:
        return str(error)


def f(n):
    c = a()
    first, second = main(c), main(c)
    out = []
    first.send(None)
    for each in (second, first, main(c)):
        try:
            each.send(None)
        except StopIteration as stop:
            out.append(stop.value)
    return out


# program: generator_coroutines_awaited
# trace: main, pause
# f(3) => record record hit hit exit record record, hit hit hit hit exit hit hit
# f(4) => hit hit hit hit hit exit hit hit, hit hit hit hit hit exit hit hit
import types


@types.coroutine
def pause(n):
    total = 0
    for i in range(n):
        total += yield i
    return total


async def main(n):
    return await pause(n), await pause(1)


def f(n):
    c = main(n)
    out = [c.send(None)]
    try:
        while True:
            out.append(c.send(2))
    except StopIteration as stop:
        return out, stop.value


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
