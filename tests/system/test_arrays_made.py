"""Objects that are made between array operations, and containers that get results, do not end a fusion group."""

from __future__ import annotations

import contextlib
import gc
import sys
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import NUMPY_2, described, with_room
from chains_support import FusionRuns, both, check, operations
from tagalong import _core

WARM_UP = 6
CLASSES = """
class Vec:
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)
    def times(self, k):
        return Vec(self.x * k, self.y * k)
    def dot(self, other):
        return self.x * other.x + self.y * other.y
class Slots:
    __slots__ = ("x", "y")
    def __init__(self, x, y):
        self.x, self.y = x, y
class Watched(Vec):
    def __del__(self):
        seen.append("end")
"""


@pytest.fixture(autouse=True)
def fusion() -> None:
    FusionRuns.begin()


def operands(size: int = 50) -> list[Any]:
    a = np.linspace(0.5, 2.0, size)
    return [a, a[::-1].copy(), 0.75, 3]


# Each between two operations; its value is `k`.
MADE = {
    "zeros": "k = np.zeros(len(a))",
    "zeros of a dtype": "k = np.zeros(a.shape, dtype=np.float32)",
    "ones": "k = np.ones(len(a))",
    "full": "k = np.full(len(a), s)",
    "arange": "k = np.arange(len(a))",
    "zeros_like": "k = np.zeros_like(b)",
    "ones_like": "k = np.ones_like(b)",
    "full_like": "k = np.full_like(b, s)",
    "copy": "k = b.copy()",
    "cumsum": "k = b.cumsum()",
    "transpose": "k = b.T",
    "float32": "k = np.float32(s)",
    "float64": "k = np.float64(n)",
    "int64": "k = np.int64(n)",
    "int of a number": "k = int(s)",
    "float of NumPy's number": "k = float(a[0])",
    "range": "k = len(range(n))",
    "a list": "k = [s, n, a]\n    k = k[0]",
    "a list that grows": "l = [s]\n    l.append(n)\n    k = s",
    "an instance": "k = Vec(s, n)\n    k = k.x",
    "an instance with slots": "k = Slots(s, n)\n    k = k.x",
}

# NumPy 1.26 has ones() and full() as plain functions, which are inlined, and a float() that the engine leaves alone.
WITH_NUMPY_2 = {MADE[name] for name in ("ones", "full", "float of NumPy's number")}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
@pytest.mark.parametrize("place", ["straight", "loop"])
def test_what_is_made_is_part_of_the_group(made: str, place: str) -> None:
    head, tail = f"    v = a * b + s\n    {made}\n", "(v - a) * k + b"
    if place == "loop":
        head = "    for _ in range(6):\n" + "".join(f"    {line}\n" for line in head.splitlines())
        source = f"def f(a, b, s, n):\n{head}        a = {tail}\n    return a\n"
    else:
        source = f"def f(a, b, s, n):\n{head}    return {tail}, k\n"
    eager, traced = both(CLASSES + source)
    for size in (50,) * WARM_UP + (1, 7, 3000):
        check(eager, traced, lambda size=size: operands(size))
    if NUMPY_2 or made not in WITH_NUMPY_2:
        assert 5 in operations(traced), tagalong.explain(traced)


@pytest.mark.parametrize(
    ("made", "values"),
    [
        ("np.zeros(n)", [5, -1]),
        ("np.zeros((5, n))[:, 0]", [1, 1 << 60]),
        ("np.arange(n)", [5, 1 << 62]),
        ("np.full(5, n)", [5, "x"]),
        ("np.float32(n)", [5, 1e300]),
        ("np.uint8(n)", [5, 300]),
        ("np.uint8(n)", [5, -1]),
        ("np.int64(n)", [5, 1 << 63]),
        ("int(n)", [2.5, float("nan")]),
        ("int(n)", [2.5, "x"]),
        ("Vec(n)", [5, 5]),
    ],
)
@pytest.mark.parametrize("errstate", [{"all": "warn"}, {"all": "raise"}, {"all": "call"}], ids=str)
def test_exceptions_and_warnings_keep_their_order(
    made: str, values: list[Any], errstate: dict[str, Any]
) -> None:
    """An operation on arrays in front reports first."""
    eager, traced = both(
        f"{CLASSES}def f(x, y, n):\n    v = x / y\n    w = v * {made}\n    return w + v / y\n"
    )
    for y in (1.0, 1.0, 1.0, 1.0, 0.0, 1.0):
        for value in (values[0], values[0], values[1], values[0]):
            check(eager, traced, lambda y=y, value=value: [np.arange(5.0), np.full(5, y), value], errstate)


