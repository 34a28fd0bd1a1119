"""Exceptions through generators and coroutines that another one delegates to inside the graph."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B007, B012, B023, B026, B904


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
