"""One verdict for each test of unittest, for runners that compare a traced process with a plain one."""

from __future__ import annotations

import unittest
from typing import Any


def test_of(test: Any) -> Any:
    """The test to which a subtest belongs; any other test is returned, even if it has an attribute `test_case`."""
    return test.test_case if isinstance(test, unittest.case._SubTest) else test


def id_of(test: Any) -> str:
    """The id of a test. A subtest counts for its test; some tests use the name `id` for an attribute of their own."""
    test = test_of(test)
    return str(type(test).id(test))


class VerdictResult(unittest.TestResult):
    """Calls `begun` and `noted`; a test without another verdict is ok."""

    def begun(self, test: str) -> None:
        """A test begins."""

    def noted(self, test: str, verdict: str, text: str) -> None:
        """A test, or a subtest of it, has a verdict other than ok; the text is the traceback, if there is one."""

    def startTest(self, test: unittest.TestCase) -> None:
        self.begun(id_of(test))
        super().startTest(test)

    def _note(self, test: Any, verdict: str, error: Any = None) -> None:
        text = ""
        if error is not None:
            try:
                text = self._exc_info_to_string(error, test_of(test))  # type: ignore[attr-defined]
            except Exception as problem:
                text = f"{error[0]!r} (cannot be shown: {problem!r})"
        self.noted(id_of(test), verdict, text)

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


def cases_of(suite: Any) -> list[Any]:
    """All single tests of a suite."""
    if not isinstance(suite, unittest.TestSuite):
        return [suite]
    return [case for item in suite for case in cases_of(item)]
