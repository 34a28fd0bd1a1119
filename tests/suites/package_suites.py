"""The test suites of packages, plain and under stress: each test must have the same verdict.

See `scripts/package-suites`. The packages come with their tests, from the source distributions of the versions below.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from cpython_suite import (
    Comparison,
    Outcome,
    add_up,
    differences_of,
    missing_differences,
    report,
    run_process,
    table,
)

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FACTOR, GRACE = 15, 120  # under stress: so many times the time of the plain run, and so many seconds more
PLAIN_TIMEOUT = 900.0


@dataclasses.dataclass(frozen=True)
class Package:
    """One package: what to install, where its tests are, and how they are grouped into processes."""

    version: str
    needs: tuple[str, ...] = ()  # what its tests import besides
    tests: str = "tests"  # their folder in the source distribution; "": in the installed package
    arguments: tuple[str, ...] = ()  # more arguments for pytest
    by_module: bool = False  # one process for each test module
    left_out: tuple[str, ...] = ()  # folders or modules with nothing to show here
    rounds: int = 2


PACKAGES: dict[str, Package] = {
    "attrs": Package("26.1.0", ("cloudpickle",)),
    "click": Package("8.5.1"),
    "jinja2": Package("3.1.6", ("trio",)),
    "more-itertools": Package("11.2.1"),
    "mpmath": Package(
        "1.4.1", ("pexpect", "pytest-timeout"), "mpmath/tests", ("-o", "addopts="), by_module=True
    ),
    "networkx": Package("3.6.1", (), "", by_module=True),
    # What numpy.test() runs. f2py and distutils call compilers, typing calls mypy.
    "numpy": Package(
        "2.4.6",
        ("hypothesis",),
        "",
        ("-m", "not slow"),
        by_module=True,
        left_out=("f2py/", "distutils/", "typing/", "_pyinstaller/"),
    ),
}
TOOLS = ("pytest==9.2.0", "hypothesis==6.170.15", "setuptools==65.5.0")


@dataclasses.dataclass(frozen=True)
class Group:
    """The tests of one process."""

    name: str
    package: Package
    folder: Path
    arguments: tuple[str, ...]


def say(text: str) -> None:
    """A line about the preparations."""
    print(f"package-suites: {text}", file=sys.stderr, flush=True)


def run_quietly(*command: str | Path) -> None:
    """Runs a command of the preparations; says what it said if it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


