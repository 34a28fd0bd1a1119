"""Runs one of CPython's own test modules with every code object of it instrumented with empty hooks.

    python rewriter_language_runner.py MODULE {instrumented|plain} [TEST...]

Code that the module's doctests compile is instrumented, too. Prints one line of JSON: how many tests ran, what failed,
how many code objects were instrumented and how often a hook was reached. With names of tests only those are run.
"""

import builtins
import doctest
import importlib.util
import io
import json
import sys
import unittest
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


class Instrumenter:
    """Puts one empty hook object into all code it is given."""

    def __init__(self) -> None:
        from tagalong import rewriter

        self.rewriter = rewriter
        self.hooks = rewriter.Hooks()
        self.codes = 0

    def __call__(self, code: CodeType) -> CodeType:
        self.codes += sum(1 for _ in _nested(code))
        return self.rewriter.instrument(code, hooks=self.hooks, inner=True)

    def compile(self, source: Any, *args: Any, **kwargs: Any) -> Any:
        """Like the builtin; for the module `doctest`."""
        result = builtins.compile(source, *args, **kwargs)
        return self(result) if isinstance(result, CodeType) else result


def _nested(code: CodeType) -> list[CodeType]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return [code, *(each for c in inner for each in _nested(c))]


def load(name: str, instrumenter: Instrumenter | None) -> ModuleType:
    """Imports a module from its instrumented code."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    setattr(sys.modules[parent], child, module)
    code = compile(Path(spec.origin).read_bytes(), spec.origin, "exec", dont_inherit=True)
    exec(instrumenter(code) if instrumenter else code, module.__dict__)
    return module


def test_ids(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    """All single tests of a suite."""
    cases: list[unittest.TestCase] = []
    for item in suite:
        cases.extend(test_ids(item) if isinstance(item, unittest.TestSuite) else [item])
    return cases


def main(name: str, mode: str, wanted: list[str]) -> int:
    """Run the module's tests and print what happened."""
    from test import support

    support.use_resources = []
    instrumenter = Instrumenter() if mode == "instrumented" else None
    if instrumenter:
        doctest.compile = instrumenter.compile  # type: ignore[attr-defined]  # hides the builtin there
    module = load(name, instrumenter)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    cases = test_ids(suite)
    if wanted:
        suite = unittest.TestSuite(case for case in cases if case.id() in wanted)
    output = io.StringIO()
    result = unittest.TextTestRunner(stream=output, verbosity=0).run(suite)
    failed = {test.id(): text for test, text in [*result.failures, *result.errors]}
    failed |= {test.id(): "unexpected success" for test in result.unexpectedSuccesses}
    summary = {
        "ran": result.testsRun,
        "skipped": len(result.skipped),
        "failed": failed,
        "codes": instrumenter.codes if instrumenter else 0,
        "calls": instrumenter.hooks.calls if instrumenter else 0,
    }
    print("\nSUMMARY " + json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
