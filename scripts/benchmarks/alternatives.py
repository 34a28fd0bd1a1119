"""The same programs by eager NumPy, by tagalong and by its peers, one thread each.

A program is one Python function. tagalong, numba and jax get that function as it is; numexpr gets the same formula as
an expression. Every peer is used the way that is fastest for it: numexpr compiled beforehand, jax with its own arrays.
All peers of one program take turns in one process. A peer that is not installed is skipped by name.
`scripts/bench alternatives` runs this, with one thread for everybody.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

import tagalong
from benchmarks.chains import chain
from benchmarks.measure import without_collector

SIZES = (10, 1_000, 100_000, 1_000_000)
ROUND_SECONDS = 0.004  # what one peer's share of a round takes at least

Function = Callable[..., Any]


class NotApplicable(Exception):
    """A peer has no way to run the program."""


# --- The programs -----------------------------------------------------------------------------------------------------


def black_scholes(s, k, t):
    """Prices of European calls, with r = 3 % and volatility 20 %; erf by Abramowitz and Stegun, 7.1.26."""
    root = 0.2 * np.sqrt(t)
    d1 = (np.log(s / k) + 0.05 * t) / root
    d2 = d1 - root
    z1 = np.abs(d1) * 0.7071067811865476
    z2 = np.abs(d2) * 0.7071067811865476
    u1 = 1.0 / (1.0 + 0.3275911 * z1)
    u2 = 1.0 / (1.0 + 0.3275911 * z2)
    p1 = ((((1.061405429 * u1 - 1.453152027) * u1 + 1.421413741) * u1 - 0.284496736) * u1 + 0.254829592) * u1
    p2 = ((((1.061405429 * u2 - 1.453152027) * u2 + 1.421413741) * u2 - 0.284496736) * u2 + 0.254829592) * u2
    n1 = 0.5 + 0.5 * np.sign(d1) * (1.0 - p1 * np.exp(-z1 * z1))
    n2 = 0.5 + 0.5 * np.sign(d2) * (1.0 - p2 * np.exp(-z2 * z2))
    return s * n1 - k * np.exp(-0.03 * t) * n2


def haversine(lat1, lon1, lat2, lon2):
    """Distances in km of points given in radians."""
    a = np.sin((lat2 - lat1) * 0.5)
    b = np.sin((lon2 - lon1) * 0.5)
    return 12742.0 * np.arcsin(np.sqrt(a * a + np.cos(lat1) * np.cos(lat2) * (b * b)))


def short_loop(x, r):
    """Ordinary Python; few enough iterations for one graph."""
    for _ in range(40):
        x = r * x * (1.0 - x)
    return x


def long_loop(x, r):
    """Ordinary Python; more iterations than one graph may have."""
    for _ in range(200):
        x = r * x * (1.0 - x)
    return x


def expression_of_black_scholes() -> str:
    """For numexpr, which has expressions only, and no sign(); it finds the common parts itself."""
    root = "(0.2 * sqrt(t))"
    d1 = f"((log(s / k) + 0.05 * t) / {root})"

    def normal(d: str) -> str:
        z = f"(abs({d}) * 0.7071067811865476)"
        u = f"(1.0 / (1.0 + 0.3275911 * {z}))"
        inner = f"((1.061405429 * {u} - 1.453152027) * {u} + 1.421413741)"
        p = f"((({inner} * {u} - 0.284496736) * {u} + 0.254829592) * {u})"
        return f"(0.5 + 0.5 * where({d} < 0.0, -1.0, 1.0) * (1.0 - {p} * exp(-{z} * {z})))"

    return f"s * {normal(d1)} - k * exp(-0.03 * t) * {normal(f'({d1} - {root})')}"


@dataclass(frozen=True)
class Program:
    """`arguments` makes the input for a size; `expression` is the formula for numexpr, over the parameters' names."""

    name: str
    function: FunctionType
    arguments: Callable[[int], tuple[Any, ...]]
    sizes: tuple[int, ...] = SIZES
    expression: str | None = None
    replayed: bool = True  # whether tagalong is expected to replay it to its end

    @property
    def arrays(self) -> bool:
        return self.expression is not None

    def parameters(self) -> tuple[str, ...]:
        return self.function.__code__.co_varnames[: self.function.__code__.co_argcount]

    def copy(self, **names: Any) -> FunctionType:
        """The function with a code object of its own and with `names` among its globals."""
        code = self.function.__code__.replace()
        return FunctionType(code, self.function.__globals__ | names, self.function.__name__)


