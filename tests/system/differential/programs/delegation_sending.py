"""send() and coroutines: values into the body that is in the graph of the one who drives it."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B007, B012, B023, B026, B904


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
