"""scripts/bisect finds a fault that was put into a stage on purpose: the function, the stage, the fusion group."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arrays_support import HAS_CODE
from tagalong import _core

NUMBERS = """
def scaled(x):
    return x * 3

def shifted(x):
    return x + 2 if x % 5 else x

def walk(count, odd):
    total = 1
    for i in range(count):
        if i % 3 == odd:
            total = total + shifted(i)
        else:
            total = total * 3 % 1001
    return total

def main():
    for x in range(6):
        scaled(x)
    print([walk(200 + x, x % 2) for x in range(8)])

main()
"""
ARRAYS = """
import numpy as np

def scaled(x):
    return np.sqrt(x * 2.0)

def mixed(x, y):
    first = (x * y - 2.0) * x
    print(first.sum())
    return (x + y) * 0.5 - y

def main():
    x = np.arange(100_000) / 7.0
    y = x[::-1].copy()
    for round in range(6):
        scaled(x)
        print(mixed(x, y)[:5].tolist())

main()
"""
STAGES = [name for name, _, _ in _core.internals()[1] if name.startswith("stage_")]
OF_GROUPS = ("stage_vector_code", "stage_multi_pass", "stage_fusion_groups")
OF_ARRAYS = (*OF_GROUPS, "stage_deferred_arrays")


def bisect(folder: Path, text: str, *, knobs: str = "") -> tuple[int, dict[str, str], str]:
    """The exit code, the rows of the report by their titles, and the whole text."""
    (folder / "program.py").write_text(text)
    script = Path(__file__).parents[2] / "scripts" / "bisect_replay.py"
    environment = {name: text for name, text in os.environ.items() if not name.startswith("TAGALONG")}
    done = subprocess.run(
        [sys.executable, str(script), "program.py"],
        cwd=folder,
        env=environment | ({"TAGALONG_INTERNAL": knobs} if knobs else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    rows = [line.split(":", 1) for line in done.stdout.splitlines() if ":" in line and line[0] != " "]
    return done.returncode, {row[0]: row[1].strip() for row in rows}, done.stdout + done.stderr


@pytest.mark.parametrize("stage", STAGES)
def test_a_fault_is_found(tmp_path: Path, stage: str) -> None:
    is_array = stage in OF_ARRAYS
    if stage == "stage_vector_code" and not HAS_CODE:
        pytest.skip("this processor has no vector code")
    code, rows, text = bisect(tmp_path, ARRAYS if is_array else NUMBERS, knobs=f"{stage}=2")
    assert code == 1, text
    # A graph that was recorded wrongly shows only in replays.
    found = "stage_replaying" if stage == "stage_recording" else stage
    assert rows["stage"] == found.removeprefix("stage_"), text
    name, line = ("mixed", 7) if is_array else ("walk", 8)
    assert rows["function"].startswith(f"{name}, line {line} of "), text
    assert f"{found}=0 alone" in text
    if stage in OF_GROUPS:
        assert rows["group"].startswith("mixed, line 10 of "), text


def test_a_program_without_a_fault(tmp_path: Path) -> None:
    code, rows, text = bisect(tmp_path, NUMBERS)
    assert code == 0, text
    assert rows == {} and text.startswith("nothing differs")


def test_a_program_that_never_shows_the_same(tmp_path: Path) -> None:
    code, _, text = bisect(tmp_path, "import os\nprint(os.getpid())\n")
    assert code == 2
    assert text.startswith("cannot compare")


@pytest.mark.parametrize("program", [NUMBERS, ARRAYS], ids=["numbers", "arrays"])
@pytest.mark.parametrize("count", range(len(STAGES) + 1))
def test_every_number_of_stages_can_be_switched_off(tmp_path: Path, program: str, count: int) -> None:
    (tmp_path / "program.py").write_text(program)
    knobs = ",".join(
        [*(f"{name}=0" for name in STAGES[:count]), "retire_after=0", "measuring=0", "native_after=2"]
    )
    outputs = []
    for variables in ({"TAGALONG": "0"}, {"TAGALONG": "1", "TAGALONG_INTERNAL": knobs}):
        done = subprocess.run(
            [sys.executable, "program.py"],
            cwd=tmp_path,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]


def test_only_the_first_functions_are_recorded() -> None:
    program = (
        "import tagalong\n"
        "from tagalong import _core\n"
        "_core.set_option('function_limit', 2)\n"
        "functions = [tagalong.trace(eval(f'lambda x: x * {n}')) for n in range(5)]\n"
        "for each in functions * 3:\n"
        "    each(3)\n"
        "print([tagalong.stats(each).records for each in functions])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "[1, 1, 0, 0, 0]\n", done.stderr
