"""Arrays that get new contents before their floating point errors are reported: only if no program can tell."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import HAS_CODE
from subprocesses import run
from tagalong import _core

SIZE = 40_000
WARM_UP = 6
WARNING = "RuntimeWarning"


def quotient(u, out):
    out[:] = (u[:-1] / u[1:] + u[:-1]) / u[1:]
    return out


def whole(u, out):
    out[...] = u[1:] / u[:-1]
    return out


def into_two(u, out):
    half = out.shape[0] // 2
    out[:half] = u[:half] / u[half : 2 * half] - 1.0
    out[half:] = np.sqrt(u[: out.shape[0] - half]) * 2.0
    return out


PROGRAMS = (quotient, whole, into_two)


def ordinary() -> np.ndarray:
    return np.random.default_rng(3).uniform(1.0, 2.0, SIZE + 1)


def with_errors() -> np.ndarray:
    u = ordinary()
    u[SIZE // 2], u[SIZE - 9], u[SIZE - 5 : SIZE - 3] = 0.0, -3.0, 0.0
    return u


class Meta(type):
    """A metaclass that decides what its classes' subclasses are."""

    def __subclasscheck__(cls, other: type) -> bool:
        raise LookupError(other.__name__)


class Odd(RuntimeWarning, metaclass=Meta):
    pass


class Match:
    """A class with the method of a pattern."""

    def match(self, text: str) -> bool:
        raise LookupError(text)


Watch = Callable[[str], None]
Setting = Callable[[Watch], Any]


@contextlib.contextmanager
def standard_error(stream: Any) -> Iterator[None]:
    before, sys.stderr = sys.stderr, stream
    try:
        yield
    finally:
        sys.stderr = before


def shows(watch: Watch) -> None:
    warnings.showwarning = lambda message, *_, **__: watch(str(message))


def shows_inside(watch: Watch) -> None:
    warnings._showwarnmsg_impl = lambda message: watch(str(message.message))  # type: ignore[attr-defined]


def shows_instead(watch: Watch) -> None:
    warnings._showwarnmsg = lambda message: watch(str(message.message))  # type: ignore[attr-defined]


def shows_and_raises(watch: Watch) -> None:
    def show(message: Any, *_: Any, **__: Any) -> None:
        watch(str(message))
        raise LookupError(str(message))

    warnings.showwarning = show


def formats(watch: Watch) -> Any:
    def form(message: Any, *_: Any, **__: Any) -> str:
        watch(str(message))
        return ""

    warnings.formatwarning = form
    warnings._showwarnmsg_impl = IMPLEMENTATION  # type: ignore[attr-defined]


def formats_inside(watch: Watch) -> Any:
    def form(message: Any) -> str:
        watch(str(message.message))
        return ""

    warnings._formatwarnmsg_impl = form  # type: ignore[attr-defined]
    warnings._showwarnmsg_impl = IMPLEMENTATION  # type: ignore[attr-defined]


def collects(watch: Watch) -> None:
    class Log(list[Any]):
        def append(self, message: Any) -> None:
            watch(str(message.message))

    warnings._showwarnmsg_impl = Log().append  # type: ignore[attr-defined]


def writes(watch: Watch) -> Any:
    class Stream(io.StringIO):
        def write(self, text: str) -> int:
            watch(text.split("\n", 1)[0].partition(WARNING)[2])
            return len(text)

    warnings._showwarnmsg_impl = IMPLEMENTATION  # type: ignore[attr-defined]
    return standard_error(Stream())


def writes_to_a_closed_one(watch: Watch) -> Any:
    stream = io.StringIO()
    stream.close()
    warnings._showwarnmsg_impl = IMPLEMENTATION  # type: ignore[attr-defined]
    return standard_error(stream)


def makes_messages(watch: Watch) -> None:
    def message(*arguments: Any) -> Any:
        watch(str(arguments[0]))
        return SimpleNamespace(message=arguments[0])

    warnings.WarningMessage = message  # type: ignore[assignment, misc]


def makes_messages_of_its_own(watch: Watch) -> None:
    class Message(warnings.WarningMessage):
        def __init__(self, message: Any, *others: Any, **named: Any) -> None:
            watch(str(message))
            super().__init__(message, *others, **named)

    warnings.WarningMessage = Message  # type: ignore[misc]


def with_filter(*fields: Any) -> Setting:
    return lambda _: warnings.filters.insert(0, fields)  # type: ignore[attr-defined]


