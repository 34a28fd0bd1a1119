"""The limit `share`: how much time recordings may cost in a program that is traced as a whole."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import pytest

from subprocesses import run

MANY = 120
FUNCTIONS = "".join(f"def f{number}(x):\n    return (x + {number}) * 2 - x\n" for number in range(MANY))
ALL = f"[{', '.join(f'f{number}' for number in range(MANY))}]"
REPORT = """
import json, sys, tagalong
counts = tagalong.stats()
print(json.dumps([counts.records, counts.hits, counts.retired, counts.limits.get("share", 0)]))
"""


def output(folder: Path, program: str, **limits: int) -> list[Any]:
    file = folder / "program.py"
    file.write_text(FUNCTIONS + program + REPORT)
    settings = ",".join(f"{name}={value}" for name, value in limits.items())
    done = run(str(file), variables={"TAGALONG": "1", "TAGALONG_LIMITS": settings})
    assert done.returncode == 0 and not done.stderr
    first, second = done.stdout.splitlines()
    return [json.loads(first), *json.loads(second)]


def test_calls_are_put_off_when_recordings_have_cost_their_share(tmp_path: Path) -> None:
    program = f"""
total = 0
for f in {ALL}:
    total += f(1) + f(2)
print(total)
"""
    expected = sum((x + number) * 2 - x for number in range(MANY) for x in (1, 2))
    total, records, hits, retired, put_off = output(tmp_path, program, share=1)
    assert total == expected
    assert 5 <= records < MANY / 2 and hits >= records - 1  # one recording is of the loop
    assert retired == 0 and put_off > MANY
    total, records, hits, _, put_off = output(tmp_path, program, share=100_000_000)
    assert total == expected and records > MANY / 2 and hits >= MANY and put_off == 0


def test_functions_that_are_called_often_meanwhile_stay_untraced(tmp_path: Path) -> None:
    program = f"""
total = 0
for f in {ALL}:
    total += f(1)
for _ in map(f{MANY - 1}, range(600)):
    total += 1
print(total)
import pytest

import tagalong
assert "called often while the recording budget was used up" in tagalong.explain(f{MANY - 1})
assert "limit `share` (1), reached 500 times" in tagalong.explain(f{MANY - 1})
f = tagalong.trace(f{MANY - 1}, retire=True)
for _ in map(f, range(2_000)):
    pass
assert "retired: a replay took about" in tagalong.explain(f)
"""
    total, *_, retired, put_off = output(tmp_path, program, share=1)
    assert total == sum(1 + number * 2 for number in range(MANY)) + 600
    assert retired >= 1 and put_off >= 500


def test_loops_and_named_functions_are_recorded_anyway(tmp_path: Path) -> None:
    program = f"""
import tagalong
for f in {ALL}:
    f(1)
@tagalong.trace
def asked(x):
    return x + 1
assert asked(1) == 2 and asked(2) == 3
counts = tagalong.stats(asked)
assert (counts.records, counts.hits) == (1, 1)
def looping(n):
    total = 0
    for k in range(n):
        total += k * k
    return total
assert looping(50_000) == sum(k * k for k in range(50_000))
counts = tagalong.stats(looping)
assert counts.records == 1 and counts.hits == 1 and counts.limits["share"] == 1
print(0)
"""
    assert output(tmp_path, program, share=1)[0] == 0


def test_a_child_has_a_share_of_its_own_time(tmp_path: Path) -> None:
    program = f"""
import os, time, tagalong
for f in {ALL}:
    f(1)
process = os.fork()
if process == 0:
    end = time.process_time() + 0.5
    while time.process_time() < end:
        sum(range(100_000))
        f{MANY - 1}(1)
    os._exit(0 if tagalong.stats(f{MANY - 1}).records == 1 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""
    assert output(tmp_path, program, share=20)[0] == 0


def test_time_saved_by_replays_may_be_spent(tmp_path: Path) -> None:
    program = f"""
def looping(n):
    total = 0
    for k in range(n):
        total += k * k
    return total
looping(100)
looping(1_000_000)
for f in {ALL}:
    f(1)
print(0)
"""
    _, records, _, _, put_off = output(tmp_path, program, share=1)
    assert records > MANY / 2 and put_off < 10


@pytest.mark.not_sanitized("recordings cost more of the process's time")
def test_loops_leave_the_share_to_the_calls(tmp_path: Path) -> None:
    loops = "\n".join(f"    for i in range(k):\n        t += i * {number}" for number in range(100))
    program = f"""
import tagalong
def of_loops(k):
    t = 0
{loops}
    return t
of_loops(40)
assert tagalong.stats(of_loops).records > 90
for f in {ALL}:
    f(1)
print(0)
"""
    _, records, _, _, put_off = output(tmp_path, program, share=1)
    plain = output(tmp_path, f"for f in {ALL}:\n    f(1)\nprint(0)\n", share=1)
    assert records - 90 > plain[1] - 3 and put_off <= plain[4] + 3  # as many calls as without the loops


def test_untraced_functions_are_recorded_when_the_budget_allows(tmp_path: Path) -> None:
    program = f"""
import tagalong
for f in {ALL}:
    f(1)
put_off, other = f{MANY - 1}, f{MANY - 2}
functions = [put_off] + [type(put_off)(put_off.__code__, globals()) for _ in range(30)]
for _ in range(600):
    list(map(lambda f: f(1), functions[:1]))
for f in functions:
    f(1)
core = tagalong._core
def is_original(f):
    return core.installed_code(f) is f.__code__
assert tagalong.stats(put_off).retired == 1 and tagalong.stats(put_off).records == 0 and is_original(put_off)
assert "called often while" in tagalong.explain(put_off)
def looping(n):
    total = 0
    for k in range(n):
        total += k * k
    return total
looping(100)
looping(3_000_000)
other(1), other(1)
assert tagalong.stats(other).records == 1
assert not is_original(put_off) and "called often while" not in tagalong.explain(put_off)
with tagalong.testing.assert_events("record", "hit"):
    assert put_off(1) == put_off(1) == 1 + {MANY - 1} * 2
del functions, f
print(0)
"""
    assert output(tmp_path, program, share=1)[0] == 0
