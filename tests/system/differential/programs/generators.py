"""Generators, coroutines and asynchronous generators: in programs that trace their consumers, and in some that trace both."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: generator_consumed
# f(3) => record, hit
# f(4) => hit exit
# f(2) => hit exit
def numbers(n):
    for i in range(n):
        print("yield", i)
        yield i


def f(n):
    total = 0
    for i in numbers(n):
        total += i
    return total


# program: generator_in_c_consumers
# f(3) => record, hit
# f(5) => hit
# f(0) => hit
def numbers(n):
    yield from range(n)


def f(n):
    return list(numbers(n)), sum(numbers(n)), tuple(x for x in numbers(n)), dict(enumerate(numbers(n)))


# program: generator_send_throw_close
# f(5) => record, hit
# f("v") => hit
def echo():
    got = yield "ready"
    while True:
        try:
            got = yield ("got", got)
        except ValueError as error:
            got = ("caught", str(error))
        finally:
            print("round")


def f(x):
    g = echo()
    out = [next(g), g.send(x), g.throw(ValueError("v")), g.send(None)]
    g.close()
    return out


# program: generator_outlives_recording
# f(2) => record, hit
# f(7) => hit
def f(n):
    def gen():
        nonlocal n
        while True:
            n += 1
            yield n

    g = gen()
    return next(g), next(g), g


# program: generator_returned_value
# f([1, 2]) => record, hit
# f([]) => hit
def inner(items):
    yield from items
    return len(items)


def outer(items):
    n = yield from inner(items)
    yield ("length", n)


def f(items):
    return list(outer(items))


# program: generator_raises_in_loop
# f([1, 2]) => record, hit
# f([1, 0]) => hit exit
# f([4, 5]) => hit
def inverse(items):
    for x in items:
        yield 10 // x


def f(items):
    out = []
    try:
        for x in inverse(items):
            out.append(x)
    except ZeroDivisionError as error:
        out.append(error)
    return out


# program: traced_generator_function
# f(3) => none
# list(f(2)) => record record hit exit, hit hit hit exit
# list(f(0)) => hit exit
def f(n):
    for i in range(n):
        yield i * 2


# program: generator_partly_consumed
# note: the generator is closed when its last reference goes, which is at the end of the loop
# f(3) => record, hit
# f(5) => hit
def numbers(n):
    try:
        for i in range(n):
            yield i
    finally:
        print("closed")


def f(n):
    for i in numbers(n):
        if i == 1:
            break
    print("after the loop")
    return i


# program: coroutine_driven_by_hand
# f(3) => record, hit
# f("x") => hit
class Later:
    def __await__(self):
        got = yield "waiting"
        return got


async def work(x):
    a = await Later()
    return x, a


def f(x):
    c = work(x)
    first = c.send(None)
    try:
        c.send("answer")
    except StopIteration as stop:
        return first, stop.value


# program: asyncio_run
# f(3) => record, hit
# f(4) => hit
import asyncio


async def one(x):
    await asyncio.sleep(0)
    return x * 2


async def main(x):
    return await asyncio.gather(one(x), one(x + 1))


def f(x):
    return asyncio.run(main(x))


# program: async_generators_and_with
# f([1, 2]) => record, hit
# f([3]) => hit
class Manager:
    async def __aenter__(self):
        print("aenter")
        return self

    async def __aexit__(self, *what):
        print("aexit", what[0])


async def gen(items):
    for x in items:
        yield x


async def main(items):
    out = []
    async with Manager():
        async for x in gen(items):
            out.append(x)
    return out


def f(items):
    c = main(items)
    try:
        c.send(None)
    except StopIteration as stop:
        return stop.value


# program: traced_function_called_from_generator
# list(gen(3)) => record hit hit
# list(gen(1)) => hit
def f(x):
    return x * 2


def gen(n):
    for i in range(n):
        yield f(i)


# program: coroutine_never_awaited
# f(1) => record, hit
async def work(x):
    return x


def f(x):
    work(x)
    return x


# program: itertools_pipelines
# f([1, 2, 3]) => record, hit
# f([4]) => hit
import itertools


def f(items):
    a = itertools.accumulate(items)
    b = itertools.chain(items, "ab")
    c = itertools.islice(itertools.count(len(items)), 2)
    d = itertools.takewhile(lambda x: x < 3, items)
    return list(a), list(b), list(c), list(d), list(map(lambda x, y: (x, y), items, itertools.repeat(0)))
