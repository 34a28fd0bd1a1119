"""The cost of specialised functions (PEP 510): the two examples of the PEP, and each kind of guard by itself."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tagalong
from benchmarks.measure import Figure, environment, pair
from benchmarks.specialised_calls import PAIRS
from tagalong import guards

TITLE = "calls of specialised functions, and what one more guard costs"

variable = 2
LOOPS = 3_000
PROCESSES = 9
MANY = 20


def empty(x: Any) -> None:
    pass


def kinds() -> list[tuple[str, guards.Guard, Any]]:
    array = np.zeros((3, 3))
    namespace = {"name": 1}

    def captured() -> Any:
        return namespace

    assert captured.__closure__
    return [
        ("ArgType", guards.ArgType(0, int), 1),
        ("Type (and its attributes)", guards.Type(0, int), 1),
        ("Identity", guards.Identity(0, None), None),
        ("Value", guards.Value(0, 7), 7),
        ("Dict", guards.Dict(namespace, "name"), 1),
        ("Globals", guards.Globals("variable"), 1),
        ("Builtins", guards.Builtins("chr"), 1),
        ("Func", guards.Func(empty), 1),
        ("Cell", guards.Cell(captured.__closure__[0]), 1),
        ("Attribute", guards.Attribute(np, "add"), 1),
        ("Array", guards.Array(0, float, 2, "C"), array),
        ("Relation", guards.Relation(0, "is", 0), 1),
    ]


def guarded(many: list[guards.Guard]) -> Any:
    def function(x: Any) -> Any:
        return x

    assert tagalong.specialize(function, lambda x: None, many) == 0
    return function


def timed(one: Any, two: Any, argument: Any, rounds: int) -> tuple[float, float, float]:
    return pair(one, two, (argument,), rounds, LOOPS, clock=time.thread_time)


def examples(rounds: int) -> Iterator[Figure]:
    words = [sys.executable, "-m", "benchmarks.specialised_calls", str(rounds)]
    folder = Path(__file__).parent.parent
    measured = [
        json.loads(
            subprocess.run(words, cwd=folder, env=environment({}), stdout=subprocess.PIPE, check=True).stdout
        )
        for _ in range(PROCESSES)
    ]
    for index, (_, _, _, what, bar) in enumerate(PAIRS):
        mine, plain, ratio = (
            statistics.median(column) for column in zip(*(each[index] for each in measured), strict=True)
        )
        yield Figure(what, ratio, "x", f"{mine:.1f} ns / {plain:.1f} ns", bar=bar)


def figures(rounds: int) -> Iterator[Figure]:
    yield from examples(rounds)
    for name, guard, argument in kinds():
        many, few, _ = timed(guarded([guard] * (MANY + 1)), guarded([guard]), argument, rounds)
        yield Figure(
            f"one more {name}", (many - few) / MANY, "ns", f"{many:.1f} ns with {MANY + 1}", bar=10.0
        )

    quick = [guard for _, guard, argument in kinds() if type(argument) is int and argument == 1]
    quick += [guards.Globals("variable"), guards.Builtins("abs")]
    mine, plain, _ = timed(guarded((quick * 3)[:MANY]), empty, 1, rounds)
    yield Figure(f"a call with {MANY} guards", mine, "ns", f"{plain:.1f} ns an empty function", bar=150.0)
