"""Properties of tagalong as a whole: guards run no user code, values are identified by their slots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tagalong
import tagalong.testing

log: list[str] = []


def noisy(name: str) -> Callable[..., Any]:
    """Makes a special method that logs its call and then does what object's does."""

    def method(self: Any, *args: Any) -> Any:
        log.append(name)
        inherited = getattr(type if issubclass(type(self), type) else object, name, None)
        return inherited(self, *args) if inherited is not None else NotImplemented

    return method


SILENT = ("__eq__", "__ne__", "__hash__", "__getattribute__", "__repr__", "__str__", "__lt__", "__sizeof__")
Meta: Any = type(
    "Meta", (type,), {name: noisy(name) for name in ("__eq__", "__hash__", "__getattribute__", "__repr__")}
)


def truth(self: Any) -> bool:
    log.append("__bool__")
    return True


def size(self: Any) -> int:
    log.append("__len__")
    return 1


Noisy: Any = Meta("Noisy", (), {**{name: noisy(name) for name in SILENT}, "__bool__": truth, "__len__": size})


def of_number(x: Any) -> Any:
    return x + 1 if type(x) is int else None


def of_key(x: Any) -> Any:
    return x is None, [x]


def of_global(x: Any) -> Any:
    return known is x


def of_type(x: Any) -> Any:
    return isinstance(x, int)


def of_branch(x: Any) -> Any:
    return 1 if x else 2


def of_callable(x: Any) -> Any:
    return list(map(type, (x,)))


known: Any = None


@pytest.mark.parametrize("function", [of_number, of_key, of_global, of_type, of_branch, of_callable])
@pytest.mark.parametrize("first", [1, None, "a", (), len], ids=repr)
def test_guards_run_no_code_of_the_program(function: Any, first: Any) -> None:
    """A recording for one kind of object is called with another: only the function itself may call special methods."""
    plain = function
    traced = tagalong.trace(type(function)(function.__code__.replace(), function.__globals__))
    thing = Noisy()
    courses = []
    for called in (plain, traced):
        log.clear()
        heard = []
        for argument in (first, first, thing, thing, first, thing):
            result = called(argument)
            heard.append((type(result) is list or result, log[:]))
            log.clear()
        courses.append(heard)
    assert courses[0] == courses[1]
    assert tagalong.stats(traced).records >= 1
    assert tagalong.stats(traced).hits >= 1


def test_values_are_known_by_their_places() -> None:
    """One object in two slots while recording is two values: later there may be two objects."""

    def f(a: Any, b: Any, more: Any) -> Any:
        c = a
        first, second = more
        a = b
        return c, a, first, second, [c, first], c is second

    plain = f
    expected = [plain(*args) for args in ((3, 3, (3, 3)), (3, 4, (5, 6)), ("x", "y", ("z", "x")))]
    traced = tagalong.trace(type(f)(f.__code__.replace(), f.__globals__))
    with tagalong.testing.events() as events:
        results = [traced(*args) for args in ((3, 3, (3, 3)), (3, 4, (5, 6)), ("x", "y", ("z", "x")))]
    assert results == expected
    assert events == ["record", "hit", "hit"]


def test_an_opaque_call_is_no_break() -> None:
    """Property 4: the graph calls what is not recorded, in order, and continues behind the call."""
    calls = []

    def f(x: int) -> Any:
        a = sorted([x, 1], key=lambda v: calls.append(v) or -v)
        b = len(a) + x
        return a, b, max(a)

    traced = tagalong.trace(f)
    with tagalong.testing.events() as events:
        assert [traced(x) for x in (5, 7, 9)] == [([5, 1], 7, 5), ([7, 1], 9, 7), ([9, 1], 11, 9)]
    assert events == ["record", "hit", "hit"]
    assert calls == [5, 1, 7, 1, 9, 1]


def test_values_are_read_again_behind_an_opaque_call() -> None:
    """Property 9, for everything that a program reads: globals, attributes, items, cells, lengths."""
    space: dict[str, Any] = {}
    exec(
        "n = 0\n"
        "class C: k = 0\n"
        "c, xs, d = C(), [0], {'k': 0}\n"
        "def make():\n"
        "    cell = 0\n"
        "    def change(by):\n"
        "        nonlocal cell\n"
        "        global n\n"
        "        cell += by; n += by; c.k += by; C.m = n; xs.append(by); d['k'] = by\n"
        "    def f(by):\n"
        "        before = n, c.k, len(xs), xs[-1], d['k'], cell, getattr(C, 'm', None)\n"
        "        list(map(change, [by]))\n"
        "        return before, (n, c.k, len(xs), xs[-1], d['k'], cell, C.m)\n"
        "    return f\n",
        space,
    )
    traced = tagalong.trace(space["make"]())
    with tagalong.testing.events() as events:
        results = [traced(by) for by in (1, 2, 3)]
    assert events[0] == "record" and events.count("hit") >= 1
    for before, after in results:
        assert after[0] - before[0] == after[1] - before[1] == after[5] - before[5] == after[3] == after[4]
        assert after[2] == before[2] + 1 and after[6] == after[0]
