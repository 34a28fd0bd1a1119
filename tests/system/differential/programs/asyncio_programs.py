"""Programs under asyncio whose coroutines await each other: queues, timeouts, cancellation, locks, pools, streams of items."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B007, B012, B023, B026, B904


# program: pipeline_of_queues
# trace: produce, double, consume, take
# f(3) => record record record record record hit exit record hit record hit hit exit hit exit, hit hit hit hit hit hit exit hit hit hit hit hit exit hit exit
# f(5) => hit hit hit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit exit hit exit, hit hit hit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit exit hit exit
import asyncio


async def take(queue):
    item = await queue.get()
    queue.task_done()
    return item


async def produce(queue, n):
    for i in range(n):
        await queue.put(i)
    await queue.put(None)


async def double(source, target):
    while (item := await take(source)) is not None:
        await target.put(item * 2)
    await target.put(None)


async def consume(queue):
    out = []
    while (item := await take(queue)) is not None:
        out.append(item)
    return out


async def main(n):
    a, b = asyncio.Queue(1), asyncio.Queue(2)
    results = await asyncio.gather(produce(a, n), double(a, b), consume(b))
    await a.join()
    return results, a.qsize(), b.qsize()


def f(n):
    return asyncio.run(main(n))


# program: awaits_that_never_suspend
# trace: main, total, cost, tax
# f(4) => record, hit
# f(4.5) => hit, hit
import asyncio


async def tax(x):
    return x * 2


async def cost(x):
    return await tax(x) + await tax(1)


async def total(x):
    return [await cost(x), await cost(x + 1)]


async def main(x):
    return await total(x), await total(2)


def f(x):
    return asyncio.run(main(x))


# program: futures_set_by_others
# trace: waiter, waits, setter
# f(1) => record record record record, hit hit hit hit
# f("x") => hit hit hit exit, hit hit hit exit
import asyncio


async def waiter(future):
    value = await future
    return value, future.done()


async def waits(future):
    return await waiter(future), await waiter(future)


async def setter(future, x):
    await asyncio.sleep(0)
    if x == "x":
        future.set_exception(ValueError(x))
    else:
        future.set_result(x)


async def main(x):
    future = asyncio.get_running_loop().create_future()
    out = await asyncio.gather(waits(future), setter(future, x), return_exceptions=True)
    return [repr(item) for item in out]


def f(x):
    return asyncio.run(main(x))


# program: cancelled_in_the_innermost
# trace: outer, middle, inner
# f("cancel") => record record, hit hit
# f("cancel") => hit hit, hit hit
# f("timeout") => hit hit, hit hit
# f("swallow") => hit record hit exit, hit hit hit exit
import asyncio


async def inner(log, how):
    try:
        await asyncio.get_running_loop().create_future()
    except asyncio.CancelledError as error:
        log.append(("inner", error.args))
        if how == "swallow":
            return "swallowed"
        raise
    finally:
        log.append("inner finally")


async def middle(log, how):
    try:
        return await inner(log, how)
    finally:
        await asyncio.sleep(0)
        log.append("middle finally")


async def outer(log, how):
    async with asyncio.Lock():
        return await middle(log, how)


async def main(how):
    log = []
    task = asyncio.create_task(outer(log, how), name="task")
    await asyncio.sleep(0)
    stack = [frame.f_code.co_name for frame in task.get_stack()]
    try:
        if how == "timeout":
            await asyncio.wait_for(task, 0.001)
        else:
            task.cancel("message")
            log.append(await task)
    except (asyncio.CancelledError, asyncio.TimeoutError) as error:
        log.append(type(error).__name__)
        tb = error.__traceback__
        while tb:
            if tb.tb_frame.f_code.co_filename == main.__code__.co_filename:
                log.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
    return log, task.cancelled(), stack


def f(how):
    return asyncio.run(main(how))


# program: group_with_a_failing_member
# trace: member, step
# f(0) => record hit record hit exit record, hit hit hit hit exit hit
# f(1) => hit hit hit exit hit hit hit exit hit, hit hit hit exit hit hit hit exit hit
# f(9) => hit hit hit exit hit hit exit hit hit exit hit hit exit hit hit exit hit exit, hit hit hit exit hit hit exit hit hit exit hit hit exit hit hit exit hit exit
import asyncio


async def step(i, bad):
    await asyncio.sleep(0)
    if i == bad:
        raise ValueError(i)
    return i


async def member(i, bad, log):
    try:
        for k in range(3):
            log.append((i, await step(i, bad)))
    except asyncio.CancelledError:
        log.append((i, "cancelled"))
        raise


async def main(bad):
    log = []
    try:
        async with asyncio.TaskGroup() as group:
            for i in range(2):
                group.create_task(member(i, bad, log))
    except* ValueError as errors:
        log.append([repr(error) for error in errors.exceptions])
    return log


def f(bad):
    return asyncio.run(main(bad))


# program: managers_and_streams
# trace: Connection.__aenter__, Connection.__aexit__, Connection.send, numbers, work
# f(3) => record record record record record record record hit exit hit exit miss hit record hit hit hit exit record record hit exit hit exit hit hit hit exit record, hit hit hit hit hit hit hit hit exit hit exit hit hit hit hit hit exit hit hit hit exit hit exit hit hit hit exit hit
# f(0) => hit hit exit hit exit record hit exit hit hit hit exit hit exit hit hit hit exit hit, hit hit exit hit exit hit hit exit hit hit hit exit hit exit hit hit hit exit hit
# f(2) => hit hit exit hit exit hit hit exit hit exit hit hit hit hit hit exit hit hit hit exit hit exit hit hit hit exit hit, hit hit exit hit exit hit hit exit hit exit hit hit hit hit hit exit hit hit hit exit hit exit hit hit hit exit hit
import asyncio


class Connection:
    def __init__(self, log):
        self.log = log

    async def __aenter__(self):
        await asyncio.sleep(0)
        self.log.append("open")
        return self

    async def __aexit__(self, kind, value, tb):
        await asyncio.sleep(0)
        self.log.append(("close", kind))
        return kind is ZeroDivisionError

    async def send(self, x):
        await asyncio.sleep(0)
        self.log.append(("send", 6 // x))


async def numbers(n):
    try:
        for i in range(n, -1, -1):
            if i % 2:
                await asyncio.sleep(0)
            yield i
    finally:
        await asyncio.sleep(0)


async def work(n):
    log = []
    async with Connection(log) as connection:
        async for x in numbers(n):
            await connection.send(x)
        log.append("all")
    log.append([x async for x in numbers(2)])
    log.append([await one(x) for x in range(2)])
    return log


async def one(x):
    await asyncio.sleep(0)
    return x + 1


def f(n):
    return asyncio.run(work(n))


# program: semaphores_and_events
# trace: worker, guarded, main
# f(3) => record record hit hit record record hit hit exit record hit miss record hit record, hit hit hit hit hit hit hit hit exit hit hit hit hit hit
# f(4) => hit exit hit hit hit hit hit hit hit hit exit hit exit hit hit hit hit hit hit hit, hit exit hit hit hit hit hit hit hit hit exit hit exit hit hit hit hit hit hit hit
import asyncio


async def guarded(semaphore, log, i):
    async with semaphore:
        log.append(("in", i))
        await asyncio.sleep(0)
        log.append(("out", i))
    return i


async def worker(event, semaphore, log, i):
    await event.wait()
    return await guarded(semaphore, log, i)


async def main(n):
    event, semaphore, log = asyncio.Event(), asyncio.Semaphore(2), []
    tasks = [asyncio.create_task(worker(event, semaphore, log, i)) for i in range(n)]
    await asyncio.sleep(0)
    event.set()
    done, pending = await asyncio.wait(tasks)
    return log, sorted(task.result() for task in done), len(pending)


def f(n):
    return asyncio.run(main(n))


# program: stack_of_a_waiting_task
# trace: a, b, c
# f(1) => record record, hit hit
# f(2) => hit hit exit hit, hit hit exit hit
import asyncio
import traceback


async def c(n):
    for i in range(n):
        await asyncio.sleep(0)
    return [frame.f_code.co_name for frame, _ in traceback.walk_stack(None) if frame.f_code.co_name in "abc"]


async def b(n):
    x = await c(n)
    return x


async def a(n):
    return await b(n)


def chain(coroutine):
    out = []
    while hasattr(coroutine, "cr_frame"):
        out.append((coroutine.__name__, coroutine.cr_frame.f_lineno, coroutine.cr_running))
        coroutine = coroutine.cr_await
    return out


async def main(n):
    coroutine = a(n)
    task = asyncio.create_task(coroutine)
    await asyncio.sleep(0)
    waiting = chain(coroutine)
    return await task, waiting, coroutine.cr_frame


def f(n):
    return asyncio.run(main(n))


# program: coroutines_in_executors_and_threads
# trace: main, compute, blocking
# f(3) => record record record hit record, hit hit hit hit hit
# f(4) => hit hit hit hit hit, hit hit hit hit hit
import asyncio


def blocking(x):
    return x * x


async def compute(x):
    return await asyncio.to_thread(blocking, x) + 1


async def main(x):
    return [await compute(x), await compute(x + 1)]


def f(x):
    return asyncio.run(main(x))


# program: shielded_and_timed_out
# trace: slow, shielded, main
# f(0) => record record record record, hit hit hit hit
# f(1) => hit exit record hit exit record, hit exit hit hit exit hit
import asyncio


async def slow(event, log):
    await event.wait()
    log.append("slow done")
    return "slow"


async def shielded(task, seconds):
    async with asyncio.timeout(seconds):
        return await asyncio.shield(task)


async def main(n):
    event, log = asyncio.Event(), []
    task = asyncio.create_task(slow(event, log))
    if n:
        event.set()
    try:
        log.append(await shielded(task, 60 if n else 0.001))
    except TimeoutError as error:
        log.append(repr(error.__cause__))
    event.set()
    log.append(await task)
    return log


def f(n):
    return asyncio.run(main(n))
