"""Keys of namespaces that are not exact strings: their `__eq__` is user code and decides what a name is.

Each program runs twice, eagerly and traced. It returns what it finds, and notes every call of an `__eq__`, so one call
too many or too few shows. Halfway through, the keys stop being equal to any name.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

import pytest

import tagalong
from tagalong import guards

ROUNDS = 30

PRELUDE = """
calls = []

class Key(str):
    __hash__ = str.__hash__
    alive = True

    def __eq__(self, other):
        calls.append(str(other))
        return Key.alive and str.__eq__(self, other)

class Other:
    "no string at all"
    def __hash__(self):
        return hash("x")

    def __eq__(self, other):
        calls.append(other)
        return Key.alive

class Plain:
    pass

class Asking:
    def __getattr__(self, name):
        return 10

class Descriptor:
    def __get__(self, instance, owner):
        return 4

class Described:
    x = Descriptor()

    def method(self):
        return 2

def made(cls, **items):
    made = cls()
    for name, value in items.items():
        vars(made)[Key(name)] = value
    made.y = 3
    return made
"""

# name: (the setup, the function, its argument, whether it can be replayed to its end)
PROGRAMS: dict[str, tuple[str, str, str, bool | None]] = {
    "a global is read": ("names[Key('len')] = lambda s: -1", "return len(x)", "'abc'", False),
    "a global is read in a loop": (
        "names[Key('step')] = 6",
        "total = 0\n    for i in range(x):\n        total += step + i\n    return total",
        "100",
        False,
    ),
    "a global is bound in a loop": (
        "names[Key('bound')] = 6",
        "global bound\n    for i in range(x):\n        bound = bound + i\n    return bound",
        "100",
        False,
    ),
    "a global is bound": ("names[Key('bound')] = 6", "global bound\n    bound = x\n    return x", "2", False),
    "a global is deleted": (
        "names[Key('gone')] = 6",
        "global gone\n    names[Key('gone')] = x\n    del gone\n    return x",
        "2",
        None,  # when the recorder looks, the key is gone: replays take a side exit
    ),
    "a global is read in a callee": (
        "names[Key('step')] = 6\ndef callee(x):\n    return step + x",
        "return callee(x) + callee(x + 1)",
        "2",
        False,
    ),
    "a global that no key looks like": (
        "names[Key('other')] = names[3] = names[(4,)] = 6\nstep = 2",
        "return step + x",
        "2",
        True,
    ),
    "a module's attribute": (
        "m = type(builtins)('m')\nvars(m)[Key('x')] = 7\nm.y = 1",
        "return m.x + m.y",
        "0",
        True,
    ),
    "a module's method": ("m = type(builtins)('m')\nvars(m)[Key('x')] = abs", "return m.x(-x)", "2", True),
    "an attribute": ("o = made(Plain, x=5)", "return o.x + o.y", "0", False),
    "an attribute is bound": ("o = made(Plain, x=5)", "o.x = x\n    return o.y", "2", False),
    "an attribute is deleted": ("", "o = made(Plain, x=5)\n    del o.x\n    return o.y", "2", True),
    "an attribute, the key is no string": ("o = Plain()\nvars(o)[Other()] = 5", "return o.x", "0", False),
    "an attribute behind __getattr__": ("o = made(Asking, x=5)", "return o.x + o.y + o.z", "0", False),
    "an attribute in front of a descriptor": ("o = made(Described, x=5)", "return o.x", "0", False),
    "a method is hidden": ("o = made(Described, method=lambda: 11)", "return o.method()", "0", False),
    "an attribute of a class": ("C = type('C', (), {Key('x'): 5})\no = C()", "return o.x + C.x", "0", True),
    "a keyword's default": (
        "def callee(*, k=3):\n    return k\ncallee.__kwdefaults__ = {Key('k'): 8}",
        "return callee()",
        "0",
        True,
    ),
    "a key comes in a loop": (
        "step = 1\ndef come():\n    names.pop('step')\n    names[Key('step')] = 50\n"
        "def go():\n    for key in list(names):\n        if type(key) is Key:\n            del names[key]\n"
        "    names['step'] = 1",
        "go()\n    total = 0\n    for i in range(x):\n        if i == 50:\n            come()\n        total += step\n"
        "    return total",
        "100",
        False,
    ),
}


def outcomes(name: str, change: Callable[..., Any]) -> tuple[list[object], Any]:
    before, body, argument, _ = PROGRAMS[name]
    names: dict[Any, Any] = {"__name__": __name__, "builtins": builtins}
    names["names"] = names
    exec(f"{PRELUDE}\n{before}\ndef f(x):\n    {body}\n", names)
    f = change(names["f"])
    value = eval(argument)
    seen: list[object] = []
    for number in range(ROUNDS):
        if number == 2 * ROUNDS // 3:
            names["Key"].alive = False
        try:
            seen.append(f(value))
        except (NameError, AttributeError, TypeError) as error:
            seen.append(repr(error))
        seen.append(len(names["calls"]))
        names["calls"].clear()
    return seen, f


@pytest.mark.parametrize("name", PROGRAMS)
def test_keys_are_compared_as_in_eager_execution(name: str) -> None:
    expected, _ = outcomes(name, lambda f: f)
    found, f = outcomes(name, tagalong.trace)
    assert found == expected
    stats = tagalong.stats(f)
    assert stats.records > 0
    if PROGRAMS[name][-1] is None:
        assert stats.exits > 0
    elif PROGRAMS[name][-1]:
        assert stats.hits > 0
        assert "asks_keys" not in stats.stops
    else:
        assert "asks_keys" in stats.stops


def test_a_builtin_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    class Key(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            calls.append(other)
            return str.__eq__(self, other)

    @tagalong.trace
    def f(x: int) -> object:
        return abs(x)

    names = vars(builtins)
    assert [f(-1), f(-2)] == [1, 2]
    original = names.pop("abs")
    key = Key("abs")
    names[key] = lambda x: "another"
    try:
        results = [f(-1) for _ in range(5)]
    finally:
        del names[key]
        names["abs"] = original
    assert results == ["another"] * 5
    assert len(calls) >= 5
    assert f(-3) == 3


def test_keys_that_compare_in_c_are_known_by_their_hash() -> None:
    numpy = pytest.importorskip("numpy")
    names: dict[Any, Any] = {numpy.str_("step"): 5, 1: 2, ("step",): 3}
    exec("def f(x):\n    return step + x\n", names)
    f = tagalong.trace(names["f"])
    assert [f(1), f(2)] == [6, 7]
    names["step"] = 50  # the value of the same key
    assert [f(1), f(2)] == [51, 52]
    assert tagalong.stats(f).hits > 0


class Fickle(str):
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise AssertionError("guards run no code of the program's")


def made_with(source: str, names: dict[Any, Any]) -> Any:
    exec(source, names)
    return names["f"]


SOURCES = "def f(): return 'original'\ndef fast(): return 'fast'\n"
GUARDS: list[Callable[[Any], guards.Guard]] = [
    lambda names: guards.Globals("x"),
    lambda names: guards.Builtins("len"),
    lambda names: guards.Attribute(names["module"], "x"),
]


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_never_holds_for_such_a_name(guard: Callable[[Any], guards.Guard]) -> None:
    names: dict[Any, Any] = {"x": 1, "module": types.ModuleType("m")}
    vars(names["module"])["x"] = 2
    f = made_with(SOURCES, names)
    tagalong.specialize(f, names["fast"], [guard(names)])
    assert f() == "fast"
    scopes = (names, vars(names["module"]))
    for scope in scopes:
        scope[Fickle("z")] = 2
    assert f() == "fast"
    for scope in scopes:
        del scope["x"]
        scope[Fickle("len")] = 2
        scope[Fickle("x")] = 2
    assert f() == "original"
    assert tagalong.specialize(f, names["fast"], [guard(names)]) == 1
    assert f() == "original"


def test_a_guard_on_a_dict_is_about_its_strings() -> None:
    names: dict[Any, Any] = {Fickle("x"): 1}
    f = made_with(SOURCES, {})
    tagalong.specialize(f, f.__globals__["fast"], [guards.Dict(names, "x")])
    assert f() == "fast"


def test_an_attribute_whose_shared_key_is_not_interned() -> None:
    class Thing:
        value = 10

    @tagalong.trace
    def f(things: list[Thing]) -> list[int]:
        return [thing.value for thing in things]

    first, second, third = Thing(), Thing(), Thing()
    vars(first)["".join(["val", "ue"])] = (
        1  # the instances share a key that equals the name but is another object
    )
    second.value = 2
    for _ in range(5):
        assert f([first, second, third]) == [1, 2, 10]
    assert tagalong.stats(f).hits > 0
