"""Python code that an instruction calls is in the same graph: for each form, which callees are inlined."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tagalong

# Each form: the callees that must be inlined, and the program; f gets an A, or 1 if there is none.
FORMS = {
    "int + reflected": ("__radd__", "class A:\n    def __radd__(self, o): return 1\ndef f(a): return 1 + a"),
    "str + reflected": (
        "__radd__",
        "class A:\n    def __radd__(self, o): return 1\ndef f(a): return 's' + a",
    ),
    "None + reflected": (
        "__radd__",
        "class A:\n    def __radd__(self, o): return 1\ndef f(a): return None + a",
    ),
    "set - reflected": (
        "__rsub__",
        "class A:\n    def __rsub__(self, o): return 1\ndef f(a): return {1} - a",
    ),
    "object + reflected": (
        "__radd__",
        "class A:\n    def __radd__(self, o): return 1\nclass B: pass\nb = B()\ndef f(a): return b + a",
    ),
    "declined, then reflected": (
        "__add__ __radd__",
        "class A:\n    def __add__(self, o): return NotImplemented\n"
        "class B:\n    def __radd__(self, o): return 1\nb = B()\ndef f(a): return a + b",
    ),
    "subclass first": (
        "B.__radd__",
        "class A:\n    def __add__(self, o): return 1\n"
        "class B(A):\n    def __radd__(self, o): return 2\nb = B()\ndef f(a): return a + b",
    ),
    "subclass first, then the other": (
        "B.__radd__ A.__add__",
        "class A:\n    def __add__(self, o): return 1\n"
        "class B(A):\n    def __radd__(self, o): return NotImplemented\nb = B()\ndef f(a): return a + b",
    ),
    "in place": (
        "__iadd__",
        "class A:\n    def __iadd__(self, o): return 1\ndef f(a):\n    a += 1\n    return a",
    ),
    "in place, declined": (
        "__iadd__ __add__",
        "class A:\n    def __iadd__(self, o): return NotImplemented\n    def __add__(self, o): return 1\n"
        "def f(a):\n    a += 1\n    return a",
    ),
    "== reflected": ("__eq__", "class A:\n    def __eq__(self, o): return True\ndef f(a): return 1 == a"),
    "< reflected": ("__gt__", "class A:\n    def __gt__(self, o): return True\ndef f(a): return 1 < a"),
    "!= by ==": ("__eq__", "class A:\n    def __eq__(self, o): return True\ndef f(a): return a != 1"),
    "if by bool": (
        "__bool__",
        "class A:\n    def __bool__(self): return True\ndef f(a):\n    if a: return 1\n    return 2",
    ),
    "and by bool": ("__bool__", "class A:\n    def __bool__(self): return True\ndef f(a): return a and 1"),
    "not by len": ("__len__", "class A:\n    def __len__(self): return 0\ndef f(a): return not a"),
    "if by len": (
        "__len__",
        "class A:\n    def __len__(self): return 0\ndef f(a):\n    if a: return 1\n    return 2",
    ),
    "bool()": ("__bool__", "class A:\n    def __bool__(self): return True\ndef f(a): return bool(a)"),
    "len()": ("__len__", "class A:\n    def __len__(self): return 3\ndef f(a): return len(a)"),
    "abs()": ("__abs__", "class A:\n    def __abs__(self): return 3\ndef f(a): return abs(a)"),
    "hash()": ("__hash__", "class A:\n    def __hash__(self): return 3\ndef f(a): return hash(a)"),
    "iter()": (
        "__iter__",
        "class A:\n    def __iter__(self): return iter(())\ndef f(a): return list(iter(a))",
    ),
    "next()": ("__next__", "class A:\n    def __next__(self): return 3\ndef f(a): return next(a)"),
    "str()": ("__str__", "class A:\n    def __str__(self): return 's'\ndef f(a): return str(a)"),
    "repr()": ("__repr__", "class A:\n    def __repr__(self): return 's'\ndef f(a): return repr(a)"),
    "in": ("__contains__", "class A:\n    def __contains__(self, o): return 3\ndef f(a): return 1 in a"),
    "for": (
        "__iter__",
        "class A:\n    def __iter__(self): return iter((1, 2))\ndef f(a):\n    for x in a: pass\n    return x",
    ),
    "del item": ("__delitem__", "class A:\n    def __delitem__(self, i): pass\ndef f(a): del a[1]"),
    "format": ("__format__", "class A:\n    def __format__(self, s): return s\ndef f(a): return f'{a:3}{a}'"),
    "format by str": ("__str__", "class A:\n    def __str__(self): return 's'\ndef f(a): return f'{a}{a!s}'"),
    "format by repr": (
        "__repr__",
        "class A:\n    def __repr__(self): return 's'\ndef f(a): return f'{a}{a!r}'",
    ),
    "no such attribute": (
        "__getattr__",
        "class A:\n    def __getattr__(self, n): return n\ndef f(a): return a.x",
    ),
    "no such method": (
        "__getattr__",
        "class A:\n    def __getattr__(self, n): return len\ndef f(a): return a.x('')",
    ),
    "every attribute": (
        "__getattribute__",
        "class A:\n    def __getattribute__(self, n): return n\ndef f(a): return a.x",
    ),
    "set attribute": ("__setattr__", "class A:\n    def __setattr__(self, n, v): pass\ndef f(a): a.x = 1"),
    "del attribute": ("__delattr__", "class A:\n    def __delattr__(self, n): pass\ndef f(a): del a.x"),
    "descriptor": (
        "__get__ __set__ __delete__",
        "class D:\n    def __get__(self, o, t): return 5\n    def __set__(self, o, v): pass\n"
        "    def __delete__(self, o): pass\nclass A:\n    d = D()\ndef f(a):\n    a.d = 1\n    del a.d\n    return a.d",
    ),
    "descriptor below the object": (
        "__get__",
        "class D:\n    def __get__(self, o, t): return 5\nclass A:\n    d = D()\ndef f(a): return a.d",
    ),
    "property": (
        "p",
        "class A:\n    @property\n    def p(self): return 1\n    @p.deleter\n    def p(self): pass\n"
        "def f(a):\n    del a.p\n    return a.p",
    ),
    "with": (
        "__enter__ __exit__",
        "class A:\n    def __enter__(self): return 1\n    def __exit__(self, *a): pass\n"
        "def f(a):\n    with a as x: y = x\n    return y",
    ),
    "call with * and **": (
        "g",
        "def g(x, y, **rest): return x\nt = (1,); k = {'y': 2, 'z': 3}\ndef f(a): return g(*t, **k)",
    ),
    "object called with *": (
        "__call__",
        "class A:\n    def __call__(self, x): return x\nt = (1,)\ndef f(a): return a(*t)",
    ),
    "class called with **": (
        "__init__",
        "class A:\n    def __init__(self, x=1): self.x = x\nk = {'x': 2}\ndef f(a): return A(**k).x",
    ),
    "class with a metaclass": (
        "__init__",
        "import abc\nclass A(abc.ABC):\n    def __init__(self, x=1): self.x = x\ndef f(a): return A(2).x",
    ),
    "metaclass called": (
        "__call__",
        "class M(type):\n    def __call__(cls, *args): return args\nclass B(metaclass=M): pass\ndef f(a): return B(2)",
    ),
    "decorator": (
        "wrapper g",
        "import functools\ndef twice(function):\n    @functools.wraps(function)\n"
        "    def wrapper(*args, **kwargs): return function(*args, **kwargs)\n    return wrapper\n"
        "@twice\ndef g(x): return x\ndef f(a): return g(x=1)",
    ),
    "partial with keywords": (
        "g",
        "import functools\ndef g(x, y): return x\np = functools.partial(g, y=2)\ndef f(a): return p(1)",
    ),
    "dataclass": (
        "__init__ __eq__",
        "import dataclasses\n@dataclasses.dataclass\nclass D:\n    x: int\ndef f(a): return D(1) == D(2), D(1) != D(1)",
    ),
}


def frames(graph: str) -> list[str]:
    """The names of the inlined frames' code."""
    return re.findall(r"^frame [1-9]\d*: <#\d+ code (.*?)>(?=[,\n])", graph, re.MULTILINE)


@pytest.mark.parametrize("form", FORMS)
def test_callees_are_in_the_graph(form: str) -> None:
    callees, source = FORMS[form]
    names: dict[str, Any] = {"__name__": __name__}
    exec(source, names)

    def argument() -> Any:
        return names["A"]() if "A" in names else 1

    recording = tagalong.record(names["f"], argument())
    found = frames(str(recording.graph))
    for callee in callees.split():
        assert any(name == callee or name.endswith("." + callee) for name in found), (
            f"{callee} is not in {found}"
        )
    expected = names["f"](argument())
    again = recording.replay(argument())
    assert type(again) is type(expected)
    assert again == expected or isinstance(expected, type(argument()))
