"""Times one program with all peers in one process: first calls, then alternating batches of calls; the best counts."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

import tagalong
from benchmarks.measure import without_collector
from benchmarks.peers.core import Core
from benchmarks.peers.makers import PEERS, Function
from benchmarks.peers.programs import Arguments, Program
from tagalong import _core

BATCH = 0.0005  # minimum of seconds for a batch of calls: short ones are interrupted less often
FIRST_OF_BATCH = 4  # calls until a stencil of 10^6 elements takes as long as later on
MOST_ROUNDS = 200
LEAST_ROUNDS = 4
CLOSE = 1.5  # factor over the fastest time
LEAST_OF_CLOSE = 20  # number of rounds
SHORT = 0.05  # seconds of a batch; longer ones are likely to be disturbed
LEAST_ALONE = 5  # number of batches
PATIENCE = 4  # factor over the time of a measurement
FIRST_CALLS = 0.5  # seconds after which no further first call is made
WARM_UP = 24  # calls: names have to be looked up before a fusion group is planned


@dataclass
class Line:
    """One peer at one program and size: seconds of the first call (making the function included) and of the others."""

    peer: str
    first: float  # in a process that has made other functions
    call: float = 0.0
    form: int = 0  # which form was the fastest
    distance: str = ""
    failure: str = ""
    own_loops: float = 0.0  # of NumPy's line: seconds in loops that have to be NumPy's own


@dataclass
class Runner:
    line: Line
    function: Function
    arguments: Arguments
    calls: int = 1
    beside: list[float] = field(
        default_factory=list
    )  # for each batch, the seconds of the core's work beside it

    def batch(self) -> None:
        """Times consecutive calls, as a program makes them: the first ones fill the caches and do not count."""
        for _ in range(FIRST_OF_BATCH):
            self.function(*self.arguments)
        start = time.perf_counter()
        for _ in range(self.calls):
            self.function(*self.arguments)
        taken = (time.perf_counter() - start) / self.calls
        self.line.call = min(self.line.call or taken, taken)


def warmed(line: Line, function: Function, arguments: Arguments, calls: int) -> Runner:
    """Warms up with some calls, for at most a second; returns how many calls make a batch."""
    runner = Runner(line, function, arguments)
    once = float("inf")
    end = time.perf_counter() + 1.0
    for _ in range(calls):
        start = time.perf_counter()
        function(*arguments)
        once = min(once, time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    runner.calls = max(1, int(BATCH / max(once, 1e-7)))
    runner.batch()
    return runner


def first_call(peer: Any, make: Callable[[], Function], arguments: Arguments) -> tuple[float, Function]:
    """Seconds of making the function and calling it once, and the function.

    The best of several, as for later calls: which pages the system hands out for the first time is chance. Compilers
    that take long are measured once.
    """
    best = float("inf")
    end = time.perf_counter() + FIRST_CALLS
    while True:
        peer.forget()
        start = time.perf_counter()
        function = make()
        function(*arguments)
        now = time.perf_counter()
        best = min(best, now - start)
        if now > end:
            return best, function


def fresh_call(peer: Any, program: Program, module: Any, *, threads: int, size: int, form: int) -> float:
    """Seconds of making the function and calling it once, in a process that has only imported modules."""
    makes = peer.forms(program, module, threads)
    for _ in range(form):
        next(makes)
    make = next(makes)
    own = peer.own(program.arguments(size))
    start = time.perf_counter()
    make()(*own)
    return time.perf_counter() - start


def fastest(peer: Any, program: Program, module: Any, threads: int, arguments: Arguments) -> Runner | str:
    """The fastest form of a peer, or why there is none."""
    found: Runner | None = None
    failure = "no way"
    for form, make in enumerate(peer.forms(program, module, threads)):
        try:
            own = peer.own(arguments())
            first, function = first_call(peer, make, own)
            runner = warmed(Line(peer.name, first, form=form), function, own, WARM_UP)
        except Exception as error:  # whatever a compiler raises
            failure = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"[
                :120
            ]
            continue
        if found is None or runner.line.call < found.line.call:
            found = runner
    return found or failure


def measure(
    program: Program, size: int, modules: dict[str, Any], threads: int, seconds: float
) -> list[dict[str, Any]]:
    """Measures all peers at one size; the first line is eager NumPy's."""

    def arguments() -> Arguments:
        return program.arguments(size)

    eager = program.copy()
    expected = eager(*arguments())
    runners = [warmed(Line("NumPy", 0.0), eager, arguments(), 3)]
    lines = [runners[0].line]
    for peer in PEERS:
        if peer.package not in modules:
            continue
        runner = fastest(peer, program, modules[peer.package], threads, arguments)
        if isinstance(runner, str):
            lines.append(Line(peer.name, 0.0, failure=runner))
            continue
        runner.line.distance = distance(runner.function(*runner.arguments), expected)
        runners.append(runner)
        lines.append(runner.line)
        if peer.name == "tagalong":
            check_replayed(program, runner)
    without_collector(lambda: in_turn(runners, seconds))
    lines[0].own_loops = own_loops(program, arguments()) if program.is_transcendental else 0.0
    return [asdict(line) for line in lines]