def with_errstate(**ways: Any) -> Setting:
    return lambda _: np.errstate(**ways)


def calls(watch: Watch) -> Any:
    return np.errstate(all="call", call=lambda error, _: watch(error))


def logs(watch: Watch) -> Any:
    class Log:
        def write(self, text: str) -> None:
            watch(text)

    return np.errstate(all="log", call=Log())


def default_action(watch: Watch) -> Any:
    del warnings.filters[:]  # type: ignore[attr-defined]
    warnings._filters_mutated()  # type: ignore[attr-defined]
    warnings.defaultaction = "error"  # type: ignore[attr-defined]


def implementation() -> Any:
    """The function that shows warnings, even if pytest has replaced it while collecting."""
    spec = importlib.util.find_spec("warnings")
    assert spec is not None
    assert spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    return FunctionType(vars(fresh)["_showwarnmsg_impl"].__code__, vars(warnings))


IMPLEMENTATION = implementation()
NOTICED: dict[str, Setting] = {
    "showwarning": shows,
    "_showwarnmsg": shows_instead,
    "_showwarnmsg_impl": shows_inside,
    "showwarning raises": shows_and_raises,
    "formatwarning": formats,
    "_formatwarnmsg_impl": formats_inside,
    "a list of its own": collects,
    "messages of its own": makes_messages,
    "a class of messages": makes_messages_of_its_own,
    "a stream": writes,
    "a closed stream": writes_to_a_closed_one,
    "the default action": default_action,
    "error": with_filter("error", None, RuntimeWarning, None, 0),
    "error for a message": with_filter("error", re.compile("divide"), Warning, None, 0),
    "error for a line": with_filter("error", None, RuntimeWarning, None, 7),
    "an unknown action": with_filter("shout", None, RuntimeWarning, None, 0),
    "a metaclass": with_filter("always", None, Odd, None, 0),
    "a pattern of its own": with_filter("always", Match(), RuntimeWarning, None, 0),
    "a module's pattern of its own": with_filter("always", None, RuntimeWarning, Match(), 0),
    "raise": with_errstate(all="raise"),
    "raise one": with_errstate(under="raise"),
    "print": with_errstate(all="print"),
    "call": calls,
    "log": logs,
}
UNNOTICED: dict[str, Setting] = {
    "recorded": lambda _: None,
    "ignored by NumPy": with_errstate(all="ignore"),
    "some ignored by NumPy": with_errstate(divide="ignore", invalid="warn"),
    "ignored": with_filter("ignore", None, RuntimeWarning, None, 0),
    "ignored before an error": lambda _: warnings.filters.__setitem__(  # type: ignore[attr-defined]
        slice(0, 0), [("ignore", None, Warning, None, 0), ("error", None, Warning, None, 0)]
    ),
    "an error of others": with_filter("error", None, DeprecationWarning, None, 0),
    "once": with_filter("once", re.compile("invalid"), RuntimeWarning, None, 0),
    "a module's": with_filter("ignore", None, RuntimeWarning, "else.*where", 0),
}


def copy_of(program: Callable[..., Any]) -> Callable[..., Any]:
    return FunctionType(program.__code__.replace(), dict(program.__globals__), program.__name__)


def outcome(function: Callable[..., Any], u: np.ndarray, setting: Setting) -> tuple[Any, ...]:
    out = np.full(SIZE, 7.0)
    seen: list[Any] = []
    error: Any = None

    def watch(text: str) -> None:
        seen.append((text, out.tobytes()))

    saved = {name: vars(warnings)[name] for name in vars(warnings) if name != "__warningregistry__"}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with setting(watch) or contextlib.nullcontext():
                warnings._filters_mutated()  # type: ignore[attr-defined]
                try:
                    function(u, out)
                except Exception as raised:  # noqa: BLE001 - compared
                    error = type(raised), str(raised)
    finally:
        vars(warnings).update(saved)
    return out.tobytes(), error, seen, [str(message.message) for message in caught]


