"""The demonstration: unmodified NumPy programs on real input, plain and with TAGALONG=1, as separate processes.

Called by `scripts/demo`, which prepares the machine first. Fails when an output differs by a single bit, and when a
program was not really replayed.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
PROGRAMS = ("photograph", "pricing", "terrain", "walk")
# The function whose code objects, graph and guards are shown, and the arguments of the recorded call.
SHOWN = ("pricing.py:ewma_step", "0.04, 0.01, 0.94")


@dataclass(frozen=True)
class Run:
    """One process: its output, the files it saved, and the seconds of each round and in total."""

    output: str
    saved: bytes
    rounds: list[float]
    total: float
    report: list[str]


def run(program: str, repeat: int, variables: dict[str, str]) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.npz"
        environment = {
            name: text for name, text in os.environ.items() if not name.startswith("TAGALONG")
        } | variables
        command = [
            sys.executable,
            str(EXAMPLES / f"{program}.py"),
            "--repeat",
            str(repeat),
            "--output",
            str(file),
        ]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        total = time.perf_counter() - start
        if done.returncode != 0:
            raise SystemExit(f"demo: {program} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        rounds = [
            float(seconds) for seconds in re.findall(r"^round \d+: ([\d.]+) s$", done.stderr, re.MULTILINE)
        ]
        report = [line for line in done.stderr.splitlines() if not line.startswith("round ")]
        return Run(done.stdout, file.read_bytes(), rounds, total, report)


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:9.2f}"


def show(program: str, repeat: int, whole_report: bool) -> list[str]:
    """Runs one program both ways, prints the comparison, and returns a list of problems."""
    summary = (EXAMPLES / f"{program}.py").read_text().partition('"""')[2].partition('"""')[0]
    print(f"==== {program}: {summary}\n")
    plain = run(program, repeat, {"TAGALONG": "0"})
    traced = run(program, repeat, {"TAGALONG": "1", "TAGALONG_REPORT": "1"})

    print("what it printed, last round:")
    for line in plain.output.splitlines()[-9:]:
        print(f"    {line}")
    print()
    print("milliseconds            first round   later rounds (median)   whole process")
    for name, kind in (("python", plain), ("TAGALONG=1 python", traced)):
        middle = statistics.median(kind.rounds[1:]) if len(kind.rounds) > 1 else float("nan")
        first, later, total = (milliseconds(seconds) for seconds in (kind.rounds[0], middle, kind.total))
        print(f"    {name:18}{first}     {later}             {total}")
    wrong = []
    for what, same in (
        ("output", plain.output == traced.output),
        ("saved arrays", plain.saved == traced.saved),
    ):
        print(f"    {what}: {'identical, bit for bit' if same else 'DIFFERENT'}")
        if not same:
            wrong.append(f"{program}: {what} differ")
    print("\nwhat was recorded and replayed:")
    shown = traced.report if whole_report else traced.report[:12]
    for line in shown:
        print(f"    {line}")
    if len(shown) < len(traced.report):
        print(f"    … {len(traced.report) - len(shown)} more lines: --report shows them")
    print()
    hits = re.search(r"\bhits (\d+)", "\n".join(traced.report))
    if hits is None or int(hits[1]) == 0:
        wrong.append(f"{program}: nothing was replayed")
    return wrong


def show_code() -> list[str]:
    target, arguments = SHOWN
    print(f"==== the three code objects, the graph and the guards of {target} for {arguments}\n", flush=True)
    command = [sys.executable, "-m", "tagalong", "dis", "--call", arguments, str(EXAMPLES / target)]
    return [] if subprocess.run(command, check=False).returncode == 0 else ["the listings could not be made"]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/demo", description="Unmodified programs, plain and traced."
    )
    parser.add_argument(
        "programs", nargs="*", metavar="PROGRAM", help=f"some of {', '.join(PROGRAMS)} (default: all)"
    )
    parser.add_argument(
        "--repeat", type=int, default=7, metavar="N", help="rounds of each program (default: 7)"
    )
    parser.add_argument(
        "--report", action="store_true", help="show everything that was recorded, not the first lines"
    )
    parser.add_argument(
        "--no-listings", action="store_true", help="leave out the code objects, graph and guards"
    )
    arguments = parser.parse_args()
    unknown = [program for program in arguments.programs if program not in PROGRAMS]
    if unknown:
        parser.error(f"there is no program {unknown[0]!r}; there are: {', '.join(PROGRAMS)}")

    wrong: list[str] = []
    for program in arguments.programs or PROGRAMS:
        wrong += show(program, arguments.repeat, arguments.report)
    if not arguments.no_listings:
        wrong += show_code()
    if wrong:
        print("demo: FAILED", *wrong, sep="\n  ")
        return 1
    print("demo: every output is identical, and every program was replayed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
