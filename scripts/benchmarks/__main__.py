"""Runs the benchmarks and prints each figure beside its bar."""

from __future__ import annotations

import argparse
import importlib
import platform
import sys

import numpy as np

import tagalong
from benchmarks.never_slower import SETS
from tagalong import _core

MODULES = (
    "call_overhead",
    "first_call",
    "chains",
    "replays",
    "loops",
    "executors",
    "interpreters",
    "guards",
    "overhead",
    "never-slower",
    "memory",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures what the design promises.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"some of {', '.join(MODULES)} (default: all)"
    )
    parser.add_argument(
        "--rounds", type=int, default=21, metavar="N", help="rounds of each pair (default: 21)"
    )
    parser.add_argument(
        "--set",
        action="append",
        choices=SETS,
        metavar="SET",
        help=f"of never-slower: this set of programs only; may be repeated: {', '.join(SETS)}",
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    known = {name.replace("-", "_"): name for name in MODULES}
    arguments.names = [known.get(name.replace("-", "_"), name) for name in arguments.names]
    for name in arguments.names:
        if name not in MODULES:
            parser.error(f"there is no benchmark {name!r}; there are: {', '.join(MODULES)}")

    print(
        f"tagalong {tagalong.__version__}, CPython {platform.python_version()}, NumPy {np.__version__}; medians"
    )
    usual = _core.options() | {"retire_after": 0}  # functions that do not pay are measured, too
    missed = 0
    for name in arguments.names or MODULES:
        module = importlib.import_module(f"benchmarks.{name.replace('-', '_')}")
        for option, value in usual.items():
            _core.set_option(option, value)
        print(f"\n{name}: {module.TITLE}")
        more = {"sets": arguments.set} if arguments.set and name == "never-slower" else {}
        for figure in module.figures(arguments.rounds, **more):
            print(f"  {figure}")
            missed += not figure.kept
    print(f"\n{missed} bars missed")
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
