"""Runs one of CPython's own test modules several times with all its functions traced.

    python traced_modules_runner.py MODULE {traced|plain} [--rounds N] [--also MODULE]...
        [--only TEST]... [--skip TEST]... [--out FILE]

All functions of the test module are replay code: the first call of each is recorded, later ones replay. So are the
functions of the modules named by `--also`, in place: their classes and functions stay the objects they are. Callees
from everywhere go into graphs. Prints one line of JSON: per round the verdict of each test, and the counters.
"""

import argparse
import faulthandler
import importlib
import importlib.util
import json
import os
import sys
import unittest
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from unittest_verdicts import VerdictResult, cases_of, id_of  # noqa: E402

del sys.path[0]


class Verdicts(VerdictResult):
    """Keeps one verdict per test, and the text of the first failure."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        super().__init__()
        self.verdicts: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self._progress = progress

    def begun(self, test: str) -> None:
        self.verdicts[test] = "ok"
        self._progress(test)

    def noted(self, test: str, verdict: str, text: str) -> None:
        self.verdicts[test] = verdict
        if text:
            self.texts.setdefault(test, text)


def _unchanged(code: CodeType) -> CodeType:
    return code


def load(name: str, change: Callable[[CodeType], CodeType]) -> ModuleType:
    """Import a module by hand, from changed code."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(importlib.import_module(parent), child, module)
    code = compile(Path(spec.origin).read_bytes(), spec.origin, "exec", dont_inherit=True)
    exec(change(code), module.__dict__)
    return module


def trace_in_place(module: ModuleType) -> int:
    """Give all functions of a module and of its classes replay code; how many there were."""
    from tagalong import _core

    seen: set[int] = set()

    def visit(value: Any) -> None:
        if id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, FunctionType):
            if value.__module__ == module.__name__:
                value.__code__ = _core.wrap_code(value.__code__)
        elif isinstance(value, (staticmethod, classmethod)):
            visit(value.__func__)
        elif isinstance(value, property):
            for function in (value.fget, value.fset, value.fdel):
                visit(function)
        elif isinstance(value, type) and value.__module__ == module.__name__:
            for each in list(vars(value).values()):
                visit(each)

    for value in list(vars(module).values()):
        visit(value)
    return len(seen)


def main() -> int:
    """Run the module's tests and print what happened."""
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("mode", choices=["traced", "plain"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("--out", default="")
    arguments = parser.parse_args()
    crashes = os.fdopen(os.dup(2), "w")  # tests redirect the standard streams
    faulthandler.enable(crashes)
    out = os.dup(1) if not arguments.out else os.open(arguments.out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    from test import support

    support.use_resources = []
    support.verbose = 0
    traced = arguments.mode == "traced"
    change: Callable[[CodeType], CodeType] = _unchanged
    if traced:
        from tagalong import _core

        _core.set_opaque_paths([])
        _core.set_option("retire_after", 0)  # what does not pay is compared, too
        change = _core.wrap_module_code
        for name in arguments.also:
            trace_in_place(importlib.import_module(name))

    module = load(arguments.module, change)
    rounds: list[dict[str, str]] = []
    texts: list[dict[str, str]] = []
    for number in range(arguments.rounds):
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        cases = cases_of(suite)
        if arguments.only or arguments.skip:
            suite.__init__(  # type: ignore[misc]
                [
                    case
                    for case in cases
                    if (not arguments.only or any(part in id_of(case) for part in arguments.only))
                    and not any(part in id_of(case) for part in arguments.skip)
                ]
            )

        def progress(name: str, number: int = number) -> None:
            os.write(out, f"ROUND {number} TEST {name}\n".encode())

        result = Verdicts(progress)
        suite.run(result)
        rounds.append(result.verdicts)
        texts.append(result.texts)
    stats: Any = {}
    if traced:
        stats = _core.stats()
    summary = {"rounds": rounds, "texts": texts, "stats": stats}
    os.write(out, ("\nSUMMARY " + json.dumps(summary) + "\n").encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
