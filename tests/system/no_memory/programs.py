"""Functions whose allocations fail in turn. Each notes its actions in `log`; `s` is made anew each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

PROGRAMS: dict[str, Callable[[Any], object]] = {}


def program(function: Callable[[Any], object]) -> Callable[[Any], object]:
    PROGRAMS[function.__name__] = function
    return function


class State:
    """The state on which a program works."""

    def __init__(self) -> None:
        self.log: list[object] = []
        self.numbers = [0.5 + i for i in range(20)]
        self.ints = [1000 + i for i in range(20)]
        self.items = {"a": 1, "b": 2}
        self.count = 100_000
        self.x = 1.5


class Vector:
    def __init__(self, x: float, y: float) -> None:
        self.x = x
        self.y = y

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y)

    def __bool__(self) -> bool:
        return self.x != 0

    def scaled(self, by: float) -> Vector:
        return Vector(self.x * by, self.y * by)

    @property
    def size(self) -> float:
        return (self.x * self.x + self.y * self.y) ** 0.5


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value


class Manager:
    def __init__(self, log: list[object]) -> None:
        self.log = log

    def __enter__(self) -> Manager:
        self.log.append("enter")
        return self

    def __exit__(self, *_: object) -> bool:
        self.log.append("exit")
        return False


@program
def int_loop(s: State) -> object:
    k = 1
    for i in range(300):
        k = (k * 3 + i) % 1000003
    return k


@program
def float_loop(s: State) -> object:
    x = 0.5
    for i in range(300):
        x = x * 1.5 + i
        if x > 1e6:
            x = x / 1e6
    return x, i


@program
def loop_with_log(s: State) -> object:
    total = 1000
    for i in range(50):
        total = total + i * 7
        s.log.append(total)
    return total


@program
def loop_over_list(s: State) -> object:
    numbers = s.numbers
    for i in range(len(numbers)):
        numbers[i] = numbers[i] * 1.5 + 1.0
    s.log.append(tuple(numbers))
    return sum(numbers)


@program
def loop_over_ints(s: State) -> object:
    ints = s.ints
    for i in range(1, len(ints)):
        ints[i] = ints[i - 1] + ints[i]
    s.log.append(tuple(ints))
    return ints[-1]


@program
def nested_loops(s: State) -> object:
    total = 0
    for i in range(20):
        for j in range(20):
            total = (total * 31 + i * j) % 99991
        s.log.append(total)
    return total


@program
def while_loop(s: State) -> object:
    n = 27
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps, n


@program
def big_ints(s: State) -> object:
    n = 1
    for i in range(1, 40):
        n = n * i
        s.log.append(n)
    return n


@program
def global_numbers(s: State) -> object:
    global COUNTER
    COUNTER = 1000
    for i in range(50):
        COUNTER = COUNTER + i
    return COUNTER


COUNTER = 0


@program
def attributes(s: State) -> object:
    for i in range(50):
        s.count = s.count + i
        s.x = s.x * 1.25
    s.log.append(s.count)
    return s.count, s.x


@program
def slots(s: State) -> object:
    thing = Slotted(1.0)
    for i in range(50):
        thing.value = thing.value + i
    return thing.value


@program
def objects(s: State) -> object:
    total = Vector(0.0, 0.0)
    for i in range(20):
        total = total + Vector(float(i), 2.0).scaled(0.5)
        if total:
            s.log.append(total.size)
    return total.x, total.y


@program
def methods_and_properties(s: State) -> object:
    v = Vector(3.0, 4.0)
    return v.size + v.scaled(2.0).size


@program
def tuples(s: State) -> object:
    pairs = []
    a, b = 1000, 2000
    for i in range(30):
        a, b = b, a + b
        pairs.append((a, b))
    s.log.append(len(pairs))
    return pairs[-1]


@program
def build_containers(s: State) -> object:
    x = s.count
    made = [x, x + 1], (x, x + 2), {x: x + 3}, {x + 4}
    s.log.append(made)
    return made[0][1] + made[1][1] + made[2][x], slice(x, x + 1)


@program
def strings(s: State) -> object:
    words = []
    for i in range(20):
        words.append(f"<{i * 1000}:{s.x:.2f}>")
    s.log.append("".join(words))
    return len(s.log[-1])


@program
def dicts(s: State) -> object:
    counts: dict[int, int] = {}
    for i in range(60):
        key = i * 7919 % 13
        counts[key] = counts.get(key, 0) + i * 1000
    s.log.append(tuple(sorted(counts.items())))
    return len(counts)


@program
def calls_with_defaults(s: State) -> object:
    def callee(a: int, b: int = 1000, *rest: int, c: int = 5, **more: int) -> int:
        return a + b + sum(rest) + c + len(more)

    total = 0
    for i in range(20):
        total += callee(i) + callee(i, 2, 3, 4) + callee(i, c=7, d=8)
    return total


@program
def closures(s: State) -> object:
    total = 1000

    def add(i: int) -> None:
        nonlocal total
        total += i
        s.log.append(total)

    for i in range(30):
        add(i)
    return total


@program
def made_functions(s: State) -> object:
    made = [lambda x, i=i: x * 1000 + i for i in range(10)]
    return sum(f(3) for f in made)


def numbers_of(n: int, log: list[object]) -> Iterator[int]:
    k = 1000
    for i in range(n):
        k = k + i * 3
        log.append(k)
        yield k
    log.append("end")


@program
def generator_loop(s: State) -> object:
    total = 0
    for k in numbers_of(20, s.log):
        total += k
    return total


@program
def generator_sum(s: State) -> object:
    return sum(numbers_of(20, s.log))


@program
def generator_list(s: State) -> object:
    return [k * 2 for k in list(numbers_of(20, s.log))]


@program
def generator_send(s: State) -> object:
    def running() -> Iterator[float]:
        total = 0.0
        while True:
            x = yield total
            total += x
            s.log.append(total)

    runner: Any = running()
    next(runner)
    for i in range(20):
        last = runner.send(i * 1.5)
    return last


@program
def delegation(s: State) -> object:
    def outer() -> Any:
        result = yield from numbers_of(10, s.log)
        yield from numbers_of(5, s.log)
        return result

    return list(outer())


@program
def coroutine(s: State) -> object:
    async def inner(k: int) -> int:
        s.log.append(k * 1000)
        return k * 1000 + 1

    async def outer() -> int:
        total = 0
        for k in range(10):
            total += await inner(k)
        return total

    try:
        outer().send(None)
    except StopIteration as stop:
        return stop.value
    return None


@program
def exceptions_caught(s: State) -> object:
    caught = 0
    for i in range(20):
        try:
            if i % 3 == 0:
                raise ValueError(i * 1000)
            s.log.append(i)
        except ValueError as error:
            caught += error.args[0]
            s.log.append("caught")
    return caught


@program
def exceptions_of_callees(s: State) -> object:
    def callee(i: int) -> int:
        s.log.append(i)
        if i % 4 == 3:
            raise KeyError(i)
        return i * 1000

    total = 0
    for i in range(20):
        try:
            total += callee(i)
        except KeyError:
            total += 1
        finally:
            s.log.append("finally")
    return total


@program
def exception_leaves(s: State) -> object:
    def callee(i: int) -> int:
        s.log.append(i)
        return 1000 // (5 - i)

    try:
        for i in range(10):
            s.log.append(callee(i))
    except ZeroDivisionError:
        return "zero"
    return None


@program
def reraised(s: State) -> object:
    def callee() -> None:
        try:
            raise KeyError(1)
        except KeyError as error:
            s.log.append("first")
            raise ValueError(2) from error

    try:
        callee()
    except ValueError as error:
        return type(error.__cause__).__name__
    return None


@program
def with_statements(s: State) -> object:
    for i in range(10):
        with Manager(s.log):
            s.log.append(i * 1000)
    return len(s.log)


@program
def memory_error_handled(s: State) -> object:
    k = 1000
    try:
        for i in range(30):
            k = k + i
            s.log.append(k)
    except MemoryError:
        return s.log == [1000 + j * (j + 1) // 2 for j in range(len(s.log))] or s.log
    return True


@program
def unpacking(s: State) -> object:
    first, *rest = s.ints
    total = first
    for a, b in zip(rest, s.numbers):
        total += a * 3 + b
    return total


@program
def guards_that_fail(s: State) -> object:
    total = 0
    for item in [1000, 2000, 3000, 1.5, 2.5, "four", 5000, None, 6000]:
        if isinstance(item, str):
            total += len(item)
        elif item is None:
            s.log.append(total)
        else:
            total = total + item * 2
    return total


@program
def recursion(s: State) -> object:
    def depth(n: int) -> int:
        return 1000 if n == 0 else depth(n - 1) + n

    return depth(12)


@program
def sorting(s: State) -> object:
    return sorted(s.ints, key=lambda k: -k * 1000)[:3], max(s.numbers, key=lambda x: x * 2.0)


@program
def class_body(s: State) -> object:
    class Made:
        a = s.count + 1
        b = [a, a]

    return Made.b, Made().a
