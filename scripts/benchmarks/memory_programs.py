"""Programs that make objects and drop them, and the import of a large package, as processes of their own.

`memory_programs.py NAME COUNT FOLDER` prints numbers in JSON: the memory of the process, in KiB, after each quarter of
COUNT rounds; for `package` the processor time, in seconds, and the memory of importing the package in FOLDER.
"""

import gc
import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MODULE = """
FACTOR = 1.5

def scaled(count):
    total = FACTOR
    for number in range(count):
        total += number * FACTOR
    return total

class Box:
    def __init__(self, size):
        self.size = size

    def scaled(self):
        return scaled(self.size)
"""
FUNCTION = """
def made(count):
    total = {0}
    for number in range(count):
        total += number * {0}
    return total
"""


def taken() -> int:
    """The current memory of the process, in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def reloads(count: int, folder: str) -> Iterator[None]:
    """Loads a module again and again, and calls its functions each time."""
    Path(folder, "reloaded.py").write_text(MODULE)
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    module = importlib.import_module("reloaded")
    for _ in range(count):
        importlib.reload(module)
        for size in range(4):
            assert module.Box(size).scaled() == module.scaled(size)
        yield


def functions(count: int, folder: str) -> Iterator[None]:
    """Makes functions by `exec`, and calls each a few times."""
    for number in range(count):
        names: dict[str, Callable[[int], int]] = {}
        exec(FUNCTION.format(number), names)
        for size in range(4):
            assert names["made"](size) == number + sum(range(size)) * number
        yield


def classes(count: int, folder: str) -> Iterator[None]:
    """Makes classes in a function, with objects whose methods are called."""

    def make(number: int) -> type:
        class Point:
            def __init__(self, x: int) -> None:
                self.x = x

            def moved(self, by: int) -> int:
                return self.x + by * number

        return Point

    for number in range(count):
        point = make(number)
        for x in range(4):
            assert point(x).moved(2) == x + 2 * number
        yield


def arrays(count: int, folder: str) -> Iterator[None]:
    """Array operations with other shapes and dtypes each time."""
    import numpy as np

    kinds = [np.float64, np.float32, np.int64, np.int32, np.uint64, np.uint8, np.bool_, np.int16]

    def combined(x, y):  # type: ignore[no-untyped-def]
        return (x + y) * x - y * 2

    for number in range(count):
        shape = (1 + number % 7, 1 + number % 31, 1 + number % 13)[: 1 + number % 3]
        x = np.ones(shape, kinds[number % len(kinds)])
        y = np.ones(shape, kinds[number // 8 % len(kinds)])
        assert combined(x, y.astype(np.float64)).shape == shape
        yield


PROGRAMS = {"reloads": reloads, "functions": functions, "classes": classes, "arrays": arrays}


def package(folder: str) -> list[float]:
    """Imports all modules of a package."""
    names = sorted(f"large.{path.stem}" for path in Path(folder, "large").glob("part*.py"))
    sys.path.insert(0, folder)
    importlib.import_module("large")
    gc.collect()
    memory, start = taken(), time.process_time()
    for name in names:
        importlib.import_module(name)
    return [time.process_time() - start, taken() - memory]


def main() -> None:
    """Runs the program that the arguments name."""
    name, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if name == "package":
        print(json.dumps(package(folder)))
        return
    quarters = []
    for number, _ in enumerate(PROGRAMS[name](count, folder), 1):
        if number % (count // 4) == 0:
            gc.collect()
            quarters.append(taken())
    print(json.dumps(quarters))


if __name__ == "__main__":
    main()