def uniform(*ranges: tuple[float, float]) -> Callable[[int], tuple[Any, ...]]:
    """Arrays of the asked size, one for each range, always the same."""

    def arguments(size: int) -> tuple[Any, ...]:
        random = np.random.default_rng(7)
        return tuple(random.uniform(low, high, size) for low, high in ranges)

    return arguments


A_BAND = ((-1.4, 1.4), (-3.1, 3.1))
PROGRAMS = (
    Program(
        "chain of 6 operations",
        chain,
        uniform((1.0, 2.0), (2.0, 3.0)),
        expression="sqrt((x * y + x - y) * 0.5) + y",
    ),
    Program(
        "Black–Scholes",
        black_scholes,
        uniform((50.0, 150.0), (50.0, 150.0), (0.1, 2.0)),
        expression=expression_of_black_scholes(),
    ),
    Program(
        "haversine",
        haversine,
        uniform(*A_BAND, *A_BAND),
        expression=(
            "12742.0 * arcsin(sqrt(sin((lat2 - lat1) * 0.5) * sin((lat2 - lat1) * 0.5)"
            " + cos(lat1) * cos(lat2) * (sin((lon2 - lon1) * 0.5) * sin((lon2 - lon1) * 0.5))))"
        ),
    ),
    Program("float loop, 40 iterations", short_loop, lambda _: (0.3, 2.9), sizes=(1,)),
    Program("float loop, 200 iterations", long_loop, lambda _: (0.3, 2.9), sizes=(1,), replayed=False),
)


# --- The peers --------------------------------------------------------------------------------------------------------


def by_tagalong(program: Program, _: Any) -> Function:
    return tagalong.trace(program.copy())


def by_numexpr(program: Program, numexpr: Any) -> Function:
    if program.expression is None:
        raise NotApplicable("numexpr has arrays only")
    numexpr.set_num_threads(1)
    return numexpr.NumExpr(program.expression, [(name, np.double) for name in program.parameters()])


def by_numba(program: Program, numba: Any) -> Function:
    return numba.njit(program.copy())


def by_numba_vectorize(program: Program, numba: Any) -> Function:
    if not program.arrays:
        raise NotApplicable("an array function without arrays")
    return numba.vectorize(program.copy())


def by_jax(program: Program, jax: Any) -> Function:
    if not program.arrays:
        raise NotApplicable("left out: a call of a jitted function on two numbers says nothing about loops")
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(program.copy(np=importlib.import_module("jax.numpy")))
    return lambda *arguments: compiled(*arguments).block_until_ready()


