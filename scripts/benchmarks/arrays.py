"""Array programs by tagalong and its peers against eager NumPy: `scripts/bench arrays`.

All peers that can compute a program take turns in one process, with a new process for each program and setting; the
best of the batches counts. Settings are one thread or two, and malloc's treatment of large arrays: by default malloc
returns their memory to the system and requests it again, which takes most of the time of many chains; with `raised`
thresholds malloc keeps the memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.tables import Table, duration, ratio

SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
ARITHMETIC = "chain of 6 operations"
QUICK_SIZES = (10, 1_000, 100_000, 1_000_000)
PEERS = ("tagalong", "numexpr", "numba", "jax", "torch.compile")
MIB = 1 << 20


@dataclass(frozen=True)
class Setting:
    threads: int
    raised: bool

    def __str__(self) -> str:
        kind = "mmap threshold raised" if self.raised else "default allocator"
        return f"{self.threads} thread{'s' * (self.threads > 1)}, {kind}"

    def environment(self) -> dict[str, str]:
        """Environment variables for the packages, which read them when they are imported."""
        count = str(self.threads)
        names = ("TAGALONG", "NUMEXPR_NUM", "NUMBA_NUM", "OMP_NUM")
        own = {f"{name}_THREADS": count for name in names}
        own["NUMEXPR_MAX_THREADS"] = "2"
        own["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = (
            "1"  # so that a first call compiles, whatever an earlier run has cached
        )
        if self.raised:
            own |= {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 33)}
        return os.environ | own


SETTINGS = tuple(Setting(threads, raised) for raised in (False, True) for threads in (1, 2))

# --- in a process of its own


def stay_on(threads: int) -> None:
    """Uses no more processors than threads: XLA has a thread for each available processor, whatever its settings."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def run_child(name: str, threads: int, sizes: list[int], seconds: float) -> None:
    """Writes a line of JSON for each size."""
    stay_on(threads)
    from benchmarks.peers import makers, programs, timing
    from tagalong import _core

    _core.set_option("retire_after", 0)  # functions that do not pay are measured, too
    program = next(program for program in programs.PROGRAMS if program.name == name)
    modules, _ = makers.installed()
    for size in sizes:
        lines = timing.measure(program, size, modules, threads, seconds)
        print(json.dumps({"size": size, "lines": lines}), flush=True)


def run_fresh(name: str, threads: int, size: int, peer_name: str, form: int) -> None:
    """Measures a first call that is the first one of the process."""
    import importlib

    stay_on(threads)
    from benchmarks.peers import makers, programs, timing
    from tagalong import _core

    _core.set_option("retire_after", 0)
    program = next(program for program in programs.PROGRAMS if program.name == name)
    peer = next(peer for peer in makers.PEERS if peer.name == peer_name)
    module = importlib.import_module(peer.package)
    print(json.dumps(timing.fresh_call(peer, program, module, threads=threads, size=size, form=form)))


def run_extras() -> None:
    """Memory at 10^7 elements, and the time until a function of 20 operations is a fusion group."""
    import numpy as np

    import tagalong
    from benchmarks.chains import chain
    from benchmarks.peers import makers, programs, timing

    def twenty() -> Any:
        return programs.Program("", programs.twenty, lambda size: (), lambda _: None).copy()

    taken, eager, calls = timing.to_replay(programs.twenty, twenty, 10)
    found: dict[str, Any] = {"to_replay": taken, "eager": eager, "calls": calls}
    arguments = tuple(np.linspace(low, low + 1.0, 10_000_000) for low in (1.0, 2.0))
    traced = tagalong.trace(programs.Program("", chain, lambda size: (), lambda _: None).copy())
    found["peak"] = {
        "NumPy": timing.peak_bytes(chain, arguments, 8),
        "tagalong": timing.peak_bytes(traced, arguments, 8),
    }
    modules, _ = makers.installed()
    whole = programs.Program(
        "", programs.twenty, programs.uniform((1.0, 2.0), (1.0, 2.0)), lambda _: None, is_elementwise=True
    )
    found["first"] = {}
    for peer in makers.PEERS:
        if peer.package in modules and peer.name not in ("tagalong", "numexpr"):
            runner = timing.fastest(peer, whole, modules[peer.package], 1, lambda: whole.arguments(10))
            if not isinstance(runner, str):
                found["first"][peer.name] = runner.line.first
    print(json.dumps(found))


# --- the whole benchmark


