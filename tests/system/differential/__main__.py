"""`python -m differential [--eager] [name ...]`: every program in a process of its own, and what differs.

`--eager` compares two eager runs instead, which shows programs that do not behave the same twice.
"""

from __future__ import annotations

import subprocess
import sys

from .program import Program, load
from .runner import differences, run


def check(program: Program, *, eager_only: bool = False) -> list[str]:
    """Differences between two runs of a program."""
    if eager_only:
        found = differences(run(program), run(program))
        return [text for text in found if "\n  events: " not in text]
    import tagalong.testing

    return differences(run(program), run(program, tagalong.trace, tagalong.testing.events))


def main(arguments: list[str]) -> int:
    """The command line; the number of programs that differ or crash, at most 100."""
    eager_only = "--eager" in arguments
    wanted = [argument for argument in arguments if not argument.startswith("--")]
    programs = {program.name: program for program in load()}
    if "--here" in arguments:
        found = [text for name in wanted for text in check(programs[name], eager_only=eager_only)]
        print("\n".join(found))
        return min(len(found), 100)
    bad = 0
    for name in wanted or programs:
        command = [sys.executable, "-X", "faulthandler", "-m", __package__, "--here", name]
        result = subprocess.run(
            command + ["--eager"] * eager_only, capture_output=True, text=True, timeout=60, check=False
        )
        if result.returncode != 0:
            bad += 1
            print(f"=== {name} ({result.returncode})\n{result.stdout}{result.stderr[-2000:]}", flush=True)
    print(f"{bad} of {len(wanted or programs)} programs differ")
    return min(bad, 100)


sys.exit(main(sys.argv[1:]))
