"""Programs that assign to variables of running frames through frame.f_locals, which writes into the frame (PEP 667)."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import tagalong
import tagalong.testing
from tagalong import _core

if sys.version_info < (3, 13):
    pytest.skip("frame.f_locals is a copy before CPython 3.13", allow_module_level=True)

# `change(name, value)` assigns to a variable of its caller.
PROGRAMS = {
    "in the frame itself": """
def f(n):
    y = [n]
    sys._getframe().f_locals["y"] = "new"
    return y
""",
    "in a callee": """
def f(n):
    y = n
    change("y", n + 100)
    return y
""",
    "before further work": """
def f(n):
    y = n
    change("y", 2.5)
    z = y * 2
    y += z
    return y, z
""",
    "in a loop": """
def f(n):
    total = 0
    for i in range(n):
        total += i
        if i == n - 3:
            change("total", 1000)
        total += 1
    return total
""",
    "in every round": """
def f(n):
    total = 0
    for i in range(n):
        change("total", total + i)
    return total
""",
    "of the loop itself": """
def f(n):
    seen = []
    i = 0
    while i < n:
        seen.append(i)
        change("i", i + 2)
        i += 1
    return seen
""",
    "below C": """
def f(n):
    y = n
    max(map(lambda x: sys._getframe(1).f_locals.__setitem__("y", x * 3), (n, n + 1)), key=id)
    return y
""",
    "in an inlined caller": """
def inner(n):
    y = n
    change("y", n * 7)
    return y
def f(n):
    a = inner(n)
    b = inner(n + 1)
    return a + b
""",
    "two levels up": """
def inner(n):
    sys._getframe(1).f_locals["y"] = n * 11
    return n
def f(n):
    y = 1
    z = inner(n)
    return y, z
""",
    "of a cell": """
def f(n):
    y = n
    def g():
        return y
    change("y", n * 13)
    return y, g()
""",
    "by update": """
def f(n):
    y = z = n
    sys._getframe().f_locals.update({"y": 1, "z": 2})
    return y, z
""",
    "by the operator": """
def f(n):
    y = z = n
    own = sys._getframe().f_locals
    own |= {"y": 1}
    own.setdefault("z", 5)
    return y, z
""",
    "of an unbound variable": """
def f(n):
    if n < 0:
        y = 3
    sys._getframe().f_locals.setdefault("y", n)
    return y
""",
    "by a kept proxy": """
def f(n):
    kept = sys._getframe().f_locals
    y = n
    keep(kept)
    a = y
    write(5)
    b = y
    write(6)
    return a, b, y
""",
    "in a generator": """
def items(n):
    for i in range(n):
        x = i
        change("x", x * 10)
        yield x
def f(n):
    return list(items(n))
""",
    "of a suspended generator": """
def items(n):
    x = 0
    for i in range(n):
        x += i
        yield x
def f(n):
    g = items(n)
    out = [next(g), next(g)]
    g.gi_frame.f_locals["x"] = 50
    return [*out, *g]
""",
}
COMMON = """
import sys
def change(name, value):
    sys._getframe(1).f_locals[name] = value
kept = []
def keep(proxy):
    kept[:] = [proxy]
def write(value):
    kept[0]["y"] = value
"""
SETTINGS = {
    "without loops": {"loops": 0, "grow_after": 0, "native_after": 0},
    "loops": {"loops": 1, "grow_after": 0, "native_after": 0},
    "native": {"loops": 1, "grow_after": 2, "native_after": 1},
}


@pytest.mark.parametrize("traced", ["f", "all"])
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_frame_keeps_what_was_assigned(name: str, setting: str, traced: str) -> None:
    def namespace() -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compile(COMMON + PROGRAMS[name], "<program>", "exec"), names)
        return names

    names = namespace()
    expected = [names["f"](n) for n in (6, 6, 6, 9, 6)]
    names = namespace()
    for option, value in {**SETTINGS[setting], "heat": 2, "retire_after": 0}.items():
        _core.set_option(option, value)
    for function in ("f", "inner", "items", "change", "write", "keep"):
        if function in names and (traced == "all" or function == "f"):
            tagalong.trace(names[function])
    with tagalong.testing.events() as events:
        assert [names["f"](n) for n in (6, 6, 6, 9, 6)] == expected
    assert "record" in events
    assert "hit" in events
