"""Coroutines, queues and threads that hand each other work."""

import asyncio
import queue
import threading


async def worker(name, tasks, results):
    while True:
        number = await tasks.get()
        if number is None:
            return
        results.append((name, number * number))
        await asyncio.sleep(0)


async def main(count):
    tasks = asyncio.Queue(50)
    results = []
    workers = [asyncio.create_task(worker(name, tasks, results)) for name in range(4)]
    for number in range(count):
        await tasks.put(number)
    for _ in workers:
        await tasks.put(None)
    await asyncio.gather(*workers)
    return results


def squares(source, target):
    while True:
        item = source.get()
        if item is None:
            target.put(None)
            return
        target.put(item * item)


def threaded(count):
    first, second = queue.Queue(), queue.Queue()
    thread = threading.Thread(target=squares, args=(first, second))
    for number in range(count):
        first.put(number)
    first.put(None)
    thread.start()
    total = 0
    while (item := second.get()) is not None:
        total += item
    thread.join()
    return total


results = asyncio.run(main(25000))
print(len(results), sum(square for _, square in results))
print(threaded(60000))
