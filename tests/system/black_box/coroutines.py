"""asyncio: tasks, cancellation, timeouts, stacks of tasks, debug mode, context variables, async generators."""

import asyncio
import contextvars
import inspect
import io

variable = contextvars.ContextVar("variable", default=0)


async def step(n):
    total = 0
    for i in range(n):
        total += i
        if i % 3 == 0:
            await asyncio.sleep(0)
    return total


async def chain(n):
    return await step(n) + await step(n // 2)


async def items(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i, variable.get()


async def consumer(n):
    variable.set(n)
    return [item async for item in items(n)]


class Resource:
    async def __aenter__(self):
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, kind, error, traceback):
        await asyncio.sleep(0)
        log.append(kind.__name__ if kind else None)
        return kind is ValueError


async def guarded(fail):
    async with Resource():
        if fail:
            raise ValueError
        return "done"


async def endless():
    try:
        while True:
            await step(4)
    finally:
        log.append("ended")


async def main():
    print(await asyncio.gather(*(chain(n) for n in range(40))))
    print(await asyncio.gather(*(consumer(n) for n in range(6))))
    print([await guarded(n % 3 == 0) for n in range(40)][:6], log[:6])
    task = asyncio.create_task(endless(), name="endless")
    for _ in range(30):
        await asyncio.sleep(0)
    out = io.StringIO()
    task.print_stack(file=out)
    print(
        out.getvalue().replace(__file__, "FILE").splitlines()[:4], task.get_coro().cr_code is endless.__code__
    )
    print([frame.f_code.co_name for frame in task.get_stack()], inspect.getcoroutinestate(task.get_coro()))
    task.cancel()
    print(await asyncio.gather(task, return_exceptions=True), log[-1])
    try:
        async with asyncio.timeout(0.01):
            await endless()
    except TimeoutError:
        print("timeout", log[-1])
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(step(n)) for n in range(20)]
    print([task.result() for task in tasks])
    print(await asyncio.to_thread(sum, range(10)), await asyncio.wait_for(chain(9), 5))
    queue = asyncio.Queue(2)
    getter = asyncio.create_task(drain(queue))
    for n in range(50):
        await queue.put(n)
    await queue.put(None)
    print(await getter)


async def drain(queue):
    total = 0
    while (item := await queue.get()) is not None:
        total += item
    return total


log = []
asyncio.run(main())
log.clear()
asyncio.run(main(), debug=True)
