"""Tools that look at a process from outside, between instructions, find the line of the loop that is replayed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import RunPython

PROGRAM = """\
import faulthandler, sys, time
import tagalong
from tagalong import _core

_core.set_option("retire_after", 0)  # no call runs as written to be measured

def numbers(n):
    total = 0.0
    k = 0

    while k < n:
        total += k * 0.5
        k += 1
    return total

def two(n):
    total = 0
    for k in range(10):
        total += k

    for k in range(n):
        total += k & 3
    return total

class Point:
    def __init__(self):
        self.x = 1

    def step(self, d):
        self.x = self.x + d
        return self.x

def objects(n):
    point = Point()
    last = None

    for k in range(n):
        last = point.step(k & 1)
    return last

function = globals()[sys.argv[1]]
for number in range(40):
    function(1000)
rounds, before = 1000, time.perf_counter()
while time.perf_counter() - before < 0.6:
    rounds *= 2
    before = time.perf_counter()
    function(rounds)
hits = tagalong.stats(function).hits
faulthandler.dump_traceback_later(0.3)
before = time.perf_counter()
while time.perf_counter() - before < 0.6:
    function(rounds)
faulthandler.cancel_dump_traceback_later()
print(tagalong.stats(function).hits - hits)
"""


@pytest.mark.parametrize(
    ("function", "lines"), [("numbers", {11, 12, 13}), ("two", {21, 22}), ("objects", {36, 37})]
)
def test_the_line_of_the_loop(run_python: RunPython, tmp_path: Path, function: str, lines: set[int]) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run_python("program.py", function, TAGALONG="1")
    assert done.returncode == 0 and int(done.stdout) >= 1, done.stdout + done.stderr
    found = re.findall(rf"line (\S+) in {function}$", done.stderr, re.MULTILINE)
    assert found and all(line.isdigit() and int(line) in lines for line in found), done.stderr