STORED = {
    "a list": "l.append(v)\n    w = v * b - a\n    l.append(w)\n    return w + v",
    "a list that is read": "l.append(v)\n    w = (v * b - a) * len(l)\n    l.append(w)\n    return w + l[0]",
    "a list of numbers": "l.append(s)\n    l.append(n)\n    return v * l[-1] + a * l[-2]",
    "one list by two names": "m = l\n    l.append(v)\n    k = len(m)\n    return (v * k + a) * len(l)",
    "an item": "d['v'] = v\n    d['w'] = d['v'] * b - a\n    return d['w'] + d['v'] * d['s']",
    "an item by a variable": "key = 'v' if n else 'w'\n    d[key] = v\n    return v * d['v'] - d['w'] * d[key]",
    "a new item": "d['new'] = v\n    return v * b - d['new']",
    "an item of a number": "d[n] = v\n    return v * b - d[n]",
    "a dict that is read": "d['v'] = v\n    w = v * len(d) - a\n    return w * d.get('s') + b",
    "two dicts": "e = d\n    d['v'] = v\n    e['w'] = v * b\n    return d['w'] - e['v'] * s",
}


@pytest.mark.parametrize("body", STORED.values(), ids=STORED)
@pytest.mark.parametrize("old", ["array", "number", "object"])
def test_containers_that_get_results(body: str, old: str) -> None:
    eager, traced = both(f"def f(a, b, s, n, l, d):\n    v = a * b + s\n    {body}\n")

    def containers() -> list[Any]:
        values: dict[str, Any] = {"array": np.zeros(3), "number": 1.5, "object": SimpleNamespace()}
        return [[], {"v": values[old], "w": values[old], "s": 0.5, 3: 1}]

    for size in (50,) * WARM_UP + (1, 7, 3000):
        results = []
        for function in (eager, traced):
            kept = containers()
            result: Any = None
            try:
                for _ in range(2):
                    result = function(*operands(size), *kept)
            except Exception as error:  # noqa: BLE001 - whatever it is, it has to be the same
                result = (type(error), str(error))
            items = [*kept[0], *kept[1].values()]
            counts = [sys.getrefcount(item) for item in items if isinstance(item, np.ndarray)]
            results.append(([described(x) for x in (result, *items)], list(kept[1]), counts))
        if old != "object":
            assert results[0] == results[1]
    assert tagalong.stats(traced).hits > 0


def test_results_in_a_list_are_part_of_the_group() -> None:
    source = "def f(a, b, s, n, l, d):\n    v = a * b\n    l.append(v)\n    d['v'] = v - a\n    return v + d['v']\n"
    eager, traced = both(source)
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [*operands(), with_room(2), {"v": 0}])
    assert operations(traced) == [3], tagalong.explain(traced)


def test_keys_that_run_code() -> None:
    """A key whose comparison is code of the program, in a dict whose other keys are strings."""
    log: list[Any] = []

    class Key(str):
        def __eq__(self, other: object) -> bool:
            log.append("equal")
            return str(self) == other

        __hash__ = str.__hash__

    eager, traced = both("def f(a, d):\n    v = a * 2.0\n    d['v'] = v + a\n    return v - d['v']\n")
    for number in range(3 * WARM_UP):
        d = {Key("v"): 0} if number > WARM_UP else {"v": 0}
        seen = []
        for function in (eager, traced):
            log.clear()
            function(np.ones(9), dict(d))
            seen.append(list(log))
        assert seen[0] == seen[1]


