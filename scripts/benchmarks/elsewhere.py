"""One program under another interpreter: `pypy3 elsewhere.py PROGRAM ROUNDS` prints a line of JSON.

Runs by itself, by any Python since 3.8: nothing of ours is imported.
"""

import json
import statistics
import sys
import time

SETTLING_SECONDS = 1.0
SETTLING_RUNS = 8


def main(path: str, rounds: int) -> None:
    """Prints the result's repr() and the median of the runs, in ns, after warming up."""
    names = {"__name__": "program"}
    with open(path) as source:  # noqa: PTH123 - as short as possible
        exec(compile(source.read(), path, "exec"), names)
    run, size = names["run"], names["SIZE"]
    start = time.perf_counter()
    result = run(size)
    runs = 1
    while runs < SETTLING_RUNS or time.perf_counter() - start < SETTLING_SECONDS:
        run(size)
        runs += 1
    times = []
    for _ in range(rounds):
        before = time.perf_counter()
        run(size)
        times.append((time.perf_counter() - before) * 1e9)
    print(json.dumps({"result": repr(result), "ns": statistics.median(times)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
