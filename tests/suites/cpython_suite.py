"""CPython's own tests, plain and under stress: each test must have the same verdict (see `scripts/cpython-suite`)."""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RUNNER = HERE / "cpython_runner.py"

# A process under stress gets this many times the time of the plain one, and so many seconds more.
FACTOR, GRACE = 8, 60
PLAIN_TIMEOUT = 300.0


@dataclasses.dataclass
class Outcome:
    """What a run of one module left behind: verdicts by round and test, and how the process ended."""

    verdicts: dict[str, str]
    texts: dict[str, str]
    seconds: float
    ending: str  # "" when it came to its end, otherwise how it did not
    slowest: list[tuple[float, str]]


def table(name: str) -> dict[str, str]:
    """A committed list of lines `name: reason`. Lines that start with # are comments."""
    rows: dict[str, str] = {}
    for line in (HERE / name).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            first, _, reason = line.partition(": ")
            if not reason.strip():
                raise SystemExit(f"{name}: {first} has no reason")
            if first in rows:
                raise SystemExit(f"{name}: {first} is there twice")
            rows[first] = reason.strip()
    return rows


def modules_of(python: str) -> list[str]:
    """All test modules of an interpreter, by the names `test.test_…`."""
    code = (
        "from test.libregrtest.findtests import findtests;"
        "print(*[n if n.startswith('test.') else 'test.' + n for n in findtests()])"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return sorted(done.stdout.split())


def read_events(file: Path) -> tuple[dict[str, str], dict[str, str], str, list[tuple[float, str]]]:
    """Verdicts, texts, the test under way at the end ("": none; the run is complete), the slowest tests."""
    verdicts: dict[str, str] = {}
    texts: dict[str, str] = {}
    times: list[tuple[float, str]] = []
    running = "loading"
    for line in file.read_text().splitlines() if file.exists() else ():
        event = json.loads(line)
        if "done" in event:
            running = ""
        elif "start" in event:
            running = f"{event['round']} {event['start']}"
            verdicts.setdefault(running, "ok")
        elif "end" in event:
            times.append((event["seconds"], f"{event['round']} {event['end']}"))
            running = "between tests"
        else:
            key = f"{event['round']} {event['test']}"
            verdicts[key] = event["verdict"]
            texts.setdefault(key, event["text"])
    return verdicts, texts, running, sorted(times, reverse=True)[:5]


def describe_exit(code: int | None) -> str:
    """How a process ended, in a word."""
    if code is None:
        return "timeout"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def environment_of_suites(variables: dict[str, str]) -> dict[str, str]:
    """The environment of a run: nothing of ours but `variables`, and the same everywhere."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("TAGALONG", "PYTHON"))}
    return kept | {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"} | variables


def run_process(
    command: list[str], folder: Path, events: Path, variables: dict[str, str], timeout: float, output: Path
) -> Outcome:
    """Runs a command that leaves events in a file; whatever it has started goes with it."""
    start = time.monotonic()
    code: int | None = None
    with output.open("wb") as out, subprocess.Popen(
        command, cwd=folder, env=environment_of_suites(variables), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # faulthandler says where it stands
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    seconds = time.monotonic() - start
    verdicts, texts, running, slowest = read_events(events)
    ending = ""
    if code != 0 or running:
        ending = f"{describe_exit(code)} in {running or 'the end'}"
    return Outcome(verdicts, texts, round(seconds, 2), ending, slowest)


def run_module(module: str, python: str, variables: dict[str, str], timeout: float, arguments: argparse.Namespace,
               output: Path) -> Outcome:  # fmt: skip
    """Runs one module in a process of its own, in an empty folder."""
    with tempfile.TemporaryDirectory(prefix="suite-", ignore_cleanup_errors=True) as folder:
        events = Path(folder, "events")
        inner = Path(folder, "tests")
        inner.mkdir()
        command = [python, "-X", "faulthandler", str(RUNNER), module, str(events)]
        command += [f"--rounds={arguments.rounds}", *(f"--only={part}" for part in arguments.only)]
        command += [f"--without={name}" for name in arguments.without if name.startswith(f"{module}.")]
        return run_process(command, inner, events, variables, timeout, output)


def plain_outcome(module: str, arguments: argparse.Namespace) -> Outcome:
    """The plain run, from the cache if it has been made by the same interpreter."""
    cached = arguments.cache / f"{module}.{arguments.rounds}.json"
    key = f"{arguments.version} {RUNNER.stat().st_mtime_ns} {arguments.without}"
    if cached.exists() and not arguments.only:
        known = json.loads(cached.read_text())
        if known.pop("key") == key:
            return Outcome(**known)
    outcome = run_module(
        module, arguments.python, {}, PLAIN_TIMEOUT, arguments, arguments.cache / f"{module}.plain.txt"
    )
    if not arguments.only:
        cached.write_text(json.dumps({"key": key, **dataclasses.asdict(outcome)}))
    return outcome


@dataclasses.dataclass
class Comparison:
    """One module, plain and under stress."""

    module: str
    plain: Outcome
    stress: Outcome
    differences: dict[str, str]  # test id: what differs
    unsteady: dict[str, str]  # the same, of a first run that a second one did not confirm
    counts: collections.Counter[str]


def differences_of(plain: Outcome, stress: Outcome) -> dict[str, str]:
    """Tests that pass plain and do not under stress, by their ids without the round."""
    found: dict[str, str] = {}
    for key, verdict in plain.verdicts.items():
        seen = stress.verdicts.get(key, "not run")
        number, _, test = key.partition(" ")
        if verdict != seen and verdict in ("ok", "expected failure") and test not in found:
            lines = stress.texts.get(key, "").strip().splitlines()
            found[test] = f"round {number}: {seen} instead of {verdict}: {lines[-1] if lines else ''}"
    return found


def add_up(file: Path) -> collections.Counter[str]:
    """The counts that all processes of a run left in a file."""
    counts: collections.Counter[str] = collections.Counter()
    for line in file.read_text().splitlines() if file.exists() else ():
        for name, number in json.loads(line).items():
            if name == "stops":
                counts.update({f"stop:{reason}": times for reason, times in number.items()})
            elif name not in ("process", "arguments"):
                counts[name] += number
        counts["processes"] += 1
    return counts


def compare(module: str, arguments: argparse.Namespace) -> Comparison:
    """Runs a module both ways. Differences of verdicts must show twice, a crash counts at once."""
    plain = plain_outcome(module, arguments)
    timeout = arguments.timeout or FACTOR * plain.seconds + GRACE
    counts: collections.Counter[str] = collections.Counter()
    runs: list[tuple[Outcome, dict[str, str]]] = []
    for attempt in range(2):
        summary = arguments.cache / f"{module}.counts"
        summary.unlink(missing_ok=True)
        variables = {"TAGALONG_STRESS": "1", "TAGALONG_SUMMARY": str(summary)}
        output = arguments.cache / f"{module}.stress.{attempt}.txt"
        outcome = run_module(module, arguments.python, variables, timeout, arguments, output)
        counts.update(add_up(summary))
        summary.unlink(missing_ok=True)
        runs.append((outcome, differences_of(plain, outcome)))
        if plain.ending or outcome.ending or not runs[-1][1].keys() - arguments.known.keys():
            break
    outcome, found = runs[-1]
    unsteady = {test: text for test, text in runs[0][1].items() if test not in found}
    result = Comparison(module, plain, outcome, found, unsteady, counts)
    details = {
        "module": module,
        "stress": dataclasses.asdict(outcome),
        "differences": found,
        "counts": dict(counts),
    }
    (arguments.cache / f"{module}.stress.json").write_text(json.dumps(details, indent=1))
    return result


def report(result: Comparison, known: dict[str, str]) -> tuple[list[str], bool]:
    """Lines about one module, and whether it is as it should be."""
    plain, stress = result.plain, result.stress
    tests = len({key.partition(" ")[2] for key in plain.verdicts})
    counts = result.counts
    line = (
        f"{result.module}: {tests} tests, {len(result.differences)} differ; {plain.seconds:.1f} s -> "
        f"{stress.seconds:.1f} s; functions recorded {counts['functions_recorded']}, replayed "
        f"{counts['functions_replayed']}; hits {counts['hits']}, exits {counts['exits']}"
    )
    lines = [line]
    if plain.ending:
        lines.append(f"  plain: {plain.ending}")
    if stress.ending and not plain.ending:
        lines.append(f"  CRASH: {stress.ending}")
    good = not stress.ending or bool(plain.ending)
    for test, text in result.differences.items():
        if test not in known and not stress.ending:
            lines.append(f"  DIFFERS {test}: {text}")
            good = False
    lines += [f"  unsteady {test}: {text}" for test, text in result.unsteady.items()]
    if stress.seconds > 20 * plain.seconds + 2:
        lines.append(f"  SLOW: {stress.slowest}")
    if counts["stop:internal"]:
        lines.append(f"  INTERNAL: {counts['stop:internal']} recordings stopped by a defect of the recorder")
        good = False
    return lines, good


def missing_differences(results: Iterable[Comparison], known: dict[str, str]) -> list[str]:
    """Known differences that were looked at and do not differ any more."""
    same: list[str] = []
    for result in results:
        tests = {key.partition(" ")[2] for key in result.plain.verdicts}
        same += [test for test in known if test in tests and test not in result.differences]
    return same


def parse(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/cpython-suite",
        description="Run CPython's own tests plain and under stress (TAGALONG_STRESS=1) and compare the verdicts.",
    )
    parser.add_argument("modules", nargs="*", help="such as test_json (default: all)")
    parser.add_argument(
        "--representative", action="store_true", help="the modules of representative.txt only"
    )
    parser.add_argument("--jobs", type=int, default=2, help="modules at the same time")
    parser.add_argument(
        "--timeout", type=float, help=f"seconds for a module (default: {FACTOR} x plain + {GRACE})"
    )
    parser.add_argument(
        "--rounds", type=int, default=2, help="how often each test runs in its process (default: 2)"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="tests with PART in their ids"
    )
    parser.add_argument("--plain-only", action="store_true", help="fill the cache of plain runs")
    parser.add_argument("--python", default=str(ROOT / ".venv/bin/python"), help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=Path, default=ROOT / "build/suites", help="folder of results")
    return parser.parse_args(argv)


def chosen(arguments: argparse.Namespace) -> list[str]:
    """The modules to run."""
    skipped = table("cpython_skipped.txt")
    everything = modules_of(arguments.python)
    for name in skipped:
        if not any(name == module or name.startswith(f"{module}.") for module in everything):
            raise SystemExit(f"cpython_skipped.txt: there is no {name}")
    arguments.without = [name for name in skipped if name not in everything]
    if arguments.modules:
        wanted = [name if name.startswith("test.") else f"test.{name}" for name in arguments.modules]
        packages = tuple(f"{name}." for name in wanted)
        return [module for module in everything if module in wanted or module.startswith(packages)]
    if arguments.representative:
        return [f"test.{name}" for name in (HERE / "cpython_representative.txt").read_text().split()]
    return [module for module in everything if module not in skipped]


def main(argv: list[str] | None = None) -> int:
    """Runs, compares, prints; the exit code is 0 when there is nothing but the known differences."""
    arguments = parse(argv)
    arguments.cache = arguments.cache.resolve()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    arguments.known = table("cpython_differences.txt")
    version = subprocess.run(
        [arguments.python, "-VV"], capture_output=True, text=True, check=True, timeout=60
    )
    arguments.version = version.stdout.strip()
    modules = chosen(arguments)
    if not modules:
        raise SystemExit("no such modules")
    bad = 0
    results: list[Comparison] = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        if arguments.plain_only:
            for module, outcome in zip(
                modules, pool.map(lambda name: plain_outcome(name, arguments), modules)
            ):
                print(f"{module}: {outcome.seconds:.1f} s {outcome.ending}", flush=True)
            return 0
        for task in concurrent.futures.as_completed(
            [pool.submit(compare, name, arguments) for name in modules]
        ):
            result = task.result()
            results.append(result)
            lines, good = report(result, arguments.known)
            bad += not good
            print("\n".join(lines), flush=True)
    total: collections.Counter[str] = sum((result.counts for result in results), collections.Counter())
    tests = sum(len({key.partition(" ")[2] for key in result.plain.verdicts}) for result in results)
    different = sum(len(result.differences) for result in results)
    print(
        f"total: {len(results)} modules, {tests} tests, {different} differ, {bad} modules not as they should be"
    )
    print(", ".join(f"{name} {number}" for name, number in sorted(total.items())))
    same = missing_differences(results, arguments.known)
    for test in same:
        print(f"cpython_differences.txt: {test} does not differ any more")
    return int(bool(bad or same))


if __name__ == "__main__":
    sys.exit(main())
