"""What the suites have in common: units of tests run plain and under stress in processes of their own, and compared."""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import under_test

HERE = Path(__file__).parent

# A known difference whose reason begins with this word is unsteady: if it does not show, that is no error.
AT_TIMES = "at times: "


@dataclasses.dataclass
class Outcome:
    """What a run of one unit left behind: verdicts by round and test, and how the process ended."""

    verdicts: dict[str, str]
    texts: dict[str, str]
    seconds: float
    ending: str  # "" if it finished, otherwise how it ended
    slowest: list[tuple[float, str]]
    cpu: float = 0.0  # processor time in seconds, including child processes; 0 if it did not finish


@dataclasses.dataclass
class Comparison:
    """One unit, plain and under stress."""

    unit: str
    plain: Outcome
    stress: Outcome
    differences: dict[str, str]  # test id: what differs
    unsteady: dict[str, str]  # differences of a first run that a second one did not confirm
    counts: dict[str, int]
    build: str  # identifies the tested build

    @property
    def tests(self) -> set[str]:
        """The ids of the tests."""
        return {key.partition(" ")[2] for key in self.plain.verdicts}


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


def read_events(file: Path) -> tuple[Outcome, str]:
    """The verdicts in the events of a run, and the test that was running at the end ("": none; the run is complete)."""
    outcome = Outcome({}, {}, 0, "", [])
    running = "loading"
    for line in file.read_text().splitlines() if file.exists() else ():
        event = json.loads(line)
        if "done" in event:
            running, outcome.cpu = "", event["cpu"]
        elif "start" in event:
            running = f"{event['round']} {event['start']}"
            outcome.verdicts.setdefault(running, "ok")
        elif "end" in event:
            outcome.slowest.append((event["seconds"], f"{event['round']} {event['end']}"))
            running = "between tests"
        else:
            key = f"{event['round']} {event['test']}"
            outcome.verdicts[key] = event["verdict"]
            outcome.texts.setdefault(key, event["text"])
    outcome.slowest = sorted(outcome.slowest, reverse=True)[:5]
    return outcome, running


def describe_exit(code: int | None) -> str:
    """A word for how a process ended."""
    if code is None:
        return "timeout"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


# Variables of the caller's environment: options of the run under stress.
PASSED_ON = ("TAGALONG_LOOPS", "TAGALONG_FUSION", "TAGALONG_LIMITS")
# "Under stress" means that everything is replayed, whether it pays or not. Alternatively tagalong works as for users,
# but for all imported modules, and soon retires functions that do not pay.
WAYS = {
    "stress": {"TAGALONG": "1", "TAGALONG_STRESS": "1"},
    "retiring": {"TAGALONG": "1", "TAGALONG_INCLUDE": "*", "TAGALONG_LIMITS": "retire_after=3,heat=4"},
}