@dataclass(frozen=True)
class Peer:
    """`package` is imported and given to `make`, which makes a fresh function of a program."""

    name: str
    package: str
    make: Callable[[Program, Any], Function]

    def arguments(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """jax gets arrays of its own, so that converting them is not counted."""
        if self.package != "jax":
            return arrays
        return tuple(importlib.import_module("jax.numpy").asarray(array) for array in arrays)


PEERS = (
    Peer("tagalong", "tagalong", by_tagalong),
    Peer("numexpr", "numexpr", by_numexpr),
    Peer("numba njit", "numba", by_numba),
    Peer("numba vectorize", "numba", by_numba_vectorize),
    Peer("jax jit", "jax", by_jax),
)


def installed(peers: tuple[Peer, ...]) -> tuple[dict[str, Any], dict[str, str]]:
    """The modules of the packages that are there, and why the others are not."""
    modules: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for name in dict.fromkeys(peer.package for peer in peers):
        try:
            modules[name] = importlib.import_module(name)
        except ImportError as error:
            missing[name] = str(error)
    return modules, missing


# --- Measuring --------------------------------------------------------------------------------------------------------


def ordered(values: Any) -> Any:
    """Doubles as integers whose difference counts the representable numbers in between."""
    bits = np.ascontiguousarray(values, dtype=np.float64).reshape(-1).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def distance(result: Any, eager: Any) -> str:
    """How far a result is from eager NumPy's, in words."""
    mine, theirs = np.asarray(result), np.asarray(eager)
    if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        return f"{mine.dtype}{list(mine.shape)} for {theirs.dtype}{list(theirs.shape)}"
    if mine.tobytes() == theirs.tobytes():
        return "same bits"
    if not (np.isfinite(mine).all() and np.isfinite(theirs).all()):
        return "not finite"
    # In Python's integers: the difference of two doubles of unlike sign does not fit 64 bits.
    one, two = ordered(mine), ordered(theirs)
    apart = one.astype(object) - two.astype(object)
    relative = float(np.max(np.abs(mine - theirs)) / np.max(np.abs(theirs)))
    return f"{max(abs(int(value)) for value in apart):.3g} ulp ({relative:.0e} of the largest)"


@dataclass
class Line:
    """One peer at one program and size. Times are of one call, in ns; `cpu_ratio` is by CPU time, not the clock."""

    peer: str
    first: float
    call: float
    ratio: float
    cpu_ratio: float
    distance: str
    note: str = ""


def timed(function: Function, arguments: tuple[Any, ...]) -> tuple[float, Any]:
    start = time.perf_counter_ns()
    result = function(*arguments)
    return time.perf_counter_ns() - start, result


def batch(function: Function, arguments: tuple[Any, ...], calls: int) -> tuple[float, float]:
    """Time of one call out of so many, in ns: by the clock, and of the processor, which other programs disturb less.

    The result is dropped at once, as in a program that goes on.
    """
    start, cpu_start = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(calls):
        function(*arguments)
    cpu_end, end = time.process_time_ns(), time.perf_counter_ns()
    return (end - start) / calls, (cpu_end - cpu_start) / calls


def in_turn(runs: list[tuple[Function, tuple[Any, ...]]], rounds: int) -> list[list[tuple[float, float]]]:
    """Times of each in `rounds` rounds. Who goes first moves on from round to round."""
    calls = []
    for function, arguments in runs:
        # tagalong records more than once where calls differ.
        once = min(batch(function, arguments, 1)[0] for _ in range(5))
        calls.append(max(1, int(ROUND_SECONDS * 1e9 / max(once, 100.0))))
        batch(function, arguments, calls[-1])
    times: list[list[tuple[float, float]]] = [[] for _ in runs]
    for number in range(rounds):
        for turn in range(len(runs)):
            index = (turn + number) % len(runs)
            times[index].append(batch(*runs[index], calls[index]))
    return times


def measure(program: Program, size: int, modules: dict[str, Any], rounds: int) -> list[Line]:
    """All peers at one program and size; the first line is eager NumPy (or plain CPython) itself."""
    arguments = program.arguments(size)
    eager = program.copy()
    first, expected = timed(eager, arguments)
    runs: list[tuple[Function, tuple[Any, ...]]] = [(eager, arguments)]
    lines = [Line("eager", first, 0.0, 1.0, 1.0, "")]
    for peer in PEERS:
        if peer.package not in modules:
            continue
        start = time.perf_counter_ns()
        try:
            function = peer.make(program, modules[peer.package])
        except NotApplicable:
            continue
        made = time.perf_counter_ns() - start
        given = peer.arguments(arguments)
        first, _ = timed(function, given)
        result = function(*given)  # the second call: what is compared is a replay, not the recording
        runs.append((function, given))
        lines.append(Line(peer.name, made + first, 0.0, 0.0, 0.0, distance(result, expected)))
    times = without_collector(lambda: in_turn(runs, rounds))
    for line, (function, _), mine in zip(lines, runs, times, strict=True):
        line.call = statistics.median(clock for clock, _ in mine)
        both = list(zip(times[0], mine, strict=True))
        line.ratio = statistics.median(one[0] / two[0] for one, two in both)
        line.cpu_ratio = statistics.median(one[1] / two[1] for one, two in both)
        if line.peer == "tagalong":
            line.note = checked(program, function, arguments)
    return lines


def checked(program: Program, function: Function, arguments: tuple[Any, ...]) -> str:
    """A replay that did not happen is an error where a whole one is expected, and said where none is."""
    before = tagalong.stats(function)
    function(*arguments)
    after = tagalong.stats(function)
    hit, left = after.hits > before.hits, after.exits > before.exits
    if program.replayed and (left or not hit):
        raise RuntimeError(f"{program.name} is not replayed:\n{tagalong.explain(function)}")
    if left:
        return "replayed in part, then as written"
    return "" if hit else "not replayed: runs as written"


# --- Printing ---------------------------------------------------------------------------------------------------------


def duration(nanoseconds: float) -> str:
    for unit, factor in (("ns", 1.0), ("µs", 1e3), ("ms", 1e6)):
        if nanoseconds < 999.5 * factor:
            return f"{nanoseconds / factor:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def heading(modules: dict[str, Any], missing: dict[str, str], rounds: int) -> list[str]:
    versions = [f"{name} {module.__version__}" for name, module in modules.items()]
    lines = [
        f"CPython {platform.python_version()}, NumPy {np.__version__}, {', '.join(versions)}",
        f"{os.cpu_count()} cores, one thread each; medians of {rounds} interleaved rounds; "
        f"load average at the start {os.getloadavg()[0]:.1f}",
        "ratio: time of eager NumPy (or plain CPython) / time of the peer, so that above 1 is faster; "
        "first by the clock, then by CPU time",
    ]
    return lines + [f"skipped: {name} ({why})" for name, why in missing.items()]


def as_text(program: Program, size: int, lines: list[Line]) -> list[str]:
    found = [f"\n{program.name}" + (f", {size} elements" if program.arrays else "")]
    for line in lines:
        ratios = f"{line.ratio:7.2f} x  {line.cpu_ratio:7.2f} x cpu"
        text = f"  {line.peer:16} {ratios}  {duration(line.call):>8}  first call {duration(line.first):>8}"
        found.append(f"{text}  {line.distance}{'  ' + line.note if line.note else ''}".rstrip())
    return found


def as_markdown(program: Program, size: int, lines: list[Line]) -> list[str]:
    """One row for each size: the eager time, then ratio, first call and distance of every peer."""
    by_name = {line.peer: line for line in lines}
    cells = [program.name, f"{size:,}" if program.arrays else "", duration(lines[0].call)]
    for peer in PEERS:
        line = by_name.get(peer.name)
        cells.append(
            f"{line.ratio:.2f}, {line.cpu_ratio:.2f} ({duration(line.first)}; {line.distance})"
            if line is not None
            else "–"
        )
    return [f"| {' | '.join(cells)} |"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench alternatives", description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, metavar="N", help="rounds of each (default: 21)")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    arguments = parser.parse_args()
    modules, missing = installed(PEERS)
    print("\n".join(heading(modules, missing, arguments.rounds)))
    if arguments.markdown:
        names = " | ".join(f"{peer.name}: ratio, by CPU time (first call; distance)" for peer in PEERS)
        print(f"\n| program | elements | eager | {names} |\n|---|---|---|{'---|' * len(PEERS)}")
    for program in PROGRAMS:
        for size in program.sizes:
            lines = measure(program, size, modules, arguments.rounds)
            shown = as_markdown if arguments.markdown else as_text
            print("\n".join(shown(program, size, lines)), flush=True)
    print(f"\nload average at the end {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
