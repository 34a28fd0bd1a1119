"""What specialised functions (PEP 510) cost: the two examples of the PEP, and each kind of guard by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

import tagalong
from benchmarks.measure import Figure, pair
from tagalong import guards

TITLE = "calls of specialised functions, and what one more guard costs"

variable = 2
LOOPS = 20_000
MANY = 20


def empty() -> None:
    pass


def empty_of_one(x: Any) -> None:
    pass


def constant() -> str:
    return chr(65)


def builtin(x: int) -> str:
    return chr(x)


def builtin_plainly(x: int) -> str:
    return chr(x)


def code(x: int) -> Any:
    return abs(x)


def code_specialised(x: int) -> Any:
    return x


def missing(x: Any) -> None:
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


def figures(rounds: int) -> list[Figure]:
    for function in (constant, builtin, code, missing):
        tagalong.remove_specialized(function)
    assert tagalong.specialize(constant, lambda: "A", [guards.Builtins("chr")]) == 0
    assert tagalong.specialize(builtin, chr, [guards.Builtins("chr")]) == 0
    assert tagalong.specialize(code, code_specialised, [guards.Builtins("abs")]) == 0
    assert tagalong.specialize(missing, int, [guards.ArgType(0, str)]) == 0
    found = []
    for one, two, arguments, what, bar in (
        (constant, empty, (), "chr(65) as a constant / an empty function", 1.3),
        (builtin, builtin_plainly, (65,), "chr(x) as the builtin / as written", 1.0),
        (code, empty_of_one, (1,), "other code / an empty function", None),
        (missing, empty_of_one, (1,), "a guard that does not hold / an empty function", None),
    ):
        mine, plain, ratio = pair(one, two, arguments, rounds, LOOPS)
        found.append(Figure(what, ratio, "x", f"{mine:.1f} ns / {plain:.1f} ns", bar=bar))
    for name, guard, argument in kinds():
        many, few, _ = pair(guarded([guard] * (MANY + 1)), guarded([guard]), (argument,), rounds, LOOPS)
        found.append(
            Figure(f"one more {name}", (many - few) / MANY, "ns", f"{many:.1f} ns with {MANY + 1}", bar=10.0)
        )

    quick = [guard for _, guard, argument in kinds() if type(argument) is int and argument == 1]
    quick += [guards.Globals("variable"), guards.Builtins("abs")]
    mine, plain, _ = pair(guarded((quick * 3)[:MANY]), empty_of_one, (1,), rounds, LOOPS)
    found.append(
        Figure(f"a call with {MANY} guards", mine, "ns", f"{plain:.1f} ns an empty function", bar=150.0)
    )
    return found