def environment_of_suites(variables: dict[str, str]) -> dict[str, str]:
    """The environment of a run: no variables for tagalong except `variables`, and the same everywhere."""
    ours = ("TAGALONG", "PYTHON", "SUITE")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    return kept | {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"} | variables


def run_process(
    command: list[str], folder: Path, events: Path, variables: dict[str, str], timeout: float, output: Path
) -> Outcome:
    """Runs a command that writes events to a file; its child processes end with it."""
    start = time.monotonic()
    code: int | None = None
    with output.open("wb") as out, subprocess.Popen(
        command, cwd=folder, env=environment_of_suites(variables), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # faulthandler prints the current stack
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    outcome, running = read_events(events)
    outcome.seconds = round(time.monotonic() - start, 2)
    if code != 0 or running:
        outcome.ending = f"{describe_exit(code)} in {running or 'the end'}"
    return outcome


def differences_of(plain: Outcome, stress: Outcome) -> dict[str, str]:
    """Tests that do not fail plain and have another verdict under stress, by their ids without the round."""
    found: dict[str, str] = {}
    for key, verdict in plain.verdicts.items():
        seen = stress.verdicts.get(key, "not run")
        number, _, test = key.partition(" ")
        if verdict != seen and verdict not in ("failure", "error") and test not in found:
            lines = stress.texts.get(key, "").strip().splitlines()
            found[test] = f"round {number}: {seen} instead of {verdict}: {lines[-1] if lines else ''}"
    return found


def add_up(file: Path) -> collections.Counter[str]:
    """Adds up the counts that all processes of a run have written to a file."""
    counts: collections.Counter[str] = collections.Counter()
    for line in file.read_text().splitlines() if file.exists() else ():
        for name, number in json.loads(line).items():
            if name == "stops":
                counts.update({f"stop:{reason}": times for reason, times in number.items()})
            elif name == "limits":
                counts.update({f"limit:{limit}": times for limit, times in number.items()})
            elif name == "left_out":
                counts.update({f"left out:{reason}": times for reason, times in number.items()})
            elif name not in ("process", "arguments"):
                counts[name] += number
        counts["processes"] += 1
    return counts


@dataclasses.dataclass(frozen=True)
class Unit:
    """The tests of one process."""

    name: str
    run: Callable[
        [dict[str, str], float, Path], Outcome
    ]  # variables, maximum of seconds, file for the output
    key: str  # identifies the conditions of a plain result


@dataclasses.dataclass
class Comparer:
    """Runs units both ways, with results in a folder."""

    results: Path
    known: dict[str, str]
    factor: float  # under stress a process gets this many times the time of the plain one,
    grace: float  # and this many seconds more
    plain_timeout: float
    arguments: argparse.Namespace

    def plain(self, unit: Unit) -> Outcome:
        """The plain run, made once."""
        cached = self.results / f"{unit.name.replace('/', '.')}.plain.json"
        if cached.exists():
            known = json.loads(cached.read_text())
            if known.pop("key") == unit.key:
                return Outcome(**known)
        outcome = unit.run({}, self.plain_timeout, cached.with_suffix(".txt"))
        cached.write_text(json.dumps({"key": unit.key, **dataclasses.asdict(outcome)}))
        return outcome

    def file(self, unit: Unit) -> Path:
        """Where the result of a unit is kept."""
        return self.results / f"{unit.name.replace('/', '.')}.{self.arguments.way}.json"

    def earlier(self, unit: Unit) -> Comparison | None:
        """The result of an earlier run, if it is valid."""
        file = self.file(unit)
        if not self.arguments.resume or not file.exists():
            return None
        known = json.loads(file.read_text())
        stress = Outcome(**known.pop("stress"))
        result = Comparison(plain=self.plain(unit), stress=stress, **known)
        return result if report(result, self.known)[1] else None

    def compare(self, unit: Unit) -> Comparison:
        """Runs a unit both ways. Differences of verdicts must show twice, a crash counts at once."""
        earlier = self.earlier(unit)
        if earlier is not None:
            return earlier
        plain = self.plain(unit)
        timeout = self.arguments.timeout or self.factor * plain.seconds + self.grace
        file = self.file(unit)
        file.unlink(missing_ok=True)
        counts: collections.Counter[str] = collections.Counter()
        runs: list[tuple[Outcome, dict[str, str]]] = []
        for attempt in range(2):
            summary = file.with_suffix(".counts")
            summary.unlink(missing_ok=True)
            variables = WAYS[self.arguments.way] | {"TAGALONG_SUMMARY": str(summary)}
            variables |= {name: os.environ[name] for name in PASSED_ON if name in os.environ}
            outcome = unit.run(variables, timeout, file.with_suffix(f".{attempt}.txt"))
            counts.update(add_up(summary))
            summary.unlink(missing_ok=True)
            runs.append((outcome, differences_of(plain, outcome)))
            if plain.ending or outcome.ending or not runs[-1][1].keys() - self.known.keys():
                break
        outcome, found = runs[-1]
        unsteady = {test: text for test, text in runs[0][1].items() if test not in found}
        result = Comparison(unit.name, plain, outcome, found, unsteady, dict(counts), under_test.build())
        details = dataclasses.asdict(result)
        del details["plain"]
        file.write_text(json.dumps(details, indent=1))
        return result


def report(result: Comparison, known: dict[str, str]) -> tuple[list[str], bool]:
    """Lines about one unit, and whether the unit is as expected."""
    plain, stress = result.plain, result.stress
    counts = collections.Counter(result.counts)
    line = (
        f"{result.unit}: {len(result.tests)} tests, {len(result.differences)} differ; {plain.seconds:.1f} s -> "
        f"{stress.seconds:.1f} s, of a processor {plain.cpu:.1f} s -> {stress.cpu:.1f} s; functions recorded "
        f"{counts['functions_recorded']}, replayed {counts['functions_replayed']}; hits {counts['hits']}, exits "
        f"{counts['exits']}; {result.build}"
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
    """Known differences that were tested and do not show any more."""
    steady = [test for test, reason in known.items() if not reason.startswith(AT_TIMES)]
    return [
        test
        for result in results
        for test in steady
        if test in result.tests and test not in result.differences and not result.plain.ending
    ]


def add_arguments(parser: argparse.ArgumentParser, factor: float, grace: float) -> None:
    """Adds the arguments that both command lines have."""
    parser.add_argument("--jobs", type=int, default=2, help="processes at the same time (default: 2)")
    parser.add_argument(
        "--timeout",
        type=float,
        help=f"seconds of a process under stress (default: {factor} x plain + {grace})",
    )
    parser.add_argument(
        "--retiring",
        dest="way",
        action="store_const",
        const="retiring",
        default="stress",
        help="as TAGALONG=1 does it, with everything that is imported, instead of under stress",
    )
    parser.add_argument("--resume", action="store_true", help="keep the good results of earlier runs")
    parser.add_argument("--shard", default="1/1", metavar="K/N", help="only the K-th of N parts")
    parser.add_argument("--plain-only", action="store_true", help="only the plain runs, which are kept")


def in_order(units: list[Unit], seconds: dict[str, str], shard: str) -> list[Unit]:
    """The units of a part, the longest first: a run of several processes ends with the last unit."""
    units = sorted(units, key=lambda unit: -float(seconds.get(unit.name, "0")))
    number, _, parts = shard.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise SystemExit(f"--shard: {shard} is not K/N with K from 1 to N")
    return units[int(number) - 1 :: int(parts)]


def run_all(units: list[Unit], comparer: Comparer, file: str) -> int:
    """Compares and prints; the exit code is 0 if there are only known differences."""
    arguments = comparer.arguments
    bad = 0
    results: list[Comparison] = []
    # A shell's background jobs ignore SIGINT, and so would tests that interrupt themselves.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        if arguments.plain_only:
            for unit, outcome in zip(units, pool.map(comparer.plain, units)):
                print(
                    f"{unit.name}: {outcome.seconds} s, {outcome.cpu} s {outcome.ending}".rstrip(), flush=True
                )
            return 0
        for task in concurrent.futures.as_completed([pool.submit(comparer.compare, unit) for unit in units]):
            result = task.result()
            results.append(result)
            lines, good = report(result, comparer.known)
            bad += not good
            print("\n".join(lines), flush=True)
    groups: dict[str, list[Comparison]] = collections.defaultdict(list)
    for result in results:
        groups[result.unit.partition("/")[0] if "/" in result.unit else ""].append(result)
    for name, group in sorted(groups.items()):
        total: collections.Counter[str] = collections.Counter()
        for result in group:
            total.update(result.counts)
        print(
            f"{name or 'total'}: {len(group)} processes, {sum(len(result.tests) for result in group)} tests, "
            f"{sum(len(result.differences) for result in group)} differ; of a processor "
            f"{sum(result.plain.cpu for result in group) / 60:.1f} min -> "
            f"{sum(result.stress.cpu for result in group) / 60:.1f} min"
        )
        print("  " + ", ".join(f"{what} {number}" for what, number in sorted(total.items())))
    same = missing_differences(results, comparer.known)
    for test in same:
        print(f"{file}: {test} does not differ any more")
    print(f"{len(results)} processes, {bad} not as they should be")
    return int(bool(bad or same or not results))