def in_turn(runners: list[Runner], seconds: float) -> None:
    """Measures the runners alternately, in random order, because some peers' threads keep spinning for a while.

    The best of a few rounds is also chance if memory and core are shared. So when the time is over, the runners that
    are close to each other run some more rounds; the times of those far behind are known well enough. Runners with
    short batches continue until they have had some batches with the core for themselves, as long as that is likely.
    """
    order = random.Random(7)
    core = Core()
    start = time.perf_counter()

    def is_wanted(runner: Runner, rounds: int, best: float) -> bool:
        if rounds < LEAST_OF_CLOSE and runner.line.call < CLOSE * best:
            return True
        alone = sum(core.was_ours(taken) for taken in runner.beside)
        is_short = runner.calls * runner.line.call < SHORT
        return is_short and alone < LEAST_ALONE and time.perf_counter() - start < PATIENCE * seconds

    number = 0
    while True:
        is_over = number >= MOST_ROUNDS or time.perf_counter() - start > seconds
        if number >= LEAST_ROUNDS and is_over:
            best = min(runner.line.call for runner in runners)
            if not (wanted := [runner for runner in runners if is_wanted(runner, number, best)]):
                return
        else:
            wanted = runners
        before = core.work()
        for runner in order.sample(wanted, len(wanted)):
            runner.batch()
            after = core.work()
            runner.beside.append(max(before, after))
            before = after
        number += 1


def check_replayed(program: Program, runner: Runner) -> None:
    before = tagalong.stats(runner.function)
    runner.function(*runner.arguments)
    after = tagalong.stats(runner.function)
    if after.hits == before.hits or after.exits > before.exits:
        raise RuntimeError(f"{program.name} is not replayed:\n{tagalong.explain(runner.function)}")


# --- the time that no peer can save if the bits must be NumPy's

# Sines and cosines are not among them: tagalong has its own loops for them with the same bits
# (docs/how-it-works/vector-code.md), and so could the peers, since NumPy's algorithms are known.
TRANSCENDENTAL = ("exp", "log", "arcsin")
IN_CACHE = 4096  # number of elements


class Noting:
    """NumPy with a list of the calls of those functions whose last bits are NumPy's own."""

    def __init__(self, noted: set[str]) -> None:
        self.noted = noted
        self.calls: list[tuple[Any, Any]] = []

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        if name not in self.noted:
            return function

        def noted(operand: Any) -> Any:
            self.calls.append((function, operand))
            return function(operand)

        return noted


def own_loops(program: Program, arguments: Arguments) -> float:
    """Seconds of a call that these functions take, without the overhead around their loops.

    Measured on operands in cache, repeatedly, into existing memory.
    """
    ours = set().union(*_core.own_functions().values())
    noting = Noting(set(TRANSCENDENTAL) - ours)
    program.copy(np=noting)(*arguments)
    total = 0.0
    for function, operand in noting.calls:
        parts = np.split(operand, range(IN_CACHE, operand.size, IN_CACHE))
        out = np.empty(min(IN_CACHE, operand.size))
        rounds = max(1, IN_CACHE // operand.size)
        empty = least(lambda: [function(part[:0], out[:0]) for part in parts], rounds)  # noqa: B023
        whole = least(lambda: [function(part, out[: part.size]) for part in parts], rounds)  # noqa: B023
        total += max(0.0, whole - empty)
    return total


def least(work: Callable[[], Any], rounds: int) -> float:
    best = float("inf")
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(rounds):
            work()
        best = min(best, (time.perf_counter() - start) / rounds)
    return best


# --- distances between results


def ordered(values: Any) -> Any:
    """Doubles as integers, whose difference is the number of representable numbers in between."""
    bits = np.ascontiguousarray(values, dtype=np.float64).reshape(-1).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def distance(result: Any, eager: Any) -> str:
    """How far a result is from eager NumPy's, in words."""
    if isinstance(eager, tuple):
        return max((distance(one, two) for one, two in zip(result, eager, strict=True)), key=severity)
    mine, theirs = np.asarray(result), np.asarray(eager)
    if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        return f"{mine.dtype}{list(mine.shape)} for {theirs.dtype}{list(theirs.shape)}"
    if mine.tobytes() == theirs.tobytes():
        return "same bits"
    if not (np.isfinite(mine).all() and np.isfinite(theirs).all()):
        return "not finite"
    one, two = ordered(mine), ordered(theirs)
    # modulo 2**64, into which the difference always fits
    apart = int(np.max(np.maximum(one, two).view(np.uint64) - np.minimum(one, two).view(np.uint64)))
    relative = float(np.max(np.abs(mine - theirs)) / np.max(np.abs(theirs)))
    return f"{apart:.3g} ulp ({relative:.0e} of the largest)"


def severity(words: str) -> float:
    if words == "same bits":
        return 0.0
    return float(words.split(maxsplit=1)[0]) if " ulp" in words else float("inf")


# --- other promises


def to_replay(function: Callable[..., Any], copy: Callable[..., Any], size: int) -> tuple[float, float, int]:
    """Seconds until a fresh copy of the function has run as a fusion group for the first time.

    Also the eager time of as many calls, and their number.
    """
    random_numbers = np.random.default_rng(7)
    arguments = tuple(random_numbers.uniform(1.0, 2.0, size) for _ in range(2))
    best = (float("inf"), 0.0, 0)
    for _ in range(20):
        traced = tagalong.trace(copy())
        taken, calls = 0.0, 0
        before = _core.counter("groups_run")
        while _core.counter("groups_run") == before and calls < 100:
            start = time.perf_counter()
            traced(*arguments)
            taken += time.perf_counter() - start
            calls += 1
        start = time.perf_counter()
        for _ in range(calls):
            function(*arguments)
        best = min(best, (taken, time.perf_counter() - start, calls))
    return best


def peak_bytes(function: Callable[..., Any], arguments: Arguments, calls: int) -> int:
    """The largest growth of the process's memory in a call after this many others, whose leftovers count."""

    def status(name: str) -> int:
        with open("/proc/self/status", encoding="ascii") as lines:  # noqa: PTH123
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

    before = status("VmRSS:")
    for _ in range(calls):
        function(*arguments)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as refs:  # noqa: PTH123 - the peak begins anew
        refs.write("5")
    result = function(*arguments)
    grown = status("VmHWM:") - before
    del result
    return grown
