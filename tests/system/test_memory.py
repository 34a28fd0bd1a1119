"""Data about an object is freed with the object, and importing a package makes nothing that only calls need."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import RunPython

BENCHMARKS = Path(__file__).resolve().parents[2] / "scripts" / "benchmarks"
PROGRAM = str(BENCHMARKS / "memory_programs.py")


@pytest.mark.parametrize(
    ("name", "count"), [("reloads", 400), ("functions", 2000), ("classes", 2000), ("arrays", 8000)]
)
def test_dead_objects_are_not_kept(run_python: RunPython, tmp_path: Path, name: str, count: int) -> None:
    done = run_python(PROGRAM, name, str(count), str(tmp_path), TAGALONG="1", TAGALONG_REPORT="1")
    assert done.returncode == 0, done.stderr
    replayed = re.search(r"hits (\d+)", done.stderr)
    assert replayed and int(replayed[1]) > 0
    _, half, _, end = json.loads(done.stdout)
    assert end - half < 1500  # KiB


def test_import_of_a_package_whose_functions_are_not_called(
    run_python: RunPython, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS.parent))
    from benchmarks.memory import write_package

    count = write_package(tmp_path, modules=20)
    seconds, memory = {}, {}
    for mode in ("0", "1"):
        times = []
        for _ in range(3):
            done = run_python(PROGRAM, "package", "0", str(tmp_path), TAGALONG=mode)
            assert done.returncode == 0, done.stderr
            time, memory[mode] = json.loads(done.stdout)
            times.append(time)
        seconds[mode] = min(times)
    assert memory["1"] < memory["0"] * 1.4 and count > 3000
    assert seconds["1"] < seconds["0"] * 2.5


LAZY = """
import dis, marshal, sys, types
import tagalong
from tagalong import _core

def function(a, b=2, *rest, c=3, **others):
    "Text."
    def inner(x):
        return x + a + c
    for number in range(3):
        b += inner(number)
    return b

def generator(n):
    for number in range(n):
        yield number * 2

async def coroutine(x):
    return x + 1

def wrapping(f):
    def wrapper(*args):
        return f(*args)
    return wrapper

class Class:
    def method(self, x):
        return x

small = lambda: 5
NAMES = ["function", "generator", "coroutine", "wrapping"]
CODES = [globals()[name].__code__ for name in NAMES] + [Class.method.__code__, small.__code__]
"""


def described(code: str, *, traced: bool) -> str:
    """A program that prints everything that a program can see of code objects."""
    return f"""
{code}
def text(code):
    left_out = ("co_lines", "co_positions", "co_lnotab")
    fields = [name for name in dir(code) if name.startswith("co_") and name not in left_out]
    values = [(name, getattr(code, name)) for name in fields if name != "co_consts"]
    values.append([each if not hasattr(each, "co_code") else text(each) for each in code.co_consts])
    values.append((list(code.co_lines()), list(code.co_positions()), code._co_code_adaptive, sys.getsizeof(code)))
    values.append((marshal.loads(marshal.dumps(code)) == code, hash(code) == hash(code.replace())))
    values.append((code.co_consts is code.co_consts, code.replace().co_stacksize, code.replace() == code))
    return repr(values)
for code in CODES:
    print(text(code))
    assert text(code) == text(code)
copied = types.FunctionType(marshal.loads(marshal.dumps(generator.__code__)), globals())
print(list(copied(3)), list(copied(3)), text(copied.__code__) == text(generator.__code__))
assert _core.is_traced(function) == _core.is_traced(small) == {traced}
"""


def test_nothing_is_to_be_seen_before_the_first_call(run_python: RunPython, tmp_path: Path) -> None:
    for mode in ("0", "1"):
        (tmp_path / "lazy.py").write_text(described(LAZY, traced=mode == "1"))
    seen = []
    for mode in ("0", "1"):
        (tmp_path / "lazy.py").write_text(described(LAZY, traced=mode == "1"))
        done = run_python("lazy.py", TAGALONG=mode)
        assert (done.returncode, done.stderr) == (0, "")
        seen.append(done.stdout)
    assert seen[0] == seen[1]


def test_the_first_call_is_recorded(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "calls.py").write_text(
        f"""{LAZY}
import asyncio
before = tagalong.explain(function)
for _ in range(3):
    print(function(1), list(generator(4)), asyncio.run(coroutine(2)), Class().method(3), small())
