"""Loops in the bodies of modules: executed once, entered while they run; names, prints and lines are eager's."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import traceback
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from conftest import RunPython
from tagalong import _core
from tagalong.testing import events

LIMITS = {"loops": 1, "heat": 2, "grow_after": 0, "retire_after": 0}


@pytest.fixture(autouse=True)
def with_loops() -> None:
    """Loops are entered early, whether that pays or not."""
    for name, value in LIMITS.items():
        _core.set_option(name, value)


def executed(code: CodeType) -> tuple[dict[str, Any], str, str]:
    """The names, the output, and the traceback of the exception that ended the module."""
    names: dict[str, Any] = {"__name__": "program", "sys": sys}
    printed, raised = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(code, names)
        except Exception:
            raised = traceback.format_exc()
            raised = raised[raised.index('"program.py"') :]
    del names["__builtins__"], names["sys"]
    return names, printed.getvalue(), raised


def outline(happened: list[str]) -> str:
    """The events; equal consecutive ones once, with their number."""
    groups = [(event, len(list(group))) for event, group in groupby(happened)]
    return " ".join(event if number == 1 else f"{event}*{number}" for event, number in groups)


PROGRAMS = {
    "numbers": (
        "total, x = 0, 0.5\nfor i in range(50):\n    total += i * 2\n    x = x * 0.75 + i\nprint(total, x)\n",
        "record hit exit",
    ),
    "a_while_loop_without_anything_on_the_stack": (
        "n = 0\nwhile n < 40:\n    n += 1\nprint(n)\n",
        "record hit exit",
    ),
    "a_function_is_called": (
        "def f(a):\n    return a * 2\ntotal = 0\nfor i in range(30):\n    total += f(i)\n",
        "record*2 hit*2 exit",
    ),
    "what_is_bound_dies_at_once": (
        "class Loud:\n    def __init__(self, n): self.n = n\n"
        "    def __del__(self): print('del', self.n, i, this is None if 'this' in globals() else '-')\n"
        "this = None\n"
        "for i in range(8):\n    this = Loud(i)\n    print(i)\n"
        "this = 7\n"
        "for i in range(8):\n    this = i if i != 5 else Loud(i)\n"
        "del this\n",
        None,
    ),
    "types_change_on_the_way": (
        "x = 0\nseen = []\n"
        "for i in range(30):\n    x = x + (1 if i < 20 else 0.5)\n    seen.append(x)\n"
        "    if i == 25: x = 'a'; break\n",
        None,
    ),
    "names_change_behind_the_loop": (
        "n = 0\ntotal = 0\n"
        "def bump():\n    global n\n    n += 1\n    return n\n"
        "while n < 30:\n    total += bump() + n\n    globals()['total'] += 1\n",
        None,
    ),
    "a_module_that_knows_itself": (
        "import types\nme = types.ModuleType('me')\nme = sys\n"
        "out = []\n"
        "for i in range(20):\n    sys.ps9 = i\n    out.append(me.ps9 + sys.ps9)\n"
        "del sys.ps9, me, types\n",
        None,
    ),
    "one_object_is_one_object": (
        "x = 1000\nsame = []\nbefore = x\n"
        "for i in range(20):\n    x = x + 1\n    y = x\n    same.append((x is y, x is before))\n    before = x\n",
        None,
    ),
    "a_name_that_is_deleted": (
        "for i in range(10):\n    y = i\n    del y\n"
        "try:\n    for i in range(10):\n        y = i\n        if i == 7: del y\n        y\n"
        "except NameError as error:\n    text = str(error)\n",
        None,
    ),
    "a_builtin_becomes_a_global": (
        "out = []\nfor i in range(20):\n    out.append(len((i,)))\n    if i == 12:\n        len = lambda x: 5\n",
        None,
    ),
    "an_exception_leaves_the_loop": (
        "d = 5\nfor i in range(20):\n    d -= 1\n    q = 10 // (d + 10)\n",
        "record hit exit",
    ),
    "lines_and_frames": (
        "out = []\nfor i in range(12):\n    frame = sys._getframe()\n"
        "    out.append((frame.f_lineno, frame.f_code.co_name, frame.f_locals is frame.f_globals))\n    del frame\n",
        None,
    ),
    "a_frame_that_somebody_holds": (
        "out = []\nfor i in range(12):\n    frame = sys._getframe()\n    out.append(frame.f_lineno)\ndel frame\n",
        "",
    ),
    "nested_loops": (
        "total = 0\nfor i in range(20):\n    for j in range(i):\n        if j % 3:\n            total += j\n"
        "        else:\n            total -= 1\n",
        None,
    ),
    "big_numbers": (
        "x = 3\nfor i in range(90):\n    x = x * 3 + i\n",
        None,
    ),
    "inside_of_handlers": (
        "count = 0\nfor i in range(20):\n    try:\n        if i % 4 == 3: raise ValueError(i)\n        count += 1\n"
        "    except ValueError as error:\n        count -= error.args[0]\n    finally:\n        count += 1\n",
        None,
    ),
    "a_class_body_in_a_loop": (
        "out = []\nfor i in range(12):\n    class C:\n        n = i\n        for k in range(6):\n            n += k\n"
        "    out.append(C.n)\ndel C\n",
        None,
    ),
    "imports_of_everything": (
        "for i in range(8):\n    from math import pi\n    total = pi + i\n",
        None,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_of_modules(name: str) -> None:
    source, expected = PROGRAMS[name]
    eager = executed(compile(source, "program.py", "exec"))
    code = compile(source, "program.py", "exec")
    wrapped = _core.wrap_module_code(code)
    for _ in range(2):
        with events() as happened:
            traced = executed(wrapped)
        names = [
            {key: value for key, value in run[0].items() if not callable(value)} for run in (eager, traced)
        ]
        assert names[0] == names[1]
        assert list(eager[0]) == list(traced[0])
        assert eager[1:] == traced[1:]
        if expected is not None:
            assert outline(happened) == expected
            break
        assert "hit" in happened


def test_names_that_are_no_globals() -> None:
    source = "total = 0\nfor i in range(30):\n    total += i + k\n"
    seen = []
    for change in (lambda code: code, _core.wrap_module_code):
        code = change(compile(source, "program.py", "exec"))
        for _ in range(2):
            shared = {"k": 2}
            exec(code, shared)
            apart: dict[str, Any] = {}
            exec(code, {"k": 3}, apart)
            seen.append((shared["total"], apart))
    assert seen == [(495, {"total": 525, "i": 29})] * 4


SCRIPT = """\
import sys
def f(x):
    return x * 2.0
