"""Runs one module of CPython's own tests in this process, some rounds, and leaves the verdict of each test in a file.

    python cpython_runner.py MODULE FILE [--rounds N] [--only PART]... [--without TEST]...

One line of JSON per event, so that something is left of a run that crashes: {"round", "start"} when a test begins,
{"round", "test", "verdict", "text"} when it has a verdict other than "ok" ("text": the traceback), {"round", "end",
"seconds"} when it ends, {"done": rounds, "cpu": seconds} at the end of everything.
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
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from unittest_verdicts import VerdictResult, cases_of, id_of  # noqa: E402

del sys.path[0]

# Tests may replace functions of `os`.
_open, _write, _close, _process = os.open, os.write, os.close, os.getpid


class Log:
    """The file of events. Opened for each event, because tests close file descriptors."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._owner = _process()

    def __call__(self, **event: Any) -> None:
        if _process() != self._owner:  # a forked child that returned into the runner
            return
        file = _open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _write(file, json.dumps(event).encode() + b"\n")
        finally:
            _close(file)


class Verdicts(VerdictResult):
    """Writes the verdict of each test to the log. What a test prints is kept from the terminal."""

    def __init__(self, log: Log, number: int) -> None:
        super().__init__()
        self.buffer = True
        self._log = log
        self._round = number
        self._start = 0.0

    def begun(self, test: str) -> None:
        self._log(round=self._round, start=test)
        self._start = time.perf_counter()

    def noted(self, test: str, verdict: str, text: str) -> None:
        self._log(round=self._round, test=test, verdict=verdict, text=text[-4000:])

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        seconds = round(time.perf_counter() - self._start, 4)
        self._log(round=self._round, end=id_of(test), seconds=seconds)
        # Keeps nothing of a failed test alive.
        for kept in (self.failures, self.errors, self.skipped, self.expectedFailures):
            kept.clear()


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
            case for case in cases_of(suite) if any(part in id_of(case) for part in only)
        )
    if without:
        suite = unittest.TestSuite(
            case for case in cases_of(suite) if not id_of(case).startswith(tuple(without))
        )
    suite.run(Verdicts(log, number))
    gc.collect()
    support.reap_children()


def main() -> int:
    """Runs the module's tests; the exit code only says whether the run finished."""
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
    log(done=arguments.rounds, cpu=round(sum(os.times()[:4]), 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
