"""Three expressions in every dtype, by tagalong and its peers against eager NumPy: `scripts/bench dtypes`.

Each dtype and expression has a process of its own, in which eager NumPy, tagalong, numexpr and numba take turns on one
thread. numba compiles loops written by hand; numexpr gets the expression as text where it knows the dtype. A figure is
the median of the ratios of batches to NumPy's batch beside it: above 1 is faster.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from benchmarks.measure import Figure, replayed
from benchmarks.tables import Table, ratio

Function = Callable[..., Any]

SIZES = (10_000, 100_000, 1_000_000)
REAL = ("float64", "float32", "float16")
INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")
COMPLEX = ("complex128", "complex64")
PEERS = ("numexpr", "numba")
SECONDS = 0.02  # of one batch
BATCHES = 15
LEAST = 1.0
LEAST_COMPLEX = 1.5
OF_NUMBA = 0.7
WITH_PEERS = ("float32", *INTEGERS)  # dtypes whose bar is what the peers reach
ONE_THREAD = {
    "TAGALONG_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "NUMEXPR_MAX_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


def chain(x: Any, y: Any) -> Any:
    return (x * y + x - y) * 3 + x


def exp_log(x: Any, y: Any) -> Any:
    return np.log(np.exp(x) + y)


def where(x: Any, y: Any) -> Any:
    return np.where(x > y, x * y, x - y) + x


def complex_where(x: Any, y: Any) -> Any:
    return np.where(x == y, x * y, x - y) + x


def logic(x: Any, y: Any) -> Any:
    return (x & y) | ~x | (y ^ x)


def logic_where(x: Any, y: Any) -> Any:
    return np.where(x, y, ~y) & (x | y)


def numba_loops(njit: Function) -> dict[str, Function]:
    """Loops written by hand; `out` has the dtype that NumPy gives the result."""

    @njit
    def chain(x: Any, y: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = (x[i] * y[i] + x[i] - y[i]) * 3 + x[i]

    @njit
    def exp_log(x: Any, y: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = np.log(np.exp(x[i]) + y[i])

    @njit
    def where(x: Any, y: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = (x[i] * y[i] if x[i] > y[i] else x[i] - y[i]) + x[i]

    @njit
    def complex_where(x: Any, y: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = (x[i] * y[i] if x[i] == y[i] else x[i] - y[i]) + x[i]

    @njit
    def logic(x: Any, y: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = (x[i] & y[i]) | (not x[i]) | (y[i] ^ x[i])

    @njit
    def logic_where(x: Any, y: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = (y[i] if x[i] else not y[i]) & (x[i] | y[i])

    return {f.__name__: f for f in (chain, exp_log, where, complex_where, logic, logic_where)}


NUMEXPR = {
    "chain": "(x * y + x - y) * 3 + x",
    "exp_log": "log(exp(x) + y)",
    "where": "where(x > y, x * y, x - y) + x",
    "complex_where": "where(x == y, x * y, x - y) + x",
    "logic": "(x & y) | ~x | (y ^ x)",
    "logic_where": "where(x, y, ~y) & (x | y)",
}


@dataclass(frozen=True)
class Cell:
    dtype: str
    function: Function

    @property
    def name(self) -> str:
        return self.function.__name__.removeprefix("complex_").replace("_", " ")

    @property
    def is_expression_of_numexpr(self) -> bool:
        """numexpr converts what it does not know, which is another computation."""
        return self.dtype in ("float64", "float32", "int64", "int32", "complex128", "bool")

    @property
    def least(self) -> float:
        is_arithmetic = self.function is not exp_log
        return LEAST_COMPLEX if self.dtype in COMPLEX and is_arithmetic else LEAST

    def data(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(7)
        if self.dtype == "bool":
            return random.random(size) > 0.5, random.random(size) > 0.5
        if self.dtype in INTEGERS:
            x, y = (random.integers(0, 6, size).astype(self.dtype) for _ in range(2))
            return x, y
        x, y = (random.uniform(0.5, 2.0, size) for _ in range(2))
        if self.dtype in COMPLEX:
            x, y = x + 1j * random.uniform(0.5, 2.0, size), y + 1j * random.uniform(0.5, 2.0, size)
        return x.astype(self.dtype), y.astype(self.dtype)


def cells() -> list[Cell]:
    return [
        *(Cell(dtype, function) for dtype in REAL for function in (chain, exp_log, where)),
        *(Cell(dtype, function) for dtype in COMPLEX for function in (chain, exp_log, complex_where)),
        *(Cell(dtype, function) for dtype in INTEGERS for function in (chain, where)),
        *(Cell("bool", function) for function in (logic, logic_where)),
    ]


# --- in a process of its own


def run_child(number: int, sizes: list[int]) -> None:
    """Writes a line of JSON for each size: the time of eager NumPy in seconds, and the ratios of the others to it."""
    cell = cells()[number]
    peers = {name: importlib.import_module(name) for name in PEERS if importlib.util.find_spec(name)}
    for size in sizes:
        x, y = cell.data(size)
        callers = dict(_callers(cell, x, y, peers))
        expected = cell.function(x, y)
        for name, call in callers.items():
            if not _is_close(call(), expected):
                print(json.dumps({"failure": f"{name} computes something else"}), flush=True)
                return
        seconds, ratios = _measured(callers)
        print(json.dumps({"size": size, "seconds": seconds, "ratios": ratios}), flush=True)


def _callers(
    cell: Cell, x: np.ndarray, y: np.ndarray, peers: dict[str, ModuleType]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    eager, traced = (FunctionType(cell.function.__code__.replace(), globals()) for _ in range(2))
    replayed(traced, x, y)
    yield "NumPy", lambda: eager(x, y)
    yield "tagalong", lambda: traced(x, y)
    if "numexpr" in peers and cell.is_expression_of_numexpr:
        evaluate, text = peers["numexpr"].evaluate, NUMEXPR[cell.function.__name__]
        yield "numexpr", lambda: evaluate(text, {"x": x, "y": y})
    if "numba" in peers and cell.dtype != "float16":
        loop, result = numba_loops(peers["numba"].njit)[cell.function.__name__], eager(x, y)

        def call() -> Any:
            out = np.empty_like(result)
            loop(x, y, out)
            return out

        yield "numba", call


def _is_close(one: Any, other: Any) -> bool:
    return bool(np.allclose(one.astype(complex), other.astype(complex), rtol=1e-2, equal_nan=True))


def _measured(callers: dict[str, Callable[[], Any]]) -> tuple[float, dict[str, float]]:
    times: dict[str, list[float]] = {name: [] for name in callers}
    counts = {name: max(1, round(SECONDS / _taken(call, 3))) for name, call in callers.items()}
    for batch in range(BATCHES):
        order = list(callers) if batch % 2 == 0 else list(callers)[::-1]
        for name in order:
            times[name].append(_taken(callers[name], counts[name]))
    ratios = {
        name: statistics.median(eager / own for eager, own in zip(times["NumPy"], taken, strict=True))
        for name, taken in times.items()
        if name != "NumPy"
    }
    return statistics.median(times["NumPy"]), ratios


def _taken(call: Callable[[], Any], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        call()
    return max((time.process_time() - start) / count, 1e-9)


# --- the whole table


@dataclass
class Measured:
    cell: Cell
    size: int
    seconds: float
    ratios: dict[str, float]

    @property
    def what(self) -> str:
        return f"{self.cell.dtype} {self.cell.name}, {self.size:,}"

    @property
    def least(self) -> float:
        """The bar: a figure of our own, or what the peers reach where the project promises as much."""
        least = self.cell.least
        if self.cell.dtype in WITH_PEERS:
            least = max(least, self.ratios.get("numexpr", 0.0), OF_NUMBA * self.ratios.get("numba", 0.0))
        return least


def measure(number: int, sizes: list[int]) -> Iterator[Measured]:
    cell = cells()[number]
    command = [sys.executable, "-m", "benchmarks.dtypes", "--child", str(number), *map(str, sizes)]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{cell.dtype} {cell.name}:\n{done.stderr}")
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if "failure" in answer:
            sys.exit(f"{cell.dtype} {cell.name}: {answer['failure']}")
        yield Measured(cell, **answer)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench dtypes", description=__doc__)
    parser.add_argument("--dtype", action="append", metavar="NAME", help="only this dtype; may be repeated")
    parser.add_argument("--size", action="append", type=int, metavar="N", help="elements; may be repeated")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a bar is missed")
    return parser.parse_args()


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        number, *sizes = map(int, sys.argv[2:])
        run_child(number, sizes)
        return 0
    options = parse()
    sizes = options.size or list(SIZES)
    print(
        f"CPython {platform.python_version()}, NumPy {np.__version__}; one thread; above 1 is faster than NumPy"
    )
    for peer in PEERS:
        if not importlib.util.find_spec(peer):
            print(f"skipped: {peer} (not installed)")
    names = [f"{name} {size:,}" for size in sizes for name in ("tagalong", *PEERS)]
    table = Table(["dtype", "expression", *names], options.markdown, (12, 12))
    found: list[Measured] = []
    for number, cell in enumerate(cells()):
        if options.dtype and cell.dtype not in options.dtype:
            continue
        mine = list(measure(number, sizes))
        found += mine
        figures = [one.ratios.get(name) for one in mine for name in ("tagalong", *PEERS)]
        table.row([cell.dtype, cell.name, *("" if figure is None else ratio(figure) for figure in figures)])
    bars = [
        Figure(one.what, one.ratios["tagalong"], "x", "eager NumPy / tagalong", bar=one.least, at_least=True)
        for one in found
    ]
    missed = [bar for bar in bars if not bar.kept]
    print(f"\n{len(missed)} of {len(bars)} bars missed")
    for bar in missed:
        print(f"  {bar}")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
