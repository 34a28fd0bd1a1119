"""With TAGALONG_STRESS=1 every function of the process is traced, and the process writes a line of counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import RunPython


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    return tmp_path / "counts.jsonl"


def lines(counts: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in counts.read_text().splitlines()]


# The ways in which functions are made, each called three times.
WAYS = {
    "def": "def g(x):\n    return x + 1\nfor _ in range(3): g(1)",
    "lambda": "g = lambda x: x + 1\nfor _ in range(3): g(1)",
    "exec": "exec('def g(x): return x + 1', globals())\nfor _ in range(3): g(1)",
    "eval": "g = eval('lambda x: x + 1')\nfor _ in range(3): g(1)",
    "compiled": "exec(compile('def g(x): return x + 1', 'c', 'exec'))\nfor _ in range(3): g(1)",
    "nested": "def f():\n    def g(x): return x + 1\n    return g\ng = f()\nfor _ in range(3): g(1)",
    "method": "class C:\n    def g(self): return 1\nfor _ in range(3): C().g()\ng = C.g",
    "in a class of a function": (
        "def f():\n    class C:\n        def g(self): return 1\n    return C\ng = f().g\nfor _ in range(3): g(1)"
    ),
    "standard library": "from bisect import bisect\nimport textwrap\ng = textwrap.indent\n"
    "for _ in range(3): g('a', 'b')",
    "there before us": "import os\ng = os.fsencode\nfor _ in range(3): g('x')",
    "type of functions": "import types\ndef f(x): return x + 1\ng = types.FunctionType(f.__code__.replace(), {})\n"
    "for _ in range(3): g(1)",
    "code out of a module": "import types\ncode = compile('def g(x): return x + 1', 'c', 'exec')\n"
    "g = types.FunctionType(code.co_consts[0], {})\nassert g.__code__ is code.co_consts[0]\nfor _ in range(3): g(1)",
    "frozen": "import importlib._bootstrap as b\ng = b._verbose_message\nfor _ in range(3): g('x')",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_function_is_recorded_and_replayed(run_python: RunPython, tmp_path: Path, way: str) -> None:
    program = WAYS[way] + (
        "\nfrom tagalong import _core\ncounts = _core.stats(g)\n"
        "assert counts['records'] >= 1 and counts['hits'] >= 1, counts\nprint('fine')"
    )
    (tmp_path / "program.py").write_text(program)
    assert run_python("program.py", TAGALONG="1", TAGALONG_STRESS="1").stdout == "fine\n"


@pytest.mark.parametrize("switch", [["-c", "import json; print(json.dumps({}))"], ["-m", "program"]])
def test_other_ways_to_start(run_python: RunPython, tmp_path: Path, counts: Path, switch: list[str]) -> None:
    (tmp_path / "program.py").write_text("import json\nprint(json.dumps({}))\n")
    done = run_python(*switch, TAGALONG="1", TAGALONG_STRESS="1", TAGALONG_SUMMARY=str(counts))
    assert done.stdout == "{}\n"
    (line,) = lines(counts)
    assert line["functions_recorded"] > 0
    assert line["arguments"][-len(switch) :] == switch


def test_child_processes_append_to_the_same_file(run_python: RunPython, tmp_path: Path, counts: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import subprocess, sys, os\nos.chdir('/')\n"
        "for _ in range(2): subprocess.run([sys.executable, '-c', 'pass'], check=True)\n"
    )
    run_python("program.py", TAGALONG="1", TAGALONG_STRESS="1", TAGALONG_SUMMARY=str(counts))
    (first, *_) = found = lines(counts)
    assert len(found) == 3
    assert len({line["process"] for line in found}) == 3
    assert first.keys() >= {"functions_recorded", "functions_replayed", "hits", "misses", "exits", "stops"}


def test_without_the_switch_nothing_is_left_behind(
    run_python: RunPython, tmp_path: Path, counts: Path
) -> None:
    done = run_python("-c", "import sys; print('tagalong' in sys.modules)", TAGALONG_SUMMARY=str(counts))
    assert done.stdout == "False\n"
    assert not counts.exists()


def test_our_own_functions_stay_out(run_python: RunPython) -> None:
    program = (
        "import tagalong, sys\nfrom types import FunctionType\nfrom tagalong import _core\n"
        "ours = [m for n, m in sys.modules.items() if n.split('.')[0] == 'tagalong' and n != 'tagalong._core']\n"
        "functions = [f for m in ours for f in vars(m).values() if isinstance(f, FunctionType)"
        " and f.__code__.co_filename == m.__file__]\n"
        "print(len(functions) > 20, any(map(_core.is_traced, functions)))"
    )
    assert run_python("-c", program, TAGALONG="1", TAGALONG_STRESS="1").stdout == "True False\n"