def child(arguments: list[str], setting: Setting) -> Iterator[dict[str, Any]]:
    command = [sys.executable, "-m", "benchmarks.arrays", *arguments]
    with subprocess.Popen(
        command, env=setting.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            yield json.loads(line)
        said = process.stderr.read()
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{said}")


Results = dict[tuple[Setting, str, int], dict[str, dict[str, Any]]]


def print_ratios(
    setting: Setting, names: list[str], sizes: list[int], options: Any, results: Results
) -> None:
    print(f"\n{setting}: time of eager NumPy / time of each\n")
    table = Table(["program", "elements", "NumPy", *PEERS], options.markdown)
    for name in names:
        request = ["--child", name, str(setting.threads), json.dumps(sizes), str(options.seconds)]
        for answer in child(request, setting):
            size = answer["size"]
            lines = {line["peer"]: line for line in answer["lines"]}
            results[setting, name, size] = lines
            eager = lines["NumPy"]["call"]
            ratios = {peer: eager / line["call"] for peer, line in lines.items() if line["call"] > 0}
            best = max(value for peer, value in ratios.items() if peer != "NumPy")
            cells = [
                "–"
                if peer not in ratios
                else f"**{ratio(ratios[peer])}**"
                if options.markdown and ratios[peer] == best and best > 1
                else ratio(ratios[peer])
                for peer in PEERS
            ]
            table.row([name, f"{size:,}", duration(eager), *cells])


FRESH_TIMES = {
    "tagalong": 5,
    "numexpr": 5,
    "jax": 2,
}  # number of processes; 1 for peers that compile for seconds


def fresh(setting: Setting, name: str, size: int, line: dict[str, Any]) -> float:
    """The best of several processes, as for other times: delays by chance do not count."""
    request = ["--fresh", name, str(setting.threads), str(size), line["peer"], str(line["form"])]
    return min(
        next(child(request, setting))  # type: ignore[type-var]
        for _ in range(FRESH_TIMES.get(line["peer"], 1))
    )


def measure_fresh(setting: Setting, name: str, size: int, lines: dict[str, dict[str, Any]]) -> None:
    """Measures first calls in a process of their own: the time for which a program waits.

    A function that is made after others takes less time. If that time already satisfies a peer's bar, no process is
    started.
    """
    mine = lines["tagalong"]
    mine["fresh"] = fresh(setting, name, size, mine)
    for peer in PEERS[1:]:
        if usable(lines, peer) and (peer == "numexpr" or worst_total(lines[peer], mine) < 1.0):
            lines[peer]["fresh"] = fresh(setting, name, size, lines[peer])


def print_fresh(names: list[str], sizes: list[int], options: Any, results: Results) -> None:
    counted = [size for size in sizes if is_counted(size)]
    for setting in options.settings:
        print(f"\nFirst call in a process of its own, imports before it, {setting}")
        print("(≥: in a process that has made other functions, which was enough to know)\n")
        table = Table(["program", "elements", "", *PEERS], options.markdown)
        for name in names:
            for size in counted if not name.startswith("chain") else []:
                lines = results[setting, name, size]
                measure_fresh(setting, name, size, lines)
                table.row([name, f"{size:,}", "", *(first_of(lines, peer) for peer in PEERS)])


def first_of(lines: dict[str, dict[str, Any]], peer: str) -> str:
    if not usable(lines, peer):
        return "–"
    line = lines[peer]
    return duration(line["fresh"]) if "fresh" in line else f"≥ {duration(line['first'])}"


def print_others(names: list[str], sizes: list[int], options: Any, results: Results) -> None:
    """Other results of the first setting: first calls, the break-even of calls, and differences between results."""
    setting = options.settings[0]
    print(f"\nFirst call at {sizes[0]} elements, after others in the same process, {setting}\n")
    table = Table(["program", "", "", *PEERS], options.markdown)
    for name in names:
        lines = results[setting, name, sizes[0]]
        table.row(
            [
                name,
                "",
                "",
                *(duration(lines[peer]["first"]) if usable(lines, peer) else "–" for peer in PEERS),
            ]
        )

    print(f"\nCalls after which a peer's total, first call included, is below tagalong's, {setting}\n")
    table = Table(["program", "elements", "", *PEERS[1:]], options.markdown)
    for name in names:
        for size in sizes:
            lines = results[setting, name, size]
            table.row([name, f"{size:,}", "", *(calls_to_catch_up(lines, peer) for peer in PEERS[1:])])

    size = max((size for size in sizes if size <= 1_000_000), default=min(sizes))
    print(f"\nDistance from eager NumPy's result, {size:,} elements\n")
    for name in names:
        lines = results[setting, name, size]
        said = [
            f"{peer}: {lines[peer]['distance'] or lines[peer]['failure']}" for peer in PEERS if peer in lines
        ]
        print(f"  {name:24} {'; '.join(said)}")


def usable(lines: dict[str, dict[str, Any]], peer: str) -> bool:
    return peer in lines and lines[peer]["call"] > 0


def calls_to_catch_up(lines: dict[str, dict[str, Any]], peer: str) -> str:
    if not usable(lines, peer):
        return "–"
    mine, theirs = lines["tagalong"], lines[peer]
    ahead = total(theirs, 1) - total(mine, 1)
    if theirs["call"] >= mine["call"]:
        return "never" if ahead >= 0 else "at first"
    return f"{max(0.0, ahead / (mine['call'] - theirs['call'])):,.0f}"


# --- bars


def limit(lines: dict[str, dict[str, Any]]) -> float:
    """How much faster than NumPy a program can be with one thread whose exp, log, ... are NumPy's own loops."""
    line = lines["NumPy"]
    return line["call"] / line["own_loops"] if line["own_loops"] > 0 else float("inf")


def print_limits(names: list[str], sizes: list[int], options: Any, results: Results) -> None:
    """Prints the limits of programs that spend their time in NumPy's own exp, log, ..."""
    setting = options.settings[0]
    print(
        f"\nShare of eager NumPy's time in its loops of exp, log, ..., for which no others can stand, {setting}"
    )
    print("(in brackets: how many times as fast one thread could be without anything else)\n")
    for name in names:
        limits = {size: limit(results[setting, name, size]) for size in sizes}
        if min(limits.values()) < float("inf"):
            said = ", ".join(
                f"{size:,}: {100 / value:.0f} % ({ratio(value)})" for size, value in limits.items()
            )
            print(f"  {name:24} {said}")


@dataclass(frozen=True)
class Bar:
    what: str
    value: float
    bar: float
    at_least: bool = True
    limit: float = float("inf")  # the limit that equal bits impose

    @property
    def kept(self) -> bool:
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    def __str__(self) -> str:
        side = "at least" if self.at_least else "at most"
        out_of_reach = f"; NumPy's own loops allow {ratio(self.limit)}" if self.limit < self.bar else ""
        verdict = "kept  " if self.kept else "MISSED"
        return f"  {verdict} {self.what:74} {ratio(self.value):>7} ({side} {self.bar:g}{out_of_reach})"


CALLS = 1000  # with fewer, a peer's first call dominates


def total(line: dict[str, Any], calls: int) -> float:
    """Seconds of this many calls, including the first one and making the function."""
    return line.get("fresh", line["first"]) + (calls - 1) * line["call"]


def worst_total(line: dict[str, Any], mine: dict[str, Any]) -> float:
    """The largest ratio of a peer's total time to ours, for numbers of calls up to this one."""
    return min(total(line, calls) / total(mine, calls) for calls in (1, CALLS))


def without_fresh(results: Results) -> Results:
    """The same with first calls that come after others in one process."""
    return {
        where: {
            peer: {name: value for name, value in line.items() if name != "fresh"}
            for peer, line in lines.items()
        }
        for where, lines in results.items()
    }


def is_counted(size: int) -> bool:
    """Whether the size is one that people use."""
    return 1_000 <= size <= 1_000_000


def bars_of_chains(
    where: str, name: str, setting: Setting, size: int, against: dict[str, float]
) -> Iterator[Bar]:
    is_arithmetic = name == ARITHMETIC
    if is_arithmetic and size <= 1000:
        yield Bar(f"{where}: NumPy", against["NumPy"], 5.0)
    elif is_arithmetic and setting.raised:
        yield Bar(f"{where}: NumPy", against["NumPy"], 2.0)
    for peer in PEERS[1:]:
        if peer in against and peer == "numexpr":
            yield Bar(f"{where}: numexpr", against[peer], 2.0)
        elif peer in against:
            in_cache = is_arithmetic and size < 10_000_000
            yield Bar(f"{where}: {peer}", against[peer], 0.5 if in_cache else 1.0)


def bars_of_ratios(results: Results) -> Iterator[Bar]:
    """The bars on ratios.

    Chains against all peers; programs, at the sizes people use, against eager NumPy, and against peers in the total
    time of any number of calls up to a thousand.
    """
    for (setting, name, size), lines in results.items():
        where = f"{name}, {size:,}, {setting}"
        mine = lines["tagalong"]
        against = {peer: line["call"] / mine["call"] for peer, line in lines.items() if line["call"] > 0}
        if name.startswith("chain"):
            yield from bars_of_chains(where, name, setting, size, against)
        elif is_counted(size):
            most = limit(lines) * setting.threads
            yield Bar(f"{where}: NumPy", against["NumPy"], 2.0, limit=most)
            for peer in PEERS[1:]:
                if peer in against:
                    worst = worst_total(lines[peer], mine)
                    yield Bar(f"{where}: {peer}, up to {CALLS} calls", worst, 1.0)


def bars_of_extras(found: dict[str, Any]) -> Iterator[Bar]:
    outputs = 10_000_000 * 8
    yield Bar("chain of 6 operations, 10,000,000: peak memory beyond the result, MiB",
              (found["peak"]["tagalong"] - outputs) / MIB, 16.0, at_least=False)  # fmt: skip
    yield Bar("20 operations: from the first call to the first replayed region, ms",
              (found["to_replay"] - found["eager"]) * 1e3, 1.0, at_least=False)  # fmt: skip


def print_extras(found: dict[str, Any]) -> None:
    peaks = ", ".join(f"{name} {size / MIB:.0f} MiB" for name, size in found["peak"].items())
    print(f"\nPeak memory of the chain on 10,000,000 elements, the result of 76 MiB included: {peaks}")
    first = ", ".join(f"{name} {duration(seconds)}" for name, seconds in found["first"].items())
    print(
        f"20 operations on 10 elements: {duration(found['to_replay'])} until a region has run, "
        f"in call {found['calls']} (eager NumPy takes {duration(found['eager'])} for these); "
        f"first calls of others: {first or 'none'}"
    )


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        name, threads, sizes, seconds = sys.argv[2:]
        run_child(name, int(threads), json.loads(sizes), float(seconds))
        return 0
    if sys.argv[1:2] == ["--fresh"]:
        name, threads, size, peer, form = sys.argv[2:]
        run_fresh(name, int(threads), int(size), peer, int(form))
        return 0
    if sys.argv[1:2] == ["--extras"]:
        run_extras()
        return 0
    from benchmarks.peers import makers, programs

    known = [program.name for program in programs.PROGRAMS]
    parser = argparse.ArgumentParser(prog="scripts/bench arrays", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes, one setting: a few minutes")
    parser.add_argument(
        "--program", action="append", metavar="NAME", help=f"beginning of one of: {', '.join(known)}"
    )
    parser.add_argument(
        "--size", action="append", type=int, metavar="N", help="elements (default: 10 to 10^7)"
    )
    parser.add_argument("--seconds", type=float, metavar="S", help="of each measurement")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a bar is missed")
    options = parser.parse_args()
    options.seconds = options.seconds or (0.3 if options.quick else 1.0)
    options.settings = SETTINGS[:1] if options.quick else SETTINGS
    sizes = options.size or list(QUICK_SIZES if options.quick else SIZES)
    names = [name for name in known if any(name.startswith(asked) for asked in options.program or [""])]

    modules, missing = makers.installed()
    import numpy as np

    versions = ", ".join(f"{name} {module.__version__}" for name, module in modules.items())
    print(
        f"CPython {platform.python_version()}, NumPy {np.__version__}, {versions}; {os.cpu_count()} processors"
    )
    print("best of many interleaved batches of calls in a row; above 1 is faster than eager NumPy")
    for name, why in missing.items():
        print(f"skipped: {name} ({why})")
    results: Results = {}
    for setting in options.settings:
        print_ratios(setting, names, sizes, options, results)
    print_fresh(names, sizes, options, results)
    print_others(names, sizes, options, results)
    print_limits(names, sizes, options, results)
    bars = list(bars_of_ratios(results))
    for found in child(["--extras"], SETTINGS[0]):
        print_extras(found)
        bars += bars_of_extras(found)
    print("\nBars\n")
    for bar in bars:
        print(bar)
    missed = sum(not bar.kept for bar in bars)
    print(f"\n{missed} of {len(bars)} bars missed")
    otherwise = [bar for bar in bars_of_ratios(without_fresh(results)) if not bar.kept]
    print(f"with first calls after others in the same process it would be {len(otherwise)}:")
    for bar in otherwise:
        print(bar)
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
