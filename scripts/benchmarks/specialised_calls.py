"""Calls of specialised functions beside plain ones, in one process: prints the times of each pair and their ratio.

The layout of a process's objects in memory makes a difference of several percent, so the parent starts several
processes.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import tagalong
from benchmarks.measure import pair
from tagalong import guards

LOOPS = 3_000


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


PAIRS = (
    (constant, empty, (), "chr(65) as a constant / an empty function", 1.3),
    (builtin, builtin_plainly, (65,), "chr(x) as the builtin / as written", 1.0),
    (code, empty_of_one, (1,), "other code / an empty function", None),
    (missing, empty_of_one, (1,), "a guard that does not hold / an empty function", None),
)


def main(rounds: int) -> None:
    assert tagalong.specialize(constant, lambda: "A", [guards.Builtins("chr")]) == 0
    assert tagalong.specialize(builtin, chr, [guards.Builtins("chr")]) == 0
    assert tagalong.specialize(code, code_specialised, [guards.Builtins("abs")]) == 0
    assert tagalong.specialize(missing, int, [guards.ArgType(0, str)]) == 0
    measured = [
        pair(one, two, arguments, rounds, LOOPS, clock=time.thread_time)
        for one, two, arguments, _, _ in PAIRS
    ]
    print(json.dumps(measured))


if __name__ == "__main__":
    main(int(sys.argv[1]))
