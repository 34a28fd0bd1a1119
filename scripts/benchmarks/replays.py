"""Ordinary Python, replayed and interpreted: the cost of each kind of instruction in a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tagalong
from benchmarks.measure import Figure, pair
from tagalong.options import LIMITS

# Calls after which replays stay as they are: side exits have become hot, their bridges a part of the graph.
WARM_UP = LIMITS["heat"][0] + LIMITS["grow_after"][0] + 8

TITLE = "plain CPython / replayed: ordinary Python (no bars)"

HELPERS = """
def add(a, b):
    return a + b


class Point:
    def __init__(self, x):
        self.x = x

    def moved(self, by):
        return self.x + by

    @property
    def doubled(self):
        return self.x + self.x


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return None


def refuse(x):
    raise ValueError


def count(n):
    i = 0
    while i < n:
        yield i
        i += 1


def relay(items):
    for item in items:
        yield item
"""


@dataclass(frozen=True)
class Program:
    """`body` is the text of `run`. The functions in `traced` are replayed; the others are not traced."""

    name: str
    body: str
    arguments: tuple[Any, ...]
    traced: tuple[str, ...] = ("run",)

    def made(self, is_traced: bool) -> tuple[Callable[..., Any], dict[str, Any]]:
        names: dict[str, Any] = {}
        exec(compile(HELPERS + self.body, "<benchmark>", "exec"), names)
        for name in self.traced if is_traced else ():
            tagalong.trace(names[name])
        return names["run"], names


def repeated(line: str, times: int, result: str = "x") -> str:
    """A function that executes the line this many times."""
    return "\n".join(["def run(x, y):", *[f"    {line}"] * times, f"    return {result}"])


PROGRAMS = (
    Program("20 additions of floats", repeated("x = x + y", 20), (1.0, 2.0)),
    Program(
        "a loop of 20 rounds",
        "def run(x, y):\n    for _ in range(20):\n        x = y * x * (1.0 - x)\n    return x",
        (0.3, 2.9),
    ),
    Program("10 calls of a function", repeated("x = add(x, y)", 10), (1.0, 2.0)),
    Program(
        "10 calls of a method", "def run(x, y):\n    p = Point(x)\n" + "    x = p.moved(y)\n" * 10, (1.0, 2.0)
    ),
    Program(
        "10 reads of a property",
        "def run(x, y):\n    p = Point(x)\n" + "    x = p.doubled\n" * 10,
        (1.0, 2.0),
    ),
    Program("10 objects made", repeated("p = Point(x)", 10), (1.0, 2.0)),
    Program("10 calls of type()", repeated("t = type(x)", 10), (1.0, 2.0)),
    Program("10 calls of len()", repeated("n = len(y)", 10), (1.0, (1, 2))),
    Program(
        "5 with statements",
        "def run(x, y):\n    m = Manager()\n" + "    with m:\n        x = x + y\n" * 5,
        (1.0, 2.0),
    ),
    Program(
        "5 exceptions raised and caught",
        "def run(x, y):\n"
        + "    try:\n        raise ValueError\n    except ValueError:\n        x = x + y\n" * 5,
        (1.0, 2.0),
    ),
    Program(
        "5 exceptions out of a call",
        "def run(x, y):\n" + "    try:\n        refuse(x)\n    except ValueError:\n        x = x + y\n" * 5,
        (1.0, 2.0),
    ),
    Program(
        "5 exceptions of C code",
        "def run(x, y):\n" + "    try:\n        y[x]\n    except KeyError:\n        x = x + 1\n" * 5,
        (1, {}),
    ),
    Program(
        "a generator of 10 items in a for loop",
        "def run(x, y):\n    for item in count(x):\n        y = y + item\n    return y",
        (10, 0),
        traced=("run", "count"),
    ),
    Program(
        "a generator of 100 items, its body replayed",
        "def run(x):\n    for item in count(x):\n        pass",
        (100,),
        traced=("count",),
    ),
    Program(
        "a generator over 100 items, its body replayed",
        "def run(x):\n    for item in relay(x):\n        pass",
        (tuple(range(100)),),
        traced=("relay",),
    ),
    Program(
        "a generator of 100 items in sum()",
        "def run(x):\n    return sum(count(x))",
        (100,),
        traced=("count",),
    ),
)


def figures(rounds: int) -> list[Figure]:
    found = []
    for program in PROGRAMS:
        plain, _ = program.made(False)
        mine, names = program.made(True)
        if mine(*program.arguments) != plain(*program.arguments):
            raise RuntimeError(f"{program.name}: another result")
        for _ in range(WARM_UP):
            mine(*program.arguments)
        before = {name: tagalong.stats(names[name]) for name in program.traced}
        mine(*program.arguments)
        after = {name: tagalong.stats(names[name]) for name in program.traced}
        hits = sum(after[name].hits - before[name].hits for name in program.traced)
        exits = sum(after[name].exits - before[name].exits for name in program.traced)
        if hits <= 5 * exits:  # a generator that ends takes a side exit
            raise RuntimeError(
                f"{program.name} is not replayed:\n{tagalong.explain(names[program.traced[0]])}"
            )
        loops = max(1, 2_000 // max(10, len(program.body) // 20))
        eager, replay, ratio = pair(plain, mine, program.arguments, rounds, loops)
        found.append(Figure(program.name, ratio, "x", f"{eager:.0f} ns / {replay:.0f} ns"))
    return found
