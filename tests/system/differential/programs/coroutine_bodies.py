"""Bodies of coroutines and asynchronous generators: recorded from resume to await, by hand and under asyncio."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B012, B023, B026, B904


# program: await_by_hand
# trace: work, Later.__await__
# f(3) => record record record, hit hit hit
# f("x") => hit hit hit, hit hit hit
class Later:
    def __init__(self, name):
        self.name = name

    def __await__(self):
        got = yield self.name
        return got


async def work(x):
    a = await Later("first")
    b = await Later(a)
    return x, a, b


def f(x):
    c = work(x)
    out = [c.send(None), c.send(x)]
    try:
        c.send("answer")
    except StopIteration as stop:
        out.append(stop.value)
    return out


# program: awaiting_nested_coroutines
# trace: work, inner
# f(2) => record record record, hit hit hit
# f(3) => record hit exit record hit exit hit hit, hit hit exit hit hit exit hit hit
class Later:
    def __await__(self):
        return (yield "later")


async def inner(n):
    if n:
        return await inner(n - 1) + 1
    return await Later()


async def work(n):
    x = await inner(n)
    y = await inner(0)
    return x, y


def f(n):
    c = work(n)
    out = [c.send(None), c.send(10)]
    try:
        c.send(20)
    except StopIteration as stop:
        out.append(stop.value)
    return out


# program: states_of_coroutines
# trace: work
# f() => record record record, hit hit hit
import inspect


class Later:
    def __await__(self):
        seen.append((inspect.getcoroutinestate(c), c.cr_await, c.cr_running))
        yield 1


async def work():
    x = 1
    await Later()
    y = 2
    await Later()


def f():
    global c, seen
    c, seen = work(), []
    states = []
    while True:
        states.append((inspect.getcoroutinestate(c), type(c.cr_await).__name__, c.cr_running,
                       c.cr_frame and (c.cr_frame.f_lineno, dict(c.cr_frame.f_locals))))
        try:
            c.send(None)
        except StopIteration:
            return states, seen, c.cr_await, c.cr_frame


# program: not_awaitable
# trace: work
# f(1) => record, hit
# f([2]) => hit, hit
async def work(x):
    try:
        await x
    except TypeError as error:
        print(error)
    async with x:
        pass


def f(x):
    try:
        work(x).send(None)
    except (TypeError, AttributeError) as error:
        return type(error), str(error)


# program: awaited_twice
# trace: work, main
# f(1) => record, hit
# f(2) => hit, hit
async def work(x):
    return x


async def main(x):
    c = work(x)
    a = await c
    try:
        await c
    except RuntimeError as error:
        return a, str(error)


def f(x):
    try:
        main(x).send(None)
    except StopIteration as stop:
        return stop.value


# program: throw_into_coroutines
# trace: work
# f(ValueError) => record, hit
# f(KeyError) => hit, hit
class Later:
    def __await__(self):
        try:
            yield 1
        finally:
            print("later finally")


async def work():
    try:
        await Later()
    except ValueError as error:
        print("caught", error)
        await Later()
    finally:
        print("work finally")


def f(kind):
    c = work()
    c.send(None)
    try:
        c.throw(kind("thrown"))
        c.send(None)
    except StopIteration:
        return "stop"
    except KeyError as error:
        tb, out = error.__traceback__, []
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
        return out


# program: closing_coroutines
# trace: work
# f() => record, hit
class Later:
    def __await__(self):
        yield 1


async def work():
    try:
        await Later()
    finally:
        print("finally")


def f():
    c = work()
    c.send(None)
    c.close()
    d = work()
    d.close()
    return c.cr_frame, d.cr_frame


# program: async_with
# trace: work, Manager.__aenter__, Manager.__aexit__
# f(1) => record record record record record, hit hit hit hit hit
# f(0) => hit hit hit exit record record hit miss record, hit hit hit exit hit hit hit hit
# f("a") => hit hit hit exit hit hit hit hit, hit hit hit exit hit hit hit hit
import types


@types.coroutine
def pause(x):
    return (yield x)


class Manager:
    def __init__(self, name):
        self.name = name

    async def __aenter__(self):
        print("aenter", self.name)
        return await pause(self.name)

    async def __aexit__(self, kind, value, tb):
        await pause("leaving")
        print("aexit", self.name, kind)
        return kind is ZeroDivisionError


async def work(x):
    async with Manager("a") as a, Manager("b") as b:
        print(a, b)
        y = 1 // x
        print(y)
    return a, b


def f(x):
    c = work(x)
    out = []
    try:
        while True:
            out.append(c.send(len(out) or None))
    except StopIteration as stop:
        out.append(stop.value)
    except TypeError as error:
        out.append(str(error))
    return out


# program: async_for
# trace: work, Counter.__anext__
# f(3) => record, hit
# f(2) => hit exit record hit, hit exit hit hit
# f(0) => hit exit hit exit, hit exit hit exit
class Counter:
    def __init__(self, n):
        self.n = n
        self.i = 0

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.i >= self.n:
            raise StopAsyncIteration
        self.i += 1
        return self.i


async def work(n):
    out = []
    async for x in Counter(n):
        out.append(x)
    else:
        out.append("else")
    async for x in Counter(n):
        if x == 2:
            break
    return out


def f(n):
    try:
        work(n).send(None)
    except StopIteration as stop:
        return stop.value


# program: async_for_raises
# trace: work
# f(1) => record, hit
# f(2) => hit exit, hit exit
class Bad:
    def __init__(self, n):
        self.n = n

    def __aiter__(self):
        return self

    async def __anext__(self):
        self.n -= 1
        if self.n:
            return self.n
        raise KeyError("bad")


async def work(n):
    async for x in Bad(n):
        print(x)


def f(n):
    try:
        work(n).send(None)
    except KeyError as error:
        tb, out = error.__traceback__, []
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
        return out, error.__context__


# program: async_for_over_wrong_things
# trace: work
# f(1) => record hit hit exit, hit hit hit exit
# f([1]) => hit hit hit exit, hit hit hit exit
class NoNext:
    def __aiter__(self):
        return 1


class BadNext:
    def __aiter__(self):
        return self

    def __anext__(self):
        return 1


async def work(x):
    async for y in x:
        print(y)


def f(x):
    out = []
    for each in (x, NoNext(), BadNext()):
        try:
            work(each).send(None)
        except TypeError as error:
            out.append((str(error), type(error.__cause__)))
    return out


# program: async_generator_by_hand
# trace: gen
# f(3) => record record miss record hit exit, hit hit hit hit exit
# f(2) => hit hit hit exit, hit hit hit exit
async def gen(n):
    for i in range(n):
        got = yield i
        print("got", got)


def run(c):
    try:
        c.send(None)
    except StopIteration as stop:
        return stop.value
    except StopAsyncIteration:
        return "stop async"


def f(n):
    g = gen(n)
    out = [run(g.asend(None))]
    for i in range(n):
        out.append(run(g.asend(i * 10)))
    return out, run(g.__anext__()), g.ag_running, g.ag_frame


# program: async_generator_athrow_aclose
# trace: gen
# f(ValueError) => record hit, hit hit
# f(KeyError) => hit hit, hit hit
async def gen():
    try:
        yield 1
        yield 2
    except ValueError:
        yield 3
    finally:
        print("finally")


def run(c):
    try:
        c.send(None)
    except StopIteration as stop:
        return stop.value
    except (StopAsyncIteration, KeyError) as error:
        return type(error)


def f(kind):
    g = gen()
    out = [run(g.__anext__()), run(g.athrow(kind)), run(g.aclose()), run(g.__anext__())]
    h = gen()
    out += [run(h.__anext__()), run(h.aclose()), run(h.aclose())]
    return out


# program: async_generator_awaits
# trace: gen, main
# f(2) => record record record record record record miss miss record record hit exit hit exit, hit hit hit hit hit hit hit hit hit exit hit exit
# f(3) => hit hit hit hit hit hit hit hit hit hit hit hit hit exit hit exit, hit hit hit hit hit hit hit hit hit hit hit hit hit exit hit exit
import types


@types.coroutine
def pause(x):
    return (yield x)


async def gen(n):
    for i in range(n):
        a = await pause(("gen", i))
        yield a, i


async def main(n):
    out = []
    async for pair in gen(n):
        out.append(pair)
        await pause("main")
    return out


def f(n):
    c = main(n)
    out = []
    try:
        while True:
            out.append(c.send(len(out) or None))
    except StopIteration as stop:
        out.append(stop.value)
    return out


# program: async_comprehensions
# trace: work, gen
# f(3) => record record hit hit exit hit hit hit hit exit hit hit hit hit exit record, hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit
# f(2) => hit hit hit exit hit hit hit exit hit hit hit exit hit, hit hit hit exit hit hit hit exit hit hit hit exit hit
async def gen(n):
    for i in range(n):
        yield i


async def double(x):
    return x * 2


async def work(n):
    a = [x async for x in gen(n)]
    b = {x: await double(x) async for x in gen(n) if x}
    c = {await double(x) for x in range(n)}
    d = (x async for x in gen(n))
    return a, b, c, [x async for x in d]


def f(n):
    try:
        work(n).send(None)
    except StopIteration as stop:
        return stop.value


# program: asyncio_sleep_and_gather
# trace: one, main
# f(3) => record record hit exit record hit hit record hit hit hit exit hit exit hit exit record, hit hit hit exit hit hit hit hit hit hit hit exit hit exit hit exit hit
# f(4) => hit hit hit exit hit hit hit hit hit hit hit exit hit exit hit exit hit, hit hit hit exit hit hit hit hit hit hit hit exit hit exit hit exit hit
import asyncio


async def one(x):
    for _ in range(2):
        await asyncio.sleep(0)
    return x * 2


async def main(x):
    first = await one(x)
    return first, await asyncio.gather(one(x), one(x + 1), one("a"))


def f(x):
    return asyncio.run(main(x))


# program: asyncio_tasks_and_queues
# trace: producer, consumer, main
# f(3) => record record record record record hit exit hit record hit exit record, hit hit hit hit hit hit exit hit hit hit exit hit
# f(2) => hit hit hit hit exit hit hit hit exit hit, hit hit hit hit exit hit hit hit exit hit
import asyncio


async def producer(queue, n):
    for i in range(n):
        await queue.put(i)
    await queue.put(None)


async def consumer(queue, out):
    while (item := await queue.get()) is not None:
        out.append(item)


async def main(n):
    queue, out = asyncio.Queue(1), []
    tasks = [asyncio.create_task(producer(queue, n)), asyncio.create_task(consumer(queue, out))]
    for task in tasks:
        await task
    return out


def f(n):
    return asyncio.run(main(n))


# program: asyncio_cancellation
# trace: work, main
# f(0) => record record record record hit exit, hit hit hit hit hit exit
# f(1) => hit hit hit exit hit exit, hit hit hit exit hit exit
import asyncio


async def work(log):
    try:
        await asyncio.sleep(100)
    except asyncio.CancelledError:
        log.append("cancelled")
        raise
    finally:
        log.append("finally")


async def main(how):
    log = []
    task = asyncio.create_task(work(log))
    await asyncio.sleep(0)
    if how:
        task.cancel("why")
    try:
        await asyncio.wait_for(task, 0.001)
    except (asyncio.CancelledError, asyncio.TimeoutError) as error:
        log.append(type(error).__name__)
    return log, task.cancelled()


def f(how):
    return asyncio.run(main(how))


# program: asyncio_timeouts_and_groups
# trace: work, main
# f(2) => record record hit hit record hit hit record record, hit hit hit hit hit hit hit hit hit
# f(3) => hit exit hit hit hit hit hit hit hit hit exit hit hit, hit exit hit hit hit hit hit hit hit hit exit hit hit
import asyncio


async def work(n):
    await asyncio.sleep(0)
    if n == 3:
        raise ValueError(n)
    return n


async def main(n):
    out = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work(i)) for i in range(n + 1)]
    except* ValueError as error:
        out.append(str(error.exceptions))
    else:
        out.append([task.result() for task in tasks])
    async with asyncio.timeout(10):
        out.append(await work(1))
    lock = asyncio.Lock()
    async with lock:
        out.append(lock.locked())
    return out


def f(n):
    return asyncio.run(main(n))


# program: asyncio_async_generators
# trace: gen, main
# f(3) => record record record record record hit hit hit hit hit exit hit record hit exit hit hit record hit record hit record, hit hit hit hit hit hit hit hit hit hit exit hit hit hit exit hit hit hit hit hit hit hit
# f(2) => hit hit hit hit hit hit hit exit hit hit hit exit hit hit hit hit hit hit hit, hit hit hit hit hit hit hit exit hit hit hit exit hit hit hit hit hit hit hit
import asyncio
import contextlib


async def gen(n):
    try:
        for i in range(n):
            await asyncio.sleep(0)
            yield i
    finally:
        await asyncio.sleep(0)
        print("finally")


async def main(n):
    out = [x async for x in gen(n)]
    async with contextlib.aclosing(gen(n)) as g:
        async for x in g:
            out.append(x)
            break
    async for x in gen(n):
        out.append(x)
        break
    return out


def f(n):
    return asyncio.run(main(n))


# program: async_context_managers_of_generators
# trace: managed, main
# f(1) => record record record, hit hit hit
# f(0) => hit hit hit exit, hit hit hit exit
import asyncio
import contextlib


@contextlib.asynccontextmanager
async def managed(name):
    print("enter", name)
    try:
        await asyncio.sleep(0)
        yield name
    except ZeroDivisionError:
        print("swallowed")
    finally:
        print("exit", name)


async def main(x):
    async with managed("a") as a:
        print(a, 1 // x)
    return x


def f(x):
    return asyncio.run(main(x))


# program: exceptions_through_awaits
# trace: main, middle, inner
# f(1) => record, hit
# f(0) => hit exit, hit exit
async def inner(x):
    return 1 // x


async def middle(x):
    try:
        return await inner(x)
    finally:
        print("middle")


async def main(x):
    try:
        return await middle(x)
    except ZeroDivisionError as error:
        tb, out = error.__traceback__, []
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
        return out


def f(x):
    try:
        main(x).send(None)
    except StopIteration as stop:
        return stop.value


# program: never_awaited
# trace: work, main
# f(1) => record, hit
# f(2) => hit, hit
async def work(x):
    return x


async def main(x):
    work(x)
    return x


def f(x):
    try:
        main(x).send(None)
    except StopIteration as stop:
        return stop.value


# program: stack_in_coroutines
# trace: main, inner, stack
# f(1) => record record record, hit hit hit
# f(2) => hit hit hit, hit hit hit
import sys
import types


def stack():
    frame, out = sys._getframe(1), []
    while frame and frame.f_code.co_filename == here:
        out.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return out


here = stack.__code__.co_filename


@types.coroutine
def pause():
    yield stack()


async def inner(n):
    await pause()
    return stack()


async def main(n):
    return [stack(), await inner(n), stack()]


def f(n):
    c = main(n)
    out = []
    try:
        while True:
            out.append(c.send(None))
    except StopIteration as stop:
        return out, stop.value
