"""What the example programs share: the command line, the clock, and saving what was computed."""

import argparse
import hashlib
import sys
import time

import numpy as np


def run(work, description):
    """Calls work() as often as --repeat says; prints digests of the arrays it returns, and saves them if told to."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="do the whole work N times")
    parser.add_argument("--output", metavar="FILE.npz", help="save the resulting arrays")
    arguments = parser.parse_args()
    for number in range(arguments.repeat):
        start = time.perf_counter()
        results = work()
        print(f"round {number + 1}: {time.perf_counter() - start:.6f} s", file=sys.stderr)
    for name, array in results.items():
        print(f"{name}: {array.dtype} {array.shape} {digest(array)}")
    if arguments.output:
        np.savez(arguments.output, **results)


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
