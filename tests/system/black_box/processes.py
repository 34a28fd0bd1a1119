"""multiprocessing by spawn, fork and forkserver, and concurrent.futures: functions and objects of the main module."""

import concurrent.futures
import multiprocessing
import os
import signal


def square(x):
    total = 0
    for i in range(x):
        total += 2 * i + 1
    return total


class Worker:
    def __init__(self, base):
        self.base = base

    def work(self, x):
        return self.base + square(x)

    def __call__(self, x):
        return self.work(x) * 2


def child(queue, number):
    for i in range(50):
        square(i)
    queue.put((number, [square(i) for i in range(number)], Worker(1).work(number)))


def fails(x):
    raise ValueError(x)


def initial(value):
    global initialised
    initialised = value


def uses_initial(x):
    return initialised + square(x)


def main():
    for number in range(60):
        square(number), Worker(1)(number)
    for method in ("spawn", "fork", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        processes = [context.Process(target=child, args=(queue, number)) for number in (3, 5)]
        for process in processes:
            process.start()
        print(method, sorted(queue.get() for _ in processes))
        for process in processes:
            process.join()
            print(process.exitcode)
        with context.Pool(2, initial, (1000,)) as pool:
            print(
                pool.map(square, range(20)), pool.map(Worker(5), range(6)), pool.map(Worker(7).work, range(6))
            )
            print(pool.apply(uses_initial, (4,)), list(pool.imap(square, range(5))))
            try:
                pool.apply(fails, (3,))
            except ValueError as error:
                print(repr(error))
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            print(list(pool.map(square, range(10), chunksize=3)), pool.submit(Worker(2), 5).result())
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(list(pool.map(square, range(40))))
    child_process = os.fork()
    if child_process == 0:
        os._exit(square(5) + (0 if [square(i) for i in range(50)][-1] == 49 * 49 else 100))
    print(os.waitstatus_to_exitcode(os.waitpid(child_process, 0)[1]))
    process = multiprocessing.get_context("fork").Process(target=signal.pause)
    process.start()
    process.terminate()
    process.join()
    print(process.exitcode)


if __name__ == "__main__":
    main()
