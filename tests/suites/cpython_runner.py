"""Runs one module of CPython's own tests in this process, some rounds, and leaves the verdict of each test in a file.

    python cpython_runner.py MODULE FILE [--rounds N] [--only PART]... [--without TEST]...

One line of JSON per event, so that something is left of a run that crashes: {"round", "start"} when a test begins,
{"round", "test", "verdict", "text"} when it has a verdict other than "ok" ("text": the traceback), {"round", "end",
"seconds"} when it ends, {"done": rounds} at the end of everything.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import random
import sys
import time
import unittest
from typing import Any

# Tests replace functions of `os` for a while.
_open, _write, _close, _process = os.open, os.write, os.close, os.getpid


class Log:
    """The file of events. Opened for each: tests close file descriptors they know nothing of."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._owner = _process()

    def __call__(self, **event: Any) -> None:
        if _process() != self._owner:  # a forked child that came back into the runner
            return
        file = _open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _write(file, json.dumps(event).encode() + b"\n")
        finally:
            _close(file)


class Verdicts(unittest.TestResult):
    """Writes the verdict of each test to the log. What a test prints is kept from the terminal."""

    def __init__(self, log: Log, number: int) -> None:
        super().__init__()
        self.buffer = True
        self._log = log
        self._round = number
        self._start = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        self._log(round=self._round, start=test.id())
        self._start = time.perf_counter()
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self._log(round=self._round, end=test.id(), seconds=round(time.perf_counter() - self._start, 4))
        # Nothing of a failed test shall live on because we know about it.
        for kept in (self.failures, self.errors, self.skipped, self.expectedFailures):
            kept.clear()

    def _note(self, test: Any, verdict: str, error: Any = None) -> None:
        test = getattr(test, "test_case", test)  # a subtest counts for its test
        text = ""
        if error is not None:
            try:
                text = self._exc_info_to_string(error, test)  # type: ignore[attr-defined]
            except Exception as problem:
                text = f"{error[0]!r} (cannot be shown: {problem!r})"
        self._log(round=self._round, test=test.id(), verdict=verdict, text=text[-4000:])

    def addError(self, test: Any, err: Any) -> None:
        self._note(test, "error", err)

    def addFailure(self, test: Any, err: Any) -> None:
        self._note(test, "failure", err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._note(test, "failure" if issubclass(err[0], test.failureException) else "error", err)

    def addSkip(self, test: Any, reason: str) -> None:
        self._note(test, "skip")

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._note(test, "expected failure")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._note(test, "unexpected success")


def cases_of(suite: Any) -> list[unittest.TestCase]:
    """All single tests of a suite."""
    if not isinstance(suite, unittest.TestSuite):
        return [suite]
    return [case for item in suite for case in cases_of(item)]


def run_round(module: Any, log: Log, number: int, only: list[str], without: list[str]) -> None:
    """Runs all tests of the module once: those with a part of `only` in their ids, if there is one, but not those whose
    ids begin with one of `without`."""
    from test import support

    random.seed(20)
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromModule(module)
    for error in loader.errors:
        log(round=number, test="loading", verdict="error", text=str(error)[-4000:])
    if only:
        suite = unittest.TestSuite(
            case for case in cases_of(suite) if any(part in case.id() for part in only)
        )
    if without:
        suite = unittest.TestSuite(
            case for case in cases_of(suite) if not case.id().startswith(tuple(without))
        )
    suite.run(Verdicts(log, number))
    gc.collect()
    support.reap_children()


def main() -> int:
    """Runs the module's tests; the exit code says only whether that came to its end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("file")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--without", action="append", default=[])
    arguments = parser.parse_args()
    log = Log(os.path.abspath(arguments.file))  # noqa: PTH100

    from test import support
    from test.libregrtest.setup import setup_process

    setup_process()
    support.use_resources = []
    support.verbose = 0
    sys.argv = sys.argv[:1]
    try:
        module = importlib.import_module(arguments.module)
    except unittest.SkipTest as reason:
        log(round=0, test=arguments.module, verdict="skip", text=str(reason))
    else:
        for number in range(arguments.rounds):
            run_round(module, log, number, arguments.only, arguments.without)
    log(done=arguments.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
