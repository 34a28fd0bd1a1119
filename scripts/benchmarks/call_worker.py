"""A process that runs one of `call_programs` for each line it reads, and writes its time in ns and its result.

What the parent wants to know is what functions cost that have nothing to do with tagalong (`left-out`, by
TAGALONG_EXCLUDE) or have nothing to do with it any more (`retired`); `plain` is the process without tagalong. The
second argument is how many small objects the process keeps meanwhile.
"""

from __future__ import annotations

import gc
import sys
import time

import call_programs


def busy(number: int) -> int:
    """A function that is recorded and replayed where anything is: what is left of that must cost the others nothing."""
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
    ]  # they take their places among what the programs make
    print("ready", flush=True)
    for line in sys.stdin:
        program = call_programs.PROGRAMS[line.strip()]
        start = time.process_time_ns()
        result = program()
        taken = time.process_time_ns() - start
        print(taken, result, flush=True)
    del objects


main(sys.argv[1], int(sys.argv[2]))
