"""Recursion ends where it ends without us, and nowhere else: with every function traced, at any limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import RunPython

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
