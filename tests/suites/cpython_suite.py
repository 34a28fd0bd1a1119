"""CPython's own tests, plain and under stress: each test must have the same verdict (see `scripts/cpython-suite`)."""

from __future__ import annotations

import argparse
import functools
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

import under_test
from comparison import Comparer, Outcome, Unit, add_arguments, in_order, run_all, run_process, table

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RUNNER = HERE / "cpython_runner.py"
VERDICTS = HERE.parent / "support/unittest_verdicts.py"

FACTOR, GRACE = 8, 60
PLAIN_TIMEOUT = 1200.0


def modules_of(python: str) -> list[str]:
    """All test modules of an interpreter, by the names `test.test_…`."""
    code = (
        "from test.libregrtest.findtests import findtests;"
        "print(*[n if n.startswith('test.') else 'test.' + n for n in findtests()])"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return sorted(done.stdout.split())


def run_module(
    module: str, arguments: argparse.Namespace, variables: dict[str, str], timeout: float, output: Path
) -> Outcome:
    """Runs one module in a process of its own, in an empty folder."""
    with tempfile.TemporaryDirectory(prefix="suite-", ignore_cleanup_errors=True) as folder:
        events = Path(folder, "events")
        inner = Path(folder, "tests")
        inner.mkdir()
        command = [arguments.python, "-X", "faulthandler", str(RUNNER), module, str(events)]
        command += [f"--rounds={arguments.rounds}", *(f"--only={part}" for part in arguments.only)]
        command += [f"--without={name}" for name in arguments.without if name.startswith(f"{module}.")]
        return run_process(command, inner, events, variables, timeout, output)


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
    parser.add_argument(
        "--rounds", type=int, default=2, help="how often each test runs in its process (default: 2)"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="tests with PART in their ids"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build/suites", help=argparse.SUPPRESS)
    add_arguments(parser, FACTOR, GRACE)
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
    """Runs, compares and prints; the exit code is 0 if there are only known differences."""
    arguments = parse(argv)
    folder = arguments.folder.resolve()
    # The result for a part of a module is not kept as the module's.
    results = folder / "parts" if arguments.only else folder
    results.mkdir(parents=True, exist_ok=True)
    arguments.python = str(under_test.interpreter(folder / "venv"))
    version = subprocess.run(
        [arguments.python, "-VV"], capture_output=True, text=True, check=True, timeout=60
    )
    modules = chosen(arguments)
    if not modules:
        raise SystemExit("no such modules")
    runner = hashlib.sha256(RUNNER.read_bytes() + VERDICTS.read_bytes()).hexdigest()
    key = f"{version.stdout.strip()} {runner} {arguments.rounds} {arguments.only} {arguments.without}"
    units = [Unit(module, functools.partial(run_module, module, arguments), key) for module in modules]
    units = in_order(units, table("cpython_long.txt"), arguments.shard)
    known = table("cpython_differences.txt")
    comparer = Comparer(results, known, FACTOR, GRACE, PLAIN_TIMEOUT, arguments)
    return run_all(units, comparer, "cpython_differences.txt")


if __name__ == "__main__":
    sys.exit(main())