wrappers = [wrapping(small) for _ in range(4)]
print([wrapper() for wrapper in wrappers for _ in range(2)], all(map(_core.is_traced, wrappers)))
print(before.strip(), tagalong.stats(function).records, tagalong.stats(function).hits)
print([tagalong.stats(f).hits > 0 for f in (generator, coroutine, Class.method, small, wrappers[0])])
tagalong.untrace(wrappers[0])
print(_core.is_traced(wrappers[0]), wrappers[0](), bool(tagalong.compare(Class.method, None, 5)))
"""
    )
    done = run_python("calls.py", TAGALONG="1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:3] == ["17 [0, 2, 4, 6] 3 3 5"] * 3
    assert lines[3:] == [
        "[5, 5, 5, 5, 5, 5, 5, 5] True",
        "not called yet 1 2",
        "[True, True, True, True, True]",
        "False 5 True",
    ]


def test_watchers_see_the_original(run_python: RunPython, tmp_path: Path) -> None:
    program = f"""{LAZY}
seen = []
def watch(frame, event, argument):
    frame.f_trace_opcodes = True
    seen.append((frame.f_code.co_name, event, frame.f_lineno, frame.f_lasti))
    return watch
sys.settrace(watch)
function(1), list(generator(3)), Class().method(2), small()
sys.settrace(None)
print(seen)
function(1), list(generator(3)), Class().method(2), small()
sys.setprofile(lambda frame, event, argument: seen.append((frame.f_code.co_name, event)))
wrapping(small)()
sys.setprofile(None)
print(seen)
"""
    (tmp_path / "watched.py").write_text(program)
    plain, traced = (run_python("watched.py", TAGALONG=mode) for mode in ("0", "1"))
    assert plain.returncode == traced.returncode == 0, traced.stderr
    assert plain.stdout == traced.stdout


def test_first_calls_at_the_recursion_limit(run_python: RunPython, tmp_path: Path) -> None:
    program = """
import sys
def last(n):
    return n
def down(n):
    try:
        return down(n + 1)
    except RecursionError:
        return last(n)
makers = []
def make():
    def fresh(x):
        return x + 1
    return fresh
def deeper(n):
    return deeper(n - 1) if n else make()(1)
for left in range(1, 60):
    try:
        deeper(sys.getrecursionlimit() - left)
        print(left)
        break
    except RecursionError:
        pass
print(down(0), down(0))
"""
    (tmp_path / "deep.py").write_text(program)
    plain, traced = (run_python("deep.py", TAGALONG=mode) for mode in ("0", "1"))
    assert plain.returncode == traced.returncode == 0, traced.stderr
    assert plain.stdout == traced.stdout


def test_damaged_code_and_code_with_many_constants(run_python: RunPython, tmp_path: Path) -> None:
    numbers = "\n".join(f"    x = x + {number}.5" for number in range(300))
    (tmp_path / "large.py").write_text(
        f"""
from tagalong import _core
import tagalong
def many(x):
{numbers}
    return x
print(many(1.0), many(1.0), many(1.0), _core.is_traced(many), tagalong.stats(many).hits)
"""
    )
    done = run_python("large.py", TAGALONG="1")
    expected = 1.0 + sum(number + 0.5 for number in range(300))
    assert done.stdout.split() == [*[str(expected)] * 3, "True", "2"], done.stderr


def test_makers_of_functions_get_replay_code_once(run_python: RunPython, tmp_path: Path) -> None:
    """Also if several were made before the first call, and if their maker was retired."""
    program = """
import tagalong
from tagalong import _core

def make(number):
    def inner(x):
        return x, number
    return inner

def is_original(function):
    return _core.installed_code(function) is function.__code__

early = [make(number) for number in range(3)]
print([function(5) for function in early], [is_original(function) for function in early])
_core.retire(make)
make(0)
print(make(3)(5), is_original(make), is_original(make(4)))
_core.retire(early[0])
for function in early:
    print(function(6), is_original(function))
print(is_original(make(5)), make(6)(7))
tagalong.trace(early[0])
print(is_original(make(7)), make(8)(9))
"""
    (tmp_path / "made.py").write_text(program)
    done = run_python("made.py", TAGALONG="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[(5, 0), (5, 1), (5, 2)] [False, False, False]",
        "(5, 3) True False",
        "(6, 0) True",
        "(6, 1) True",
        "(6, 2) True",
        "True (7, 6)",
        "False (9, 8)",
    ]
