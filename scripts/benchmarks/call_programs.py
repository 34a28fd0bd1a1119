"""Programs that mainly make calls: overhead of calls shows here first.

`call_worker` times them in processes of their own, where they are traced, left out, or run by plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


class Point:
    def __init__(self, x: int, y: int) -> None:
        self.x = x
        self.y = y

    def first(self) -> int:
        return self.x

    def moved(self, x: int, y: int) -> Point:
        return Point(self.first() + x, self.y + y)

    @property
    def total(self) -> int:
        return self.x + self.y


def step(point: Point, number: int) -> Point:
    return point.moved(number, -1)


def methods(point: Point, count: int) -> int:
    if count == 0:
        return point.first()
    return methods(step(point, count), count - 1)


def numbers(count: int) -> Iterator[int]:
    while count:
        yield count
        count -= 1


def evens(items: Iterator[int]) -> Iterator[int]:
    for item in items:
        if not item & 1:
            yield item


def properties(point: Point, count: int) -> int:
    if count == 0:
        return point.total
    return point.total + point.total + point.total + properties(point, count - 1)


def run_recursion() -> int:
    return fibonacci(20)


def run_methods() -> int:
    total = 0
    for number in range(40):
        total += methods(Point(number, 0), 100)
    return total


def run_generators() -> int:
    return sum(evens(numbers(30_000)))


def run_properties() -> int:
    total = 0
    for number in range(60):
        total += properties(Point(number, 1), 100)
    return total


PROGRAMS: dict[str, Callable[[], int]] = {
    "recursive Fibonacci": run_recursion,
    "method calls": run_methods,
    "generators": run_generators,
    "property reads": run_properties,
}
FUNCTIONS = (
    fibonacci,
    Point.__init__,
    Point.first,
    Point.moved,
    Point.total.fget,
    step,
    methods,
    numbers,
    evens,
    properties,
    run_recursion,
    run_methods,
    run_generators,
    run_properties,
)
