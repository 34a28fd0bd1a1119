"""An object on which a replayed loop relies is changed in one of the rounds: the change takes effect at once.

The change is made below C code, in a finaliser, or by an inlined callee; by then the loop's guards have held for many
rounds. The program logs what each round sees and which special methods run: the log is that of eager execution, so
detecting the change runs no user code.
"""

from __future__ import annotations

from typing import Any

import pytest

import tagalong
import tagalong.testing
from tagalong import _core

# What the loop reads in each round; what changes it; what changes it back.
CHANGES = {
    "a global is bound anew": ("value", "names['value'] = 50", "names['value'] = 1"),
    "a global gets another type": ("value", "names['value'] = 0.5", "names['value'] = 1"),
    "a global is deleted, a builtin is behind it": ("abs(-3)", "del names['abs']", "names['abs'] = hidden"),
    "a builtin is hidden": ("len('abc')", "names['len'] = hidden", "del names['len']"),
    "a global's key looks like another": (
        "value",
        "names[Key('value')] = 70",
        "names['value'] = 1",
    ),
    "a global function gets other code": (
        "g(1)",
        "g.__code__ = other.__code__",
        "g.__code__ = same.__code__",
    ),
    "a function gets other defaults": ("g()", "g.__defaults__ = (30,)", "g.__defaults__ = (0,)"),
    "a function gets other keyword defaults": (
        "keyed()",
        "keyed.__kwdefaults__ = {'x': 30}",
        "keyed.__kwdefaults__ = {'x': 0}",
    ),
    "a function loses its defaults and gets them back": (
        "g()",
        "g.__defaults__ = None; g.__defaults__ = (40,)",
        "g.__defaults__ = (0,)",
    ),
    "a method is replaced": ("thing.method()", "Kind.method = lambda self: 60", "del Kind.method"),
    "a base's method is replaced": (
        "thing.method()",
        "Base.method = lambda self: 80",
        "Base.method = original",
    ),
    "an instance hides a method": ("thing.method()", "thing.method = lambda: 90", "del thing.method"),
    "an attribute becomes a property": (
        "thing.plain",
        "Kind.plain = property(lambda self: 20)",
        "del Kind.plain",
    ),
    "an attribute is deleted, its class has one": (
        "thing.plain",
        "Kind.plain = 7; del thing.plain",
        "thing.plain = 2; del Kind.plain",
    ),
    "an object gets another class": ("thing.method()", "thing.__class__ = Other", "thing.__class__ = Kind"),
    "a class gets other bases": ("thing.method()", "Kind.__bases__ = (Other,)", "Kind.__bases__ = (Base,)"),
    "an operator is added": ("thing + 1", "Kind.__add__ = lambda self, x: 15", "del Kind.__add__"),
    "a module's attribute is bound anew": ("module.value", "module.value = 33", "module.value = 3"),
    "a module's function is replaced": (
        "module.function(2)",
        "module.function = lambda x: x * 100",
        "module.function = same",
    ),
    "a module loses an attribute, it has __getattr__": (
        "module.value",
        "del module.value; module.__getattr__ = lambda name: 44",
        "module.value = 3; del module.__getattr__",
    ),
    "a cell's content changes": ("cell()", "set_cell(25)", "set_cell(0)"),
    "an item of a list changes its type": ("kept[0]", "kept[0] = 'text'", "kept[0] = 1"),
    "a dict's item is replaced": ("table['a']", "table['a'] = 2.5", "table['a'] = 1"),
}

# the ways in which the change is made
MAKERS = {
    "a callee": "tick(i)",
    "below C": "max(map(tick, (i,)))",
    "a finaliser": "Last(i)",
    "an operator": "Last.Adder(i) + 1",
}

SOURCE = """
import types
names = globals()
value = 1
log = []
abs = lambda x: 12
hidden = lambda x: 11
class Key(str):
    def __eq__(self, other):
        log.append("eq")
        return str(self) == other
    def __hash__(self):
        log.append("hash")
        return str.__hash__(self)
def g(x=0):
    return x + 1
def same(x=0):
    return x + 1
def other(x=0):
    return x - 1
def keyed(*, x=0):
    return x + 5
class Base:
    def method(self):
        return 4
    def __radd__(self, other):
        return 5
    def __add__(self, other):
        return 6
original = Base.method
class Kind(Base):
    def __init__(self):
        self.plain = 2
class Other(Base):
    def method(self):
        return 9
thing = Kind()
module = types.ModuleType("module")
module.value = 3
module.function = same
def make_cell():
    content = 0
    def get():
        return content
    def set(new):
        nonlocal content
        content = new
    return get, set
cell, set_cell = make_cell()
kept = [1]
table = {{"a": 1}}
at = -1
def change():
    {change}
def back():
    {back}
def tick(i):
    if i == at:
        change()
    return i
class Last:
    class Adder:
        def __init__(self, i):
            self.i = i
        def __add__(self, other):
            return tick(self.i)
    def __init__(self, i):
        self.i = i
    def __del__(self):
        tick(self.i)
def f(n):
    seen = []
    for i in range(n):
        first = {read}
        {make}
        seen.append((first, {read}))
    return seen
"""
ROUNDS = 16
SETTINGS = {
    "without loops": {"loops": 0, "grow_after": 0, "native_after": 0},
    "loops": {"loops": 1, "grow_after": 0, "native_after": 0},
    "grown": {"loops": 1, "grow_after": 2, "native_after": 0},
    "native": {"loops": 1, "grow_after": 2, "native_after": 1},
}


def calls(source: str, settings: dict[str, int] | None) -> tuple[Any, list[str]]:
    """The results of calls with changes between calls without, the log, and the events."""
    names: dict[str, Any] = {}
    exec(source, names)
    f = names["f"]
    if settings is not None:
        for name, value in {**settings, "heat": 2}.items():
            _core.set_option(name, value)
        tagalong.trace(f)
    found = []
    happened: list[str] = []
    for at in (-1, -1, -1, -1, 5, -1, -1, 9, -1, ROUNDS - 1, 0, -1):
        names["at"] = at
        with tagalong.testing.events() as events:
            found.append(f(ROUNDS))
        happened += events
        if at >= 0:
            names["back"]()
    found.append(names["log"])
    return found, happened


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("what", CHANGES)
def test_a_change_takes_effect_at_once_and_runs_nothing(what: str, setting: str) -> None:
    read, change, back = CHANGES[what]
    for make in MAKERS.values():
        source = SOURCE.format(read=read, change=change, back=back, make=make)
        expected, _ = calls(source, None)
        assert len({repr(one) for one in expected[:-1]}) > 1, "nothing has changed"
        seen, events = calls(source, SETTINGS[setting])
        assert seen == expected, make
        assert "hit" in events
