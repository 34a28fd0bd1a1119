"""A pytest plugin: runs each test some rounds in the process, and leaves their verdicts in a file as they come.

The variables SUITE_EVENTS and SUITE_ROUNDS name the file and the number of rounds. The events are those of
`cpython_runner.py`; the verdict of a test is that of the worst of its phases and subtests.
"""

from __future__ import annotations

import collections
import json
import os
import random
import sys
from typing import Any

import pytest

RANKS = ("ok", "skip", "expected failure", "unexpected success", "error", "failure")

# Tests may replace functions of `os`.
_open, _write, _close, _process = os.open, os.write, os.close, os.getpid


class Verdicts:
    """Writes the verdict of each test when all its phases are over."""

    def __init__(self, path: str, rounds: int) -> None:
        self._path = path
        self._rounds = rounds
        self._owner = _process()
        self._seen: collections.Counter[str] = collections.Counter()
        self._worst = "ok"
        self._text = ""

    def _log(self, **event: Any) -> None:
        if _process() != self._owner:
            return
        file = _open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _write(file, json.dumps(event).encode() + b"\n")
        finally:
            _close(file)

    def _note(self, verdict: str, text: str) -> None:
        if RANKS.index(verdict) > RANKS.index(self._worst):
            self._worst, self._text = verdict, text

    def pytest_configure(self, config: pytest.Config) -> None:
        """hypothesis: the same examples in each run, without deadlines."""
        try:
            import hypothesis
        except ImportError:
            return
        hypothesis.settings.register_profile(
            "suites",
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        hypothesis.settings.load_profile("suites")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """All tests once, then all of them again."""
        items *= self._rounds

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins. Tests with the same id are distinguished by their order."""
        random.seed(20)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(20)
        self._worst, self._text = "ok", ""
        self._log(round=self._seen[nodeid], start=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase of a test, or a subtest, is over."""
        expected = hasattr(report, "wasxfail")
        if report.skipped:
            self._note("expected failure" if expected else "skip", str(report.longrepr))
        elif report.failed:
            self._note("failure" if report.when == "call" else "error", report.longreprtext[-4000:])
        elif expected and report.when == "call":
            self._note("unexpected success", "")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test is over, with its fixtures."""
        number = self._seen[nodeid]
        self._seen[nodeid] += 1
        if self._worst != "ok":
            self._log(round=number, test=nodeid, verdict=self._worst, text=self._text)
        self._log(round=number, end=nodeid, seconds=0)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that cannot be imported counts as a test."""
        if report.failed:
            self._log(round=0, test=report.nodeid, verdict="error", text=report.longreprtext[-4000:])
        elif report.skipped:
            self._log(round=0, test=report.nodeid, verdict="skip", text=str(report.longrepr))

    def pytest_sessionfinish(self) -> None:
        """Writes the end, so that a crash can be recognised."""
        self._log(done=self._rounds, cpu=round(sum(os.times()[:4]), 2))


def pytest_configure(config: pytest.Config) -> None:
    """Registers the plugin if a file is given."""
    path = os.environ.get("SUITE_EVENTS")
    if path:
        verdicts = Verdicts(path, int(os.environ.get("SUITE_ROUNDS", "1")))
        config.pluginmanager.register(verdicts, "suite-verdicts")
