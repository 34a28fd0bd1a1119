"""The installed package and its public interface: what it refuses and what it returns."""

from __future__ import annotations

import copy
import doctest
import functools
import importlib.metadata
import inspect
import pickle
import re
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

import tagalong
from tagalong import guards
from tagalong._copies import copied
from tagalong._differences import differences
from tagalong._values import describe


def test_what_is_installed() -> None:
    files = {str(file) for file in importlib.metadata.files("tagalong") or ()}
    suffix = f"cpython-{sys.version_info.major}{sys.version_info.minor}"
    assert any(file.startswith(f"tagalong/_core.{suffix}") and file.endswith(".so") for file in files)
    assert {"tagalong/__init__.py", "tagalong/_core.pyi", "tagalong/py.typed"} <= files
    assert "tagalong/include/tagalong/tagalong.h" in files
    assert {"tagalong_autostart.pth", "_tagalong_autostart.py", "_tagalong_command.py"} <= files
    assert importlib.metadata.version("tagalong") == tagalong.__version__


def test_everything_public_has_a_docstring() -> None:
    for name in tagalong.__all__:
        assert getattr(tagalong, name).__doc__, name


@pytest.mark.own_stack
@pytest.mark.parametrize(
    "name", [name for name in tagalong.__all__ if not isinstance(getattr(tagalong, name), types.ModuleType)]
)
def test_a_docstring_says_what_it_takes_gives_and_raises(name: str) -> None:
    public = getattr(tagalong, name)
    text = inspect.getdoc(public) or ""
    if isinstance(public, types.FunctionType):
        for parameter in inspect.signature(public).parameters:
            assert re.search(rf"^- .*`{parameter}`", text, re.MULTILINE), parameter
        assert "Returns" in text or name == "remove_specialized"
        assert "Raises" in text or name == "get_include"
    test = doctest.DocTestParser().get_doctest(text, {"tagalong": tagalong}, name, None, None)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test) == (0, len(test.examples))


class Example:
    @tagalong.trace
    def method(self, x):
        return x + 1

    @tagalong.trace
    @staticmethod
    def static(x):
        return x + 2

    @tagalong.trace()
    @classmethod
    def of_class(cls, x):
        return (cls.__name__, x + 3)


class WithCall:
    def __call__(self, x):
        return x


def test_trace_takes_all_methods_of_a_class() -> None:
    example = Example()
    for number in range(3):
        assert example.method(number) == number + 1
        assert Example.static(number) == number + 2
        assert Example.of_class(number) == ("Example", number + 3)
    for function in (Example.method, Example.static, Example.of_class):
        assert tagalong.stats(function).records == 1
        assert tagalong.stats(function).hits == 2


def test_trace_returns_the_function_itself() -> None:
    def function(x):
        return x

    assert tagalong.trace(function) is function
    assert tagalong.trace()(function) is function
    assert tagalong.untrace(function) is function