def traced_program(program: Callable[..., Any]) -> Callable[..., Any]:
    _core.set_option("retire_after", 0)
    traced = tagalong.trace(copy_of(program))
    for _ in range(WARM_UP):
        traced(ordinary(), np.zeros(SIZE))
    return traced


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("setting", NOTICED)
def test_where_a_report_may_be_noticed_contents_come_after_it(
    setting: str, program: Callable[..., Any], threads: int
) -> None:
    _core.set_option("threads", threads)
    traced = traced_program(program)
    for make in (ordinary, with_errors, ordinary):
        u = make()
        at_once = _core.counter("groups_in_place")
        assert outcome(traced, u, NOTICED[setting]) == outcome(copy_of(program), u, NOTICED[setting])
        assert _core.counter("groups_in_place") == at_once, "nothing shows that these raise no errors"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("setting", UNNOTICED)
def test_where_no_program_can_tell_they_come_first(setting: str, program: Callable[..., Any]) -> None:
    traced = traced_program(program)
    for make in (ordinary, with_errors, ordinary, ordinary):
        u = make()
        at_once = _core.counter("groups_in_place")
        assert outcome(traced, u, UNNOTICED[setting]) == outcome(copy_of(program), u, UNNOTICED[setting])
    # The last time, because a fusion group with errors is not used for a while.
    assert not HAS_CODE or _core.counter("groups_in_place") > at_once


SCRIPT = """
import sys, warnings
import numpy as np
import tagalong
from tagalong import _core

def f(u, out):
    out[:] = (u[:-1] / u[1:] + u[:-1]) / u[1:]
    return out

eager = type(f)(f.__code__.replace(), globals(), "f")
traced = tagalong.trace(f)
u, out = np.ones(40_001), np.zeros(40_000)
for _ in range(6):
    traced(u, out)
u[700] = u[701] = 0.0

def called(function, stream):
    before, sys.stderr = sys.stderr, stream
    try:
        function(u, out)
    except Exception as error:
        return type(error).__name__, out.tobytes()
    finally:
        sys.stderr = before
    return "", out.tobytes()

def at_once():
    before = _core.counter("groups_in_place")
    traced(np.ones(40_001), out)
    return _core.counter("groups_in_place") - before

{0}
"""
PROCESSES = {
    "plain": ("traced(u, out); at_once(); print(at_once())", "1"),
    "closed": (
        "warnings.simplefilter('always'); sys.stderr.close(); print(at_once());"
        "out[:] = 7.0; one = called(eager, sys.stderr); out[:] = 7.0;"
        "print(called(traced, sys.stderr) == one, one[0])",
        "0\nTrue ValueError",
    ),
    "detached": ("sys.stderr.detach(); print(at_once()); sys.stderr = sys.__stderr__ = None", "0"),
    "replaced": ("import io; sys.stderr = io.StringIO(); print(at_once())", "0"),
    "strict": (
        "sys.stderr = sys.__stderr__ = open(2, 'w', errors='strict', closefd=False); print(at_once())",
        "0",
    ),
    "none": ("sys.stderr = sys.__stderr__ = None; print(at_once()); traced(u, out)", "1"),
    "no module": ("del sys.modules['warnings']; print(at_once())", "0"),
    "another module": (
        "import types; sys.modules['warnings'] = types.SimpleNamespace(); print(at_once())",
        "0",
    ),
    "no filters": ("warnings.filters = (); print(at_once())", "0"),
    "no registry": ("warnings.onceregistry = 5; print(at_once())", "0"),
    "deep": (
        "deep = lambda n: at_once() if n == 0 else deep(n - 1)\n"
        "limit = sys.getrecursionlimit()\n"
        "print(deep(limit - 200), deep(limit - 25))",
        "1 0",
    ),
}


@pytest.mark.skipif(not HAS_CODE, reason="nothing is computed in place")
@pytest.mark.parametrize("name", PROCESSES)
def test_in_a_process_of_its_own(name: str) -> None:
    script, expected = PROCESSES[name]
    done = run("-c", SCRIPT.replace("{0}", script))
    assert done.stdout.strip() == expected, done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(not HAS_CODE, reason="nothing is computed in place")
def test_a_warning_is_printed_as_in_eager_execution() -> None:
    script = "u[3] = 0.0\nfor _ in range(3): {0}(u, out)\nprint(out[2:5], out[-1])"
    outputs = [
        run("-c", SCRIPT.replace("{0}", script.replace("{0}", function))) for function in ("eager", "traced")
    ]
    assert [done.returncode for done in outputs] == [0, 0]
    assert outputs[0].stdout == outputs[1].stdout
    assert WARNING in outputs[0].stderr
    assert outputs[0].stderr == outputs[1].stderr
