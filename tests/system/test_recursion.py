"""Recursion ends at the same depth as without tagalong: with every function traced, at any limit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conftest import RunPython
from subprocesses import run

PROGRAM = """
import sys

def down(n):
    return 0 if n == 0 else 1 + down(n - 1)

def even(n):
    return True if n == 0 else odd(n - 1)

def odd(n):
    return False if n == 0 else even(n - 1)

class Tree:
    def __init__(self, left):
        self.left = left
    def depth(self):
        return 1 if self.left is None else 1 + self.left.depth()

def many(n, *args, **names):
    if n == 0:
        return 0
    for _ in (1,):
        total = many(n - 1, n, key=n)
    return total + 1

def nested(n):
    if n == 0:
        return 0
    def inner():
        return nested(n - 1)
    return inner() + 1

def guarded(n):
    try:
        return 1 + guarded(n + 1)
    except RecursionError:
        return 0

def count():
    global calls
    calls += 1
    count()

def looping(n):
    total = 0
    for number in range(2):
        if number == n % 2 and n:
            total += looping(n - 1) + 1
    return total

for _ in range(40):
    assert down(50) == looping(50) == 50 and even(50)
for _ in range(4):
    calls = 0
    try:
        count()
    except RecursionError as error:
        print(calls, error)
print(guarded(0), guarded(0))
for limit in LIMITS:
    sys.setrecursionlimit(limit)
    for _ in range(3):
        depth = limit - 100
        print(down(depth), even(depth), many(depth // 3), nested(depth // 3), looping(depth // 2))
        tree = None
        for _ in range(depth):
            tree = Tree(tree)
        print(tree.depth())
        while tree is not None:
            tree = tree.left
        print(guarded(0))
"""


def same(run_python: RunPython, tmp_path: Path, limits: str, **variables: str) -> None:
    file = tmp_path / "deep.py"
    file.write_text(PROGRAM.replace("LIMITS", limits))
    plain, traced = run_python(str(file)), run_python(str(file), **variables)
    assert (plain.returncode, plain.stderr) == (0, ""), plain.stderr[-2000:]
    assert (traced.returncode, traced.stderr, traced.stdout) == (0, "", plain.stdout), traced.stderr[-2000:]


@pytest.mark.parametrize("stress", ["0", "1"], ids=["traced", "stress"])
@pytest.mark.parametrize("limits", ["[1000, 5000]", "[200_000]"])
def test_to_the_limit(run_python: RunPython, tmp_path: Path, limits: str, stress: str) -> None:
    same(run_python, tmp_path, limits, TAGALONG="1", TAGALONG_STRESS=stress)


def test_to_the_limit_where_nothing_is_retired(run_python: RunPython, tmp_path: Path) -> None:
    same(run_python, tmp_path, "[200_000]", TAGALONG="1", TAGALONG_LIMITS="retire_after=999999999")


THROUGH_BUILTINS = """
import sys
from functools import reduce

class Chain:
    def __init__(self, inner): self.inner = inner
    def __len__(self): return 0 if self.inner is None else len(self.inner)
    def __iter__(self): return iter(()) if self.inner is None else iter(self.inner)
    def __str__(self): return "end" if self.inner is None else str(self.inner)
    def __hash__(self): return 1 if self.inner is None else hash(self.inner)

def by_key(n): return n if n == 0 else sorted([n - 1], key=by_key)[0]
def by_sum(n): return n if n == 0 else sum(by_sum(k) for k in [n - 1])
def by_filter(n): return True if n == 0 else next(filter(by_filter, [n - 1])) or True
def by_sort(n):
    if n:
        [n - 1].sort(key=by_sort)
    return n

def chain(n):
    made = None
    for _ in range(n):
        made = Chain(made)
    return made

def deepest(call):
    reached = 0
    for depth in range(40, 1000, 10):
        try:
            call(depth)
        except RecursionError:
            break
        reached = depth
    return reached

calls = {"len": lambda n: len(chain(n)), "iter": lambda n: iter(chain(n)), "str": lambda n: str(chain(n)),
         "hash": lambda n: hash(chain(n)), "key": by_key, "sum": by_sum, "filter": by_filter, "sort": by_sort}
for name, call in calls.items():
    found = {deepest(call) for turn in range(12)}
    print(name, max(found), min(found) > 0.97 * max(found))
if "tagalong" in sys.modules:
    assert sys.modules["tagalong"].stats().hits > 1000
"""


def test_recursion_through_builtins_is_as_deep(tmp_path: Path) -> None:
    program = tmp_path / "through_builtins.py"
    program.write_text(THROUGH_BUILTINS)
    outputs = []
    for variables in ({"TAGALONG": "0"}, {"TAGALONG": "1"}, {"TAGALONG": "1", "TAGALONG_STRESS": "1"}):
        result = run(str(program), variables=variables)
        assert result.returncode == 0, result.stderr[-3000:]
        outputs.append(result.stdout)
    assert outputs == [outputs[0]] * 3


@pytest.mark.parametrize("stress", ["0", "1"])
# From CPython 3.12 on the limit does not count C code, and the stack overflows without tagalong, too, at about 1500.
@pytest.mark.parametrize("limit", [1000, 2000, 2600] if sys.version_info < (3, 12) else [1000, 1200])
def test_recursion_through_c_code_ends_in_an_exception(tmp_path: Path, limit: int, stress: str) -> None:
    """Replays take more of the C stack than eager calls, which must find enough left."""
    program = tmp_path / "endless.py"
    program.write_text(ENDLESS)
    result = run(str(program), str(limit), variables={"TAGALONG": "1", "TAGALONG_STRESS": stress})
    assert (result.returncode, result.stdout) == (0, "80\n"), result.stderr[-3000:]


ENDLESS = """
import sys
sys.setrecursionlimit(int(sys.argv[1]))
def by_map(x=0): return sum(map(by_map, [1]))
def by_key(n): return sorted([n - 1], key=by_key)[0]
def by_sort(n): return [n - 1].sort(key=by_sort)
def by_list(n): return [by_list(y) for y in [n]]
def by_filter(n): return next(filter(by_filter, [n - 1]))
class X:
    def __eq__(self, other): return X() == other
    def __str__(self): return str(X())
    def __len__(self): return len(X())
calls = (by_map, lambda: by_key(1), lambda: by_sort(1), lambda: by_list(1), lambda: by_filter(1), lambda: X() == 1,
         lambda: str(X()), lambda: len(X()))
ended = 0
for call in calls:
    for turn in range(10):
        try:
            call()
        except RecursionError:
            ended += 1
print(ended)
if "tagalong" in sys.modules:
    assert sys.modules["tagalong"].stats().hits > 1000
"""