@pytest.mark.parametrize(
    "what",
    ["trace", "untrace", "record", "compare", "stats", "explain", "get_specialized", "remove_specialized"],
)
@pytest.mark.parametrize(
    ("thing", "described"),
    [
        (len, "builtin_function_or_method 'len'; it is written in C, so there is no bytecode to record"),
        (int, "the class 'int'; {} its methods one by one"),
        (Example, "the class 'Example'; {} its methods one by one, for example Example.method"),
        (3, "int"),
        (functools.partial(int, base=2), "partial; {} the function in it, its attribute func"),
        (
            property(lambda self: 1),
            # A property has a name from CPython 3.13 on.
            ("property" if sys.version_info < (3, 13) else "property '<lambda>'")
            + "; {} its getter, its attribute fget, or put the decorator below @property",
        ),
        (
            functools.cached_property(lambda self: 1),
            "cached_property; {} the function in it, its attribute func",
        ),
        (
            functools.lru_cache(Example.method),
            "_lru_cache_wrapper 'Example.method'; {} the function in it, its attribute __wrapped__",
        ),
        (
            classmethod(functools.partial(int)),
            "classmethod; {} the function in it, its attribute func",
        ),
        (
            [].append,
            "builtin_function_or_method 'list.append'; it is written in C, so there is no bytecode to record",
        ),
        (WithCall(), "WithCall; {} WithCall.__call__"),
        ((x for x in ()), "generator '<genexpr>'; {} the function that makes it"),
        (np.add, "ufunc 'add'; it is written in C, so there is no bytecode to record"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_callables_are_refused(what: str, thing: object, described: str) -> None:
    with pytest.raises(TypeError) as raised:
        getattr(tagalong, what)(thing)
    verb = "trace" if what in ("trace", "untrace") else "give"
    expected = described.replace("{}", verb)
    if thing == 3 and what in ("record", "compare"):
        expected += f"; write tagalong.{what}(f, arguments), not tagalong.{what}(f(arguments))"
    assert str(raised.value) == f"tagalong.{what}: expected a Python function, got {expected}"


def test_recording() -> None:
    def scaled(x, y=2, *, z=1):
        return (x + y) * z

    recording = tagalong.record(scaled, 3, z=5)
    assert recording.result == 25
    assert recording.exception is None
    assert recording.stop_reason is None
    assert recording.original_code.co_code == scaled.__code__.co_code
    assert len(recording.recording_code.co_code) > len(recording.original_code.co_code)
    for which in ("original", "recording", "replay"):
        assert "RETURN_VALUE" in recording.listing(which)
    assert recording.graph
    assert recording.guards
    assert recording.replay(4, 3, z=2) == 14
    assert tagalong.replay(recording, 4, z=2) == 12
    assert repr(recording).startswith("<Recording of test_recording.<locals>.scaled: ")
    with pytest.raises(ValueError, match="'all' is not allowed; allowed: 'original', 'recording', 'replay'"):
        recording.listing("all")


def test_recording_of_a_bound_method() -> None:
    example = Example()
    recording = tagalong.record(example.method, 1)
    assert recording.result == 2
    assert recording.replay(5) == 6


def test_recording_of_a_run_that_raises() -> None:
    def inverse(x):
        return 1 / x

    recording = tagalong.record(inverse, 0)
    assert isinstance(recording.exception, ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        recording.result


def test_replay_says_which_guard_failed() -> None:
    def sign(x):
        return "below" if x < 0 else "above"

    recording = tagalong.record(sign, 1)
    assert recording.replay(2) == "above"
    with pytest.raises(tagalong.GuardFailed) as raised:
        recording.replay(-1)
    assert raised.value.guard
    assert hasattr(raised.value, "value")


def test_replay_needs_a_recording() -> None:
    with pytest.raises(TypeError, match="tagalong.replay: expected a Recording, got int"):
        tagalong.replay(3)


def test_events_are_the_exact_sequence() -> None:
    @tagalong.trace
    def double(x):
        return x + x

    with tagalong.testing.assert_events("record", "hit"):
        double(1)
        double(2)
    with tagalong.testing.assert_events("hit"):
        double(3)
    with tagalong.testing.assert_events():
        pass
    with pytest.raises(AssertionError, match="expected: miss\n"):
        with tagalong.testing.assert_events("miss"):
            double(4)
    with tagalong.testing.events():
        with pytest.raises(RuntimeError):
            with tagalong.testing.events():
                pass


def test_stats() -> None:
    @tagalong.trace
    def triple(x):
        return 3 * x

    before = tagalong.stats()
    triple(1)
    triple(2)
    counts = tagalong.stats(triple)
    assert (counts.records, counts.hits, counts.exits, counts.stops) == (1, 1, 0, {})
    assert tagalong.stats().records == before.records + 1
    assert "triple" in tagalong.explain(triple)


def test_compare_agrees() -> None:
    def work(values, scale):
        values *= scale
        return values[::2], values.sum()

    values = np.arange(6.0)
    comparison = tagalong.compare(work, values, 3.0)
    assert comparison, comparison
    assert "agree" in str(comparison)
    assert values.tolist() == [0, 1, 2, 3, 4, 5]


def test_compare_includes_exceptions_and_changed_arguments() -> None:
    def fill(target, value):
        target.append(value)
        return target[5]

    assert tagalong.compare(fill, [1], 2)


calls = 0


def unsteady(values):
    global calls
    calls += 1
    values[1] = calls
    return values + calls


def test_compare_shows_what_differs() -> None:
    comparison = tagalong.compare(unsteady, np.zeros(3))
    assert not comparison
    assert (
        "result[0]: np.float64(1.0) != np.float64(3.0) (elements that differ: 3 of 3)   (eager != replay)"
        in str(comparison)
    )
    assert "args[0][1]: np.float64(1.0) != np.float64(3.0)" in str(comparison)


def test_copies_keep_layout_and_shared_memory() -> None:
    base = np.arange(24.0).reshape(4, 6)
    frozen = base[1:]
    frozen.flags.writeable = False
    values = {
        "base": base,
        "view": base.T[1:, ::2],
        "repeated": np.broadcast_to(base[0], (3, 6)),
        "backwards": base[::-1, ::-1],
        "frozen": frozen,
        "columns": np.asfortranarray(base)[:, 1],
        "scalar": np.array(3),
        "empty": np.zeros((0, 3)),
        "objects": np.array([[1], "a"], dtype=object),
        "record": np.zeros(2, dtype=[("a", "i4"), ("b", "f8")])["b"],
        "again": base,
    }
    twins = copied(values)
    assert differences(describe(values), describe(twins), "values") == []
    twins["base"][0, 0] = 99.0
    assert twins["repeated"][:, 0].tolist() == [99.0, 99.0, 99.0]
    assert twins["again"] is twins["base"]
    assert base[0, 0] == 0.0


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (1, True),
        ([1, 2], (1, 2)),
        (np.float64(1), 1.0),
        (np.arange(3), np.arange(3).astype(np.int32)),
        (np.arange(3), np.arange(6)[::2] // 2 * 1.0),
        (np.zeros((2, 2)), np.zeros((2, 2), order="F")),
        (np.zeros(0), np.zeros((0, 1))),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (ValueError("a"), ValueError("b")),
        (b"a", bytearray(b"a")),
        ({1, 2}, {1, 3}),
        ([[], []], [[]] * 2),
    ],
)
def test_descriptions_tell_apart(one: object, two: object) -> None:
    assert differences(describe(one), describe(two), "value")
    assert not differences(describe(one), describe(one), "value")


def test_recordings_are_not_pickled() -> None:
    recording = tagalong.record(len_of, [1, 2])
    for make in (pickle.dumps, copy.deepcopy):
        with pytest.raises(
            TypeError, match="^a Recording cannot be pickled: it belongs to the code and the objects"
        ):
            make(recording)
        with pytest.raises(TypeError, match="^a recording cannot be pickled"):
            make(recording._core)
    twin = copy.copy(recording)
    assert (twin.graph, twin.replay([1, 2, 3])) == (recording.graph, 3)
    assert pickle.loads(pickle.dumps([recording.result, recording.graph, recording.guards]))[0] == 2


def len_of(items):
    return len(items)


def test_type_checkers(root: Path, tmp_path: Path) -> None:
    """Everything in the documentation has types, and what does not exist is an error."""
    documented = re.search(r"^    class Workday.*?(?=^\S)", guards.__doc__ or "", re.MULTILINE | re.DOTALL)
    assert documented
    page = (root / "docs" / "how-to" / "guards.md").read_text()
    shown = re.search(r"^>>> class Even.*?(?=^>>> )", page, re.MULTILINE | re.DOTALL)
    assert shown
    program = tmp_path / "program.py"
    program.write_text(
        "from datetime import date\nfrom typing import Any\nimport tagalong\nfrom tagalong import guards\n"
        + textwrap.dedent(documented[0])
        + re.sub(r"^(>>> |\.\.\. )", "", shown[0], flags=re.MULTILINE)
        + "@tagalong.trace\ndef f(x: int) -> int:\n    return x\n"
        "tagalong.specialize(f, lambda x: 3, [Workday(), Even(), guards.ArgType(0, int)])\n"
        "guards.Globals('f').check()\n"
        "tagalong.nope\n"
        "tagalong.stats(f).nope\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and lines[2].startswith("Found 2 errors"), done.stdout + done.stderr
    assert lines[0].endswith('error: Module has no attribute "nope"  [attr-defined]')
    assert lines[1].endswith('error: "Stats" has no attribute "nope"  [attr-defined]')
