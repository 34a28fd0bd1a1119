"""Tools of sys.monitoring are told of the same events, in the same code objects, as in eager execution.

A program is run with tools that are there from the start, that come while a loop is replayed, and that leave: with
events in all code and in single code objects. When the tool is gone, the program is replayed again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import pytest

import tagalong
import tagalong.testing
from tagalong import _core

if sys.version_info < (3, 12):
    pytest.skip("sys.monitoring came with CPython 3.12", allow_module_level=True)

MONITORING = sys.monitoring
EVENTS = MONITORING.events
TOOL = 3
ALL = [
    name
    for name in dir(EVENTS)
    if name.isupper() and name not in ("NO_EVENTS", "C_RETURN", "C_RAISE", "BRANCH_LEFT", "BRANCH_RIGHT")
]

SOURCE = """
def helper(i):
    begin(i)
    if i % 3 == 0:
        return i
    return i + 1
def items(n):
    for i in range(n):
        yield i
def fail(i):
    raise ValueError(i)
def f(n):
    total = 0
    for i in range(n):
        total += helper(i)
        try:
            if i % 4 == 0:
                fail(i)
        except ValueError:
            total += 1
    for x in items(n):
        total += max(map(helper, (x,)))
    i = 0
    while i < n:
        i += 1
        if i == n - 2:
            continue
        total = total + i if i & 1 else total - i
    return total
def without_locals():
    return 3
"""
ROUNDS = 12


class Tool:
    """Notes what it is told about the program, as (event, code, name or offset or line, types of the others)."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.told: list[tuple[Any, ...]] = []
        self.codes: set[CodeType] = set()

    def note(self, name: str) -> Callable[..., Any]:
        def callback(code: CodeType, *rest: Any) -> Any:
            if code.co_filename == "<program>":
                self.codes.add(code)
                self.told.append(
                    (name, code.co_name, *(x if isinstance(x, int) else type(x).__name__ for x in rest))
                )

        return callback

    def start(self, codes: list[CodeType] | None = None) -> None:
        for name in self.names:
            MONITORING.register_callback(TOOL, getattr(EVENTS, name), self.note(name))
        events = sum(getattr(EVENTS, name) for name in self.names)
        if codes is None:
            MONITORING.set_events(TOOL, events)
        else:
            for code in codes:
                MONITORING.set_local_events(TOOL, code, events)

    def stop(self, codes: list[CodeType] | None = None) -> None:
        MONITORING.set_events(TOOL, 0)
        for code in codes or []:
            MONITORING.set_local_events(TOOL, code, 0)
        for name in self.names:
            MONITORING.register_callback(TOOL, getattr(EVENTS, name), None)


@pytest.fixture(autouse=True)
def _tool_id() -> Iterator[None]:
    MONITORING.use_tool_id(TOOL, "test")
    yield
    MONITORING.set_events(TOOL, 0)
    MONITORING.free_tool_id(TOOL)


SETTINGS = {
    "without loops": {"loops": 0, "grow_after": 0, "native_after": 0},
    "loops": {"loops": 1, "grow_after": 0, "native_after": 0},
    "grown": {"loops": 1, "grow_after": 2, "native_after": 0},
    "native": {"loops": 1, "grow_after": 2, "native_after": 1},
}


@contextmanager
def program(
    settings: dict[str, int] | None, begin: Callable[[int], Any], *, traces_all: bool = True
) -> Iterator[dict[str, Any]]:
    """The program's names; with settings, it has been traced and replayed."""
    names: dict[str, Any] = {"begin": lambda i: None}
    exec(compile(SOURCE, "<program>", "exec"), names)
    if settings is not None:
        for name, value in {**settings, "heat": 2, "retire_after": 0}.items():
            _core.set_option(name, value)
        for name in ("f", "helper", "items", "fail", "without_locals") if traces_all else ("f",):
            tagalong.trace(names[name])
        with tagalong.testing.events() as events:
            for _ in range(8):
                names["f"](ROUNDS)
                names["without_locals"]()
        assert "hit" in events
    names["begin"] = begin
    yield names


KINDS = {
    "lines": ["LINE"],
    "calls": ["PY_START", "PY_RETURN", "PY_RESUME", "PY_YIELD", "PY_UNWIND", "PY_THROW"],
    "exceptions": ["RAISE", "RERAISE", "EXCEPTION_HANDLED", "PY_UNWIND"],
    "jumps": ["JUMP", "BRANCH"],
    "called": ["CALL"],
    "instructions": ["INSTRUCTION"],
    "all": ["LINE", "PY_START", "PY_RETURN", "PY_RESUME", "PY_YIELD", "CALL", "JUMP", "BRANCH", "RAISE"],
}