def test_old_items_die_as_written() -> None:
    source = "def f(x, d):\n    v = x * 2.0\n    d['v'] = v + x\n    note()\n    w = v * x\n    return w - d['v']\n"
    for with_death in (False, True):
        seen: list[Any] = []
        eager, traced = both(source, note=lambda seen=seen: seen.append("note"))
        for function in (eager, traced):
            d: dict[str, Any] = {"v": np.zeros(4)}
            for number in range(WARM_UP):
                if with_death:
                    weakref.finalize(d["v"], seen.append, f"death {number}")
                function(np.ones(4), d)
            d.clear()
            seen.append("end")
        middle = seen.index("end")
        assert seen[:middle] == seen[middle + 1 : -1]


def test_lists_without_room_for_more() -> None:
    """Lists grow in eager execution, so their sizes are as written, too."""
    eager, traced = both(
        "def f(a, l):\n    v = a * 2.0\n    l.append(v + a)\n    l.append(v)\n    return v - a\n"
    )
    for length in range(40):
        lists = [with_room(length), with_room(length)]
        x = np.ones(9)
        for function, items in zip((eager, traced), lists, strict=True):
            function(x, items)
        assert len(lists[0]) == len(lists[1]) == length + 3
        assert [described(x) for x in lists[0]] == [described(x) for x in lists[1]]
        assert sys.getsizeof(lists[0]) == sys.getsizeof(lists[1])
    assert 3 in operations(traced), tagalong.explain(traced)


def test_a_list_that_is_sorted() -> None:
    source = "def f(a, l):\n    v = a * 2.0\n    w = v / a\n    l.append(w + v)\n    return v - w\n"
    eager, traced = both(source)
    for function in (eager, traced):
        for _ in range(WARM_UP):
            function(np.ones(8), [])

        def key(item: int, function: Any = function) -> int:
            with contextlib.suppress(FloatingPointError):
                function(np.zeros(8), items)
            return item

        items = [3, 1, 2]
        with np.errstate(all="raise"):
            items.sort(key=key)
        assert items == [1, 2, 3]


OBJECTS = {
    "sums": "u = Vec(a, b) + Vec(b, a).times(s)\n    return u.x * u.y - a",
    "a product": "return (Vec(a, b) + Vec(b, a).times(s)).dot(Vec(a, a))",
    "an instance that is returned": "u = Vec(a * s, b)\n    u.x = u.x + u.y\n    return u.x, u.y * a, u",
    "instances in an instance": "u = Vec(Vec(a, b), Vec(b, a))\n    return u.x.x * u.y.y + u.x.dot(u.y), u",
    "an instance in a list": "u = Vec(a * s, b)\n    l = [u]\n    v = u.x * b\n    return v - a, l",
    "an attribute that is missing": "u = Vec(a, b)\n    v = a * b + s\n    return v * u.z",
    "slots": "u = Slots(a * s, b + a)\n    return u.x * u.y - a, u",
    "attributes of two instances": (
        "u, v = Vec(a, b), Vec(b, a)\n    u.x = a * s\n    v.x = u.x + b\n    return u.x * v.x - u.y"
    ),
}


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return described(value)
    names = getattr(type(value), "__slots__", None) or list(getattr(value, "__dict__", ()))
    return [type(value).__name__, list(names), [plain(getattr(value, name)) for name in names]]


@pytest.mark.parametrize("body", OBJECTS.values(), ids=OBJECTS)
def test_instances_that_are_made(body: str) -> None:
    eager, traced = both(f"{CLASSES}def f(a, b, s, n):\n    {body}\n")
    for size in (50,) * WARM_UP + (1, 7, 3000):
        seen = []
        for function in (eager, traced):
            try:
                seen.append(plain(function(*operands(size))))
            except AttributeError as error:
                seen.append(str(error))
        assert seen[0] == seen[1]
    assert sum(operations(traced)) >= 2, tagalong.explain(traced)


def test_instances_do_not_end_groups() -> None:
    body = OBJECTS["a product"]
    eager, traced = both(f"{CLASSES}def f(a, b, s, n):\n    {body}\n")
    for _ in range(WARM_UP):
        check(eager, traced, operands)
    assert operations(traced) == [7], tagalong.explain(traced)


def test_ends_of_instances_are_seen() -> None:
    """A class with a finaliser."""
    seen: list[str] = []
    eager, traced = both(
        f"{CLASSES}def f(a, b, s, n):\n    v = a * b\n    u = Watched(v + s, b)\n    v = v * u.x\n    del u\n"
        "    seen.append('note')\n    return v - a\n",
        seen=seen,
    )
    for _ in range(WARM_UP):
        check(eager, traced, operands)
    assert seen == ["end", "note"] * 2 * WARM_UP