total = 0.0
for i in range(3000):
    total += f(i) - 1.0
def numbers(n):
    i = 0
    while i < n:
        k = 0
        while k < 50:
            k += 1
        yield k
        i += 1
print(total, sum(numbers(100)), sys._getframe().f_lineno)
if len(sys.argv) > 1:
    raise ValueError(total)
"""


@pytest.mark.parametrize("way", ["script", "module", "imported"])
def test_a_script_whose_main_loop_runs_once(run_python: RunPython, tmp_path: Path, way: str) -> None:
    (tmp_path / "program.py").write_text(SCRIPT)
    words = {
        "script": ("program.py", "x"),
        "module": ("-m", "program", "x"),
        "imported": ("-c", "import program"),
    }[way]
    plain = run_python(*words)
    traced = run_python(*words, TAGALONG="1", TAGALONG_LOOPS="1", TAGALONG_REPORT="1")
    assert (traced.stdout, traced.returncode) == (plain.stdout, plain.returncode)
    report = traced.stderr.removeprefix(plain.stderr)
    assert report != traced.stderr or not plain.stderr
    module = re.search(
        r"<module> \(.*program\.py:1\)\n(.*\n)*?  at the loop of line 5:\n  graph 1: .* (\d+) exits", report
    )
    assert module, report
    assert re.search(r"numbers \(.*\n(.*\n)*?  at the loop of line 12", report), report