class Place:
    """The folder with the virtual environment of the suites and the unpacked source distributions."""

    def __init__(self, folder: Path, tagalong: Path) -> None:
        self.folder = folder
        self.python = folder / "venv/bin/python"
        self.site = folder / "venv/lib/python3.11/site-packages"
        self._tagalong = tagalong

    def prepare(self, names: list[str]) -> None:
        """Makes what is missing; asks the package index for nothing that is there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "pytest.ini").write_text("[pytest]\n")  # found before ours, which is further up
        if not self.python.exists():
            say("making the virtual environment")
            run_quietly(sys._base_executable, "-m", "venv", self.folder / "venv")  # type: ignore[attr-defined]
        wanted = [*TOOLS]
        for name in names:
            package = PACKAGES[name]
            wanted += [*package.needs, f"{name}=={package.version}"]
            if package.tests:
                self._unpack(name, package)
        stamp = self.folder / "venv/.installed"
        installed = set(stamp.read_text().splitlines()) if stamp.exists() else set()
        if set(wanted) - installed:
            say(f"installing {' '.join(sorted(set(wanted) - installed))}")
            run_quietly(
                self.python, "-m", "pip", "install", "--disable-pip-version-check", *sorted(set(wanted))
            )
            stamp.write_text("\n".join(sorted(installed | set(wanted))))
        # The package under test is the one that .venv has, or the one that was asked for.
        self._link(self._tagalong, self.site / "tagalong")
        for beside in ("_tagalong_autostart.py", "tagalong_autostart.pth"):
            sources = [self._tagalong.parent / beside, ROOT / "runtime/python" / beside]
            self._link(next(source for source in sources if source.exists()), self.site / beside)

    @staticmethod
    def _link(source: Path, link: Path) -> None:
        link.unlink(missing_ok=True)
        link.symlink_to(source)

    def _unpack(self, name: str, package: Package) -> None:
        if self.source(name).exists():
            return
        say(f"fetching the source distribution of {name} {package.version}")
        run_quietly(
            self.python, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps",
            "--no-binary", name, "-d", self.folder / "sdists", f"{name}=={package.version}",
        )  # fmt: skip
        stem = f"{name.replace('-', '_')}-{package.version}.tar.gz"
        with tarfile.open(self.folder / "sdists" / stem) as archive:
            archive.extractall(self.folder, filter="data")

    def source(self, name: str) -> Path:
        """The folder of an unpacked source distribution."""
        return self.folder / f"{name.replace('-', '_')}-{PACKAGES[name].version}"

    def groups(self, name: str) -> list[Group]:
        """The processes that run the tests of a package."""
        package = PACKAGES[name]
        if package.tests:
            top = folder = self.source(name)
            own: tuple[str, ...] = package.arguments
        else:
            # Where nothing can be imported by being beside the tests.
            top, folder = self.site, self.folder / "empty"
            folder.mkdir(exist_ok=True)
            own = (f"--rootdir={top}", *package.arguments)
        inside = top / (package.tests or name)
        if not package.by_module:
            return [Group(name, package, folder, (str(inside), *own))]
        files = [(file, str(file.relative_to(inside))) for file in sorted(inside.rglob("test_*.py"))]
        return [
            Group(f"{name}/{module}", package, folder, (str(file), *own))
            for file, module in files
            if not module.startswith(package.left_out or ("/",))
        ]


def run_group(group: Group, place: Place, variables: dict[str, str], timeout: float, output: Path) -> Outcome:
    """One process."""
    with tempfile.TemporaryDirectory(prefix="suite-", ignore_cleanup_errors=True) as folder:
        events = Path(folder, "events")
        command = [
            str(place.python), "-X", "faulthandler", "-m", "pytest", "-q", "-p", "no:cacheprovider",
            "-p", "pytest_verdicts", f"--basetemp={folder}/tmp", *group.arguments,
        ]  # fmt: skip
        variables = variables | {
            "PYTHONPATH": str(HERE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SUITE_EVENTS": str(events),
            "SUITE_ROUNDS": str(group.package.rounds),
        }
        outcome = run_process(command, group.folder, events, variables, timeout, output)
    # 1: some tests have failed; 5: there were none.
    if outcome.ending in ("exit code 1 in the end", "exit code 5 in the end"):
        outcome.ending = ""
    return outcome


def plain_outcome(group: Group, place: Place) -> Outcome:
    """The plain run, made once."""
    cached = place.folder / "results" / f"{group.name.replace('/', '.')}.plain.json"
    if cached.exists():
        return Outcome(**json.loads(cached.read_text()))
    outcome = run_group(group, place, {}, PLAIN_TIMEOUT, cached.with_suffix(".txt"))
    cached.write_text(json.dumps(dataclasses.asdict(outcome)))
    return outcome


def compare(group: Group, place: Place, known: dict[str, str], timeout: float | None) -> Comparison:
    """Runs a group both ways. Differences of verdicts must show twice, a crash counts at once."""
    plain = plain_outcome(group, place)
    limit = timeout or FACTOR * plain.seconds + GRACE
    results = place.folder / "results"
    name = group.name.replace("/", ".")
    counts: collections.Counter[str] = collections.Counter()
    runs: list[tuple[Outcome, dict[str, str]]] = []
    for attempt in range(2):
        summary = results / f"{name}.counts"
        summary.unlink(missing_ok=True)
        variables = {"TAGALONG_STRESS": "1", "TAGALONG_SUMMARY": str(summary)}
        outcome = run_group(group, place, variables, limit, results / f"{name}.stress.{attempt}.txt")
        counts.update(add_up(summary))
        summary.unlink(missing_ok=True)
        runs.append((outcome, differences_of(plain, outcome)))
        if plain.ending or outcome.ending or not runs[-1][1].keys() - known.keys():
            break
    outcome, found = runs[-1]
    unsteady = {test: text for test, text in runs[0][1].items() if test not in found}
    (results / f"{name}.stress.json").write_text(
        json.dumps({"texts": outcome.texts, "differences": found}, indent=1)
    )
    return Comparison(group.name, plain, outcome, found, unsteady, counts)


def parse(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/package-suites",
        description="Run the test suites of packages plain and under stress and compare the verdicts.",
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(PACKAGES)} (default: all); or numpy/PART")
    parser.add_argument("--jobs", type=int, default=2, help="processes at the same time (default: 2)")
    parser.add_argument(
        "--timeout", type=float, help=f"seconds of a process (default: {FACTOR} x plain + {GRACE})"
    )
    parser.add_argument(
        "--representative", action="store_true", help="the groups of package_representative.txt"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build/suites/packages", help=argparse.SUPPRESS)
    parser.add_argument("--tagalong", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def chosen(place: Place, arguments: argparse.Namespace) -> list[Group]:
    """The groups to run."""
    wanted = arguments.names or list(PACKAGES)
    if arguments.representative:
        wanted = (HERE / "package_representative.txt").read_text().split()
    names = list(dict.fromkeys(name.partition("/")[0] for name in wanted))
    for name in names:
        if name not in PACKAGES:
            raise SystemExit(f"there is no {name}; there are: {', '.join(PACKAGES)}")
    place.prepare(names)
    groups = [group for name in names for group in place.groups(name)]
    return [group for group in groups if any(group.name.startswith(part) for part in wanted)]


def main(argv: list[str] | None = None) -> int:
    """Runs, compares, prints; the exit code is 0 when there is nothing but the known differences."""
    arguments = parse(argv)
    known = table("package_differences.txt")
    installed = ROOT / ".venv/lib/python3.11/site-packages/tagalong"
    place = Place(arguments.folder.resolve(), (arguments.tagalong or installed).resolve())
    groups = chosen(place, arguments)
    (place.folder / "results").mkdir(exist_ok=True)
    bad = 0
    results: list[Comparison] = []
    totals: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        tasks = [pool.submit(compare, group, place, known, arguments.timeout) for group in groups]
        for task in concurrent.futures.as_completed(tasks):
            result = task.result()
            results.append(result)
            lines, good = report(result, known)
            bad += not good or bool(result.plain.ending)
            print("\n".join(lines), flush=True)
            total = totals[result.module.partition("/")[0]]
            total.update(result.counts)
            total["tests"] += len({key.partition(" ")[2] for key in result.plain.verdicts})
            total["differ"] += len(result.differences)
    for name, total in sorted(totals.items()):
        print(f"{name}: " + ", ".join(f"{what} {number}" for what, number in sorted(total.items())))
    same = missing_differences(results, known)
    for test in same:
        print(f"package_differences.txt: {test} does not differ any more")
    print(f"total: {len(results)} processes, {bad} not as they should be")
    return int(bool(bad or same or not results))


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
