"""The test suites of packages, plain and under stress: each test must have the same verdict.

See `scripts/package-suites`. The packages come with their tests, from the source distributions of the versions below.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import under_test
from comparison import Comparer, Outcome, Unit, add_arguments, in_order, run_all, run_process, table

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FACTOR, GRACE = 15, 120
PLAIN_TIMEOUT = 900.0


@dataclasses.dataclass(frozen=True)
class Package:
    """One package: what to install, where its tests are, and how they are grouped into processes."""

    version: str
    needs: tuple[str, ...] = ()  # additional packages that its tests import
    tests: str = "tests"  # their folder in the source distribution; "": in the installed package
    arguments: tuple[str, ...] = ()  # more arguments for pytest
    by_module: bool = False  # one process for each test module
    left_out: tuple[str, ...] = ()  # folders or modules whose tests show nothing here
    rounds: int = 2


PACKAGES: dict[str, Package] = {
    "attrs": Package("26.1.0", ("cloudpickle",)),
    "click": Package("8.5.1"),
    "greenlet": Package("3.5.6", ("psutil", "objgraph"), "", by_module=True),
    "jinja2": Package("3.1.6", ("trio",)),
    "more-itertools": Package("11.2.1"),
    "mpmath": Package(
        "1.4.1", ("pexpect", "pytest-timeout"), "mpmath/tests", ("-o", "addopts="), by_module=True
    ),
    "networkx": Package("3.6.1", (), "", by_module=True),
    # The tests of numpy.test(). Those of f2py and distutils call compilers, those of typing call mypy.
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
    """Prints a line about the preparations."""
    print(f"package-suites: {text}", file=sys.stderr, flush=True)


def run_quietly(*command: str | Path) -> None:
    """Runs a command of the preparations; prints its output if it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


class Place:
    """The folder with the suites' virtual environment and the unpacked source distributions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "venv/bin/python"
        self.site = folder / "venv/lib/python3.11/site-packages"

    def prepare(self, names: list[str]) -> None:
        """Makes what is missing; downloads nothing that exists."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "pytest.ini").write_text("[pytest]\n")  # found before the project's own one
        under_test.make_venv(self.folder / "venv")
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
        under_test.link(self.folder / "venv")

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
            # A folder in which no module can be imported by accident.
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


def parse(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/package-suites",
        description="Run the test suites of packages plain and under stress and compare the verdicts.",
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(PACKAGES)} (default: all); or numpy/PART")
    parser.add_argument(
        "--representative", action="store_true", help="the groups of package_representative.txt"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build/suites/packages", help=argparse.SUPPRESS)
    add_arguments(parser, FACTOR, GRACE)
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
    """Runs, compares and prints; the exit code is 0 if there are only known differences."""
    arguments = parse(argv)
    place = Place(arguments.folder.resolve())
    groups = chosen(place, arguments)
    results = place.folder / "results"
    results.mkdir(exist_ok=True)
    units = [
        Unit(
            group.name,
            functools.partial(run_group, group, place),
            f"{group.package.version} {group.package.rounds} {group.arguments}",
        )
        for group in groups
    ]
    units = in_order(units, table("package_long.txt"), arguments.shard)
    known = table("package_differences.txt")
    comparer = Comparer(results, known, FACTOR, GRACE, PLAIN_TIMEOUT, arguments)
    return run_all(units, comparer, "package_differences.txt")


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
