"""A process that runs one of `call_programs` for each line it reads, and writes its time in ns and its result.

The parent measures functions that tagalong leaves out (`left-out`, by TAGALONG_EXCLUDE) or has retired (`retired`);
`plain` is a process without tagalong. The second argument is the number of small objects that the process keeps.
"""

from __future__ import annotations

import gc
import sys
import time

import call_programs


def busy(number: int) -> int:
    """A function that is recorded and replayed: other functions must not pay for that."""
    total = 0
    for item in range(number):
        total += item * item
    return total


def main(state: str, kept: int) -> None:
    for number in range(40):
        busy(number)
    for program in call_programs.PROGRAMS.values():
        for _ in range(3):
            program()
    if state != "plain":
        from tagalong import _core

        counts = _core.stats(None)
        assert counts["records"] > 0, "nothing was recorded"
        for function in call_programs.FUNCTIONS:
            known = _core.explain(function) != "not traced\n"
            assert known == (state == "retired"), function
            _core.retire(function)
    for program in call_programs.PROGRAMS.values():
        program()
    gc.collect()
    gc.disable()
    objects = [
        1_000_000 + number for number in range(kept)
    ]  # they lie in memory between the objects of the programs
    print("ready", flush=True)
    for line in sys.stdin:
        program = call_programs.PROGRAMS[line.strip()]
        start = time.process_time_ns()
        result = program()
        taken = time.process_time_ns() - start
        print(taken, result, flush=True)
    del objects


main(sys.argv[1], int(sys.argv[2]))