def test_the_collector_runs_where_it_would() -> None:
    """With thresholds at which each new container may start it."""
    thresholds = gc.get_threshold()
    eager, traced = both(f"{CLASSES}def f(a, b, s, n):\n    {OBJECTS['sums']}\n")
    try:
        for threshold in (1, 2, 5, 700):
            gc.set_threshold(threshold)
            for _ in range(WARM_UP):
                check(eager, traced, operands)
    finally:
        gc.set_threshold(*thresholds)


class Model:
    """Attributes that are arrays."""

    def __init__(self, size: int) -> None:
        self.x, self.y, self.z = np.linspace(0, 1, size), np.linspace(1, 2, size), np.ones(size)


REPLACED = {
    "other attributes": "m.x = m.y * s + m.z\n    m.z = m.y * n - m.x\n    return m.z * 2.0",
    "a filter": "y = m.x * s + m.y\n    m.x = m.y - m.z * y\n    m.y = m.z * s - m.x * y\n    return y",
    "variables in a loop": (
        "t = m.x * 0.0\n    for k in range(8):\n        t += m.x * m.y\n        v = m.z * t + m.y * s\n    return t, v"
    ),
}


@pytest.mark.parametrize("body", REPLACED.values(), ids=REPLACED)
@pytest.mark.parametrize("size", [9, 40_000])
def test_attributes_behind_stored_attributes(body: str, size: int) -> None:
    """Operands that are not what an attribute or a variable has lost stay in the group."""
    eager, traced = both(f"def f(m, s, n):\n    {body}\n")
    one, other = Model(size), Model(size)
    for _ in range(2 * WARM_UP):
        assert plain(eager(one, 0.5, 3)) == plain(traced(other, 0.5, 3))
        # `vars(one)` would make a dict, where the group does not find attributes.
        assert plain([one.x, one.y, one.z]) == plain([other.x, other.y, other.z])
    assert max(operations(traced)) >= 4, tagalong.explain(traced)


@pytest.mark.parametrize("shape", [(7, 5), (70, 1200)])
def test_operands_that_have_lost_their_attribute(shape: tuple[int, int]) -> None:
    """Eager NumPy computes into a large operand that the attribute has held until then: its layout stays."""
    eager, traced = both(
        "def taken(m):\n    x, m.x = m.x, m.y\n    return x\n"
        "def f(m, c):\n    m.z = c + 1.0\n    v = taken(m) + c\n    return 2.0 * v - m.z\n"
    )
    a, b = np.asfortranarray(np.random.default_rng(1).uniform(size=shape)), np.ones(shape)
    for number in range(3 * WARM_UP):
        seen = []
        for function in (eager, traced):
            m = SimpleNamespace(x=a * 1, y=b, z=b)
            kept = m.x if number % 3 == 0 else None
            seen.append(described(function(m, b)))
            del kept
        assert seen[0] == seen[1]


@pytest.mark.parametrize("count", [200_000])
def test_large_arrays_are_made_when_eager_makes_them(count: int) -> None:
    """A group does not hold several that eager execution has one after another."""
    source = (
        "def f(a, b):\n    v = a + b\n    v = v * np.ones_like(a)\n    v = v - np.ones_like(a)\n"
        "    v = v * np.ones_like(a)\n    return v + b\n"
    )
    eager, traced = both(source)
    x = np.linspace(0.0, 1.0, count)
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [x, x])
    assert max(operations(traced)) < 5, tagalong.explain(traced)


def test_the_report_names_builtins() -> None:
    source = (
        "def f(x, n):\n    for k in range(n):\n        x = x * 2.0 + 1.0\n    for j in range(n):\n"
        "        y = x * 0.5 - j\n        for k in map(str, range(n)):\n            x = x * 2.0 + y\n    return x\n"
    )
    eager, traced = both(source)
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [np.ones(9), 4])
    text = str(tagalong.explain(traced))
    assert "a call of `ii" not in text and "a call of `oo" not in text, text
    assert _core.counter("groups_run") > FusionRuns.before
