"""Measures the numbers of the cost tables: what an element costs in NumPy's loops and in vector code.

The loops are those of `replay/arrays/numpy/ufuncs.def`, the operations of vector code those of
`replay/codegen/vector/vector_ops.def`. Both tables count in sixteenths of a nanosecond. A cost is the slope between two
sizes or two lengths of a chain, so that what a call costs is not in it.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tagalong

ROOT = Path(__file__).resolve().parents[1]
UFUNCS = ROOT / "replay/arrays/numpy/ufuncs.def"
VECTOR_OPS = ROOT / "replay/codegen/vector/vector_ops.def"
UNITS = 16  # of a nanosecond
SIZES = (1024, 4096)  # elements: in the innermost caches
CHAINS = (8, 24)  # operations one after another
CALLS = 200
TYPES: tuple[type[np.generic], ...] = (np.float64, np.float32, np.int64)  # as the table's columns
OPERANDS = {
    "add": "r + c",
    "subtract": "r - c",
    "multiply": "r * c",
    "divide": "r / c",
    "sqrt": "np.sqrt(r)",
    "square": "np.square(r)",
    "reciprocal": "np.reciprocal(r)",
    "negative": "-r",
    "absolute": "np.absolute(r)",
    "sign": "np.sign(r)",
    "maximum": "np.maximum(r, c)",
    "minimum": "np.minimum(r, c)",
    "clip": "np.clip(r, c, 1.5)",
    "floor": "np.floor(r)",
    "exp": "np.exp(-r)",
    "log": "np.log(r + 2.0)",
    "sin": "np.sin(r)",
    "cos": "np.cos(r)",
    "arcsin": "np.arcsin(r * 0.5)",
}


@dataclass(frozen=True)
class Row:
    """A cost beside what the table says, both in sixteenths of a nanosecond for an element."""

    name: str
    type: str
    measured: float
    table: int

    def __str__(self) -> str:
        return f"| {self.name} | {self.type} | {self.measured:.0f} | {self.table} |"


def _nanoseconds(call: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        for _ in range(CALLS):
            call()
        times.append((time.perf_counter_ns() - start) / CALLS)
    return min(times)  # whatever disturbs a round makes it longer


def loops(rounds: int) -> Iterator[Row]:
    """The rows of `ufuncs.def` that have a cost, measured on NumPy's own loops."""
    pattern = re.compile(r'^TAGALONG_UFUNC\(\w+, "(\w+)", \w+, \w+, \w+, (\d+), (\d+), (\d+),', re.MULTILINE)
    for name, *costs in pattern.findall(UFUNCS.read_text()):
        ufunc = getattr(np, name, None)
        for dtype, cost in zip(TYPES, map(int, costs), strict=True):
            if cost == 0 or not isinstance(ufunc, np.ufunc):
                continue
            if (measured := _loop(ufunc, dtype, rounds)) is not None:
                yield Row(name, np.dtype(dtype).name, measured, cost)


def _loop(ufunc: np.ufunc, dtype: type[np.generic], rounds: int) -> float | None:
    times = []
    for size in SIZES:
        operands = [_values(ufunc, dtype, size)] * ufunc.nin
        with np.errstate(all="ignore"):
            try:
                results = ufunc(*operands)
            except TypeError:  # there is no loop for this type
                return None
            out = results if isinstance(results, tuple) else (results,)
            times.append(_nanoseconds(partial(ufunc, *operands, out=out), rounds))
    return UNITS * (times[1] - times[0]) / (SIZES[1] - SIZES[0])


def _values(ufunc: np.ufunc, dtype: type[np.generic], size: int) -> np.ndarray[Any, Any]:
    least = 2.0 if np.issubdtype(dtype, np.integer) else 1.25 if ufunc is np.arccosh else 0.25
    return np.linspace(least, least + 0.5, size).astype(dtype)


def operations(rounds: int) -> Iterator[Row]:
    """The operations of vector code, measured in fused kernels of two lengths."""
    pattern = re.compile(r'^TAGALONG_VECTOR_OP\(\w+, "(\w+)", (\w+), \w+, (\d+),', re.MULTILINE)
    costs: dict[str, list[int]] = {}
    for name, kind, cost in pattern.findall(VECTOR_OPS.read_text()):
        if kind != "kBools":
            costs.setdefault(name, []).append(int(cost))
    for name, expression in OPERANDS.items():
        if name not in costs:
            continue
        times = [_chain(expression, length, rounds) for length in CHAINS]
        measured = UNITS * (times[1] - times[0]) / (CHAINS[1] - CHAINS[0]) / SIZES[0]
        for cost in sorted(set(costs[name])):  # exp and log have a row for each library
            yield Row(name, "vector code", measured, cost)


def _chain(expression: str, length: int, rounds: int) -> float:
    body = "".join(f"    r = {expression}\n" for _ in range(length))
    scope: dict[str, Any] = {"np": np}
    exec(f"def chain(r, c):\n{body}    return r\n", scope)
    function = tagalong.trace(scope["chain"])
    r, c = np.linspace(0.5, 0.75, SIZES[0]), np.linspace(0.75, 1.25, SIZES[0])
    for _ in range(5):
        function(r, c)
    return _nanoseconds(lambda: function(r, c), rounds)


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine()
    )


def _commit() -> str:
    words = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def main() -> None:
    """Prints both tables in Markdown."""
    parser = argparse.ArgumentParser(prog="scripts/calibrate", description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="rounds of each measurement (default: 15)")
    rounds = parser.parse_args().rounds
    today = datetime.datetime.now(tz=datetime.UTC)
    print(f"{_processor()}, {today:%Y-%m-%d}, NumPy {np.__version__}, commit {_commit()}")
    print("\nSixteenths of a nanosecond for an element.")
    for title, rows in (("NumPy's loops", loops(rounds)), ("Vector code", operations(rounds))):
        print(f"\n{title}:\n\n| operation | of | measured | table |\n|---|---|---|---|")
        for row in rows:
            print(row, flush=True)


if __name__ == "__main__":
    main()