def own_codes(names: dict[str, Any]) -> set[CodeType]:
    return {names[name].__code__ for name in ("f", "helper", "items", "fail", "without_locals")}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_tool_that_is_there_from_the_start(kind: str, setting: str) -> None:
    def run(settings: dict[str, int] | None) -> Any:
        tool = Tool(KINDS[kind])
        with program(settings, lambda i: None) as names, tagalong.testing.events() as events:
            tool.start()
            result = names["f"](ROUNDS), names["without_locals"]()
            tool.stop()
            assert tool.codes <= own_codes(names)
        assert "hit" not in events
        return result, tool.told

    expected = run(None)
    assert expected[1]
    assert run(SETTINGS[setting]) == expected


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("at", [5, 8])
def test_a_tool_that_comes_in_the_middle(kind: str, setting: str, at: int) -> None:
    def run(settings: dict[str, int] | None, *, traces_all: bool = True) -> Any:
        tool = Tool(KINDS[kind])
        has_begun = False

        def begin(i: int) -> None:
            nonlocal has_begun
            if i == at and not has_begun:
                has_begun = True
                tool.start()

        with program(settings, begin, traces_all=traces_all) as names:
            result = names["f"](ROUNDS)
            tool.stop()
            assert tool.codes <= own_codes(names)
        return result, tool.told

    expected = run(None)
    assert expected[1]
    assert run(SETTINGS[setting]) == expected
    assert run(SETTINGS[setting], traces_all=False) == expected


@pytest.mark.parametrize("setting", SETTINGS)
def test_replay_comes_back(setting: str) -> None:
    tool = Tool(["LINE", "PY_START"])
    with program(SETTINGS[setting], lambda i: None) as names:
        expected = names["f"](ROUNDS)
        tool.start()
        names["f"](ROUNDS)
        tool.stop()
        with tagalong.testing.events() as events:
            assert names["f"](ROUNDS) == expected
    assert "hit" in events


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_events_in_single_code_objects(kind: str, setting: str) -> None:
    local = [name for name in KINDS[kind] if getattr(EVENTS, name) < EVENTS.RAISE and name != "PY_UNWIND"]
    local = [name for name in local if name not in ("PY_THROW", "RERAISE", "EXCEPTION_HANDLED")]
    if not local:
        pytest.skip("these events cannot be asked for in single code objects")

    def run(settings: dict[str, int] | None) -> Any:
        tool = Tool(local)
        with program(settings, lambda i: None) as names:
            codes = [names[name].__code__ for name in ("helper", "f")]
            tool.start(codes)
            result = names["f"](ROUNDS)
            events = [MONITORING.get_local_events(TOOL, code) for code in codes]
            tool.stop(codes)
            assert tool.codes == set(codes)
            with tagalong.testing.events() as seen:
                names["f"](ROUNDS)
            assert settings is None or "hit" in seen
        return result, tool.told, events

    expected = run(None)
    assert expected[1]
    assert run(SETTINGS[setting]) == expected


def test_a_callback_stays_the_same_object() -> None:
    def callback(*args: Any) -> None:
        pass

    assert MONITORING.register_callback(TOOL, EVENTS.LINE, callback) is None
    assert MONITORING.register_callback(TOOL, EVENTS.LINE, None) is callback


def test_disabled_events_stay_disabled() -> None:
    def run(settings: dict[str, int] | None) -> list[Any]:
        told = []

        def line(code: CodeType, number: int) -> Any:
            if code.co_filename == "<program>":
                told.append((code.co_name, number))
            return MONITORING.DISABLE

        with program(settings, lambda i: None) as names:
            MONITORING.register_callback(TOOL, EVENTS.LINE, line)
            MONITORING.set_events(TOOL, EVENTS.LINE)
            names["f"](ROUNDS)
            told.append("again")
            names["f"](ROUNDS)
            MONITORING.restart_events()
            told.append("restarted")
            names["f"](ROUNDS)
            MONITORING.set_events(TOOL, 0)
        return told

    expected = run(None)
    assert expected.index("again") + 1 == expected.index("restarted")
    assert run(SETTINGS["loops"]) == expected
