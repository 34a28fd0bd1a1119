"""Numbers, attributes, items and shapes between array operations do not end a fusion group."""

from __future__ import annotations

import math
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import array_scalar_programs
import tagalong
from arrays_support import NUMPY_2
from chains_support import FusionRuns, both, check, operations

WARM_UP = 6
NAMES: dict[str, Any] = {"np": np}
exec(compile(array_scalar_programs.HELPERS, "<helpers>", "exec"), NAMES)  # noqa: S102
READING = array_scalar_programs.NUMBERS[: array_scalar_programs.USUAL]
# Functions that are written in Python, or whose call NumPy or an iterator has to make.
NOT_FUSED = {
    "round(s)",
    "np.float64(n)",
    "a.reshape(-1)[0]",
    "float(b.reshape(-1)[1])",
    "m.inner.scale / n",
    "int(s)",
}
NOT_FUSED.add("n // 2 + n % 2")  # the remainder may be the object of the left operand
if not NUMPY_2:
    # Before 2.0 the dtype of a result depends on the values of scalars, so NumPy computes with its own scalars.
    NOT_FUSED |= {number for number in READING if number.count("m.inner.s") and set(number) & set("*/<")}


@pytest.fixture(autouse=True)
def fusion() -> None:
    FusionRuns.begin()


def operands(size: int = 50) -> list[Any]:
    a = np.linspace(0.5, 2.0, size)
    return [a, a[::-1].copy(), a * 2, 0.75, 3, NAMES["Model"](a), {"dt": 0.5, "steps": 3}]


@pytest.mark.parametrize("number", READING)
@pytest.mark.parametrize("place", ["straight", "loop"])
def test_number_is_part_of_the_group(number: str, place: str) -> None:
    head, tail = (
        "def f(a, b, c, s, n, m, p):\n    k = lambda: v\n    v = s\n",
        f"(a + b) * ({number}) - c * b",
    )
    source = f"{head}    return {tail}\n"
    if place == "loop":
        source = f"{head}    for _ in range(6):\n        a = {tail}\n    return a\n"
    eager, traced = both(source, **NAMES)
    for _ in range(WARM_UP):
        check(eager, traced, operands)
    for size in (1, 7, 3000):
        check(eager, traced, lambda size=size: operands(size))
    if number not in NOT_FUSED:
        assert 4 in operations(traced), tagalong.explain(traced)


PROGRAMS = {
    "arrays of objects": "return (m.weights * m.rate + a) * m.inner.count - m.weights",
    "methods": "return (a * m.decay(s) + b) * m.decay(s) - a",
    "a method and a slice": "return (a[1:] * m.rate + b[:-1]) * p['dt'] - a[:-1] * m.gravity",
    "an item of a parameter": "return (a - a[0]) / (a[-1] - a[0]) * b[2]",
    "attributes that are stored": "m.weights = m.weights * m.rate + a\n    m.rate = m.rate * 0.5\n"
    "    m.weights = m.weights - b * m.rate\n    return m.weights + a",
    "attributes of two objects": "m.weights = a + b\n    m.inner.weights = m.weights * 2.0\n"
    "    return m.inner.weights - m.weights + m.inner.count",
    "an attribute in place": "m.weights += a * s\n    m.weights *= b\n    return m.weights + a",
    "tuples": "d, e = a * s, b + n\n    g, h = p['dt'], (m.rate, d)\n    k, l = h\n    return d * e + g * k - l",
    "a condition": "return (a + b) * (s if s > 0.5 else n) + (c if n == 3 else a)",
    "in-place operators": "a *= m.rate\n    a += b * p['dt']\n    return a * s",
    "assigned slices": "b[1:-1] = (a[2:] - a[:-2]) * p['dt'] / (2 * m.rate) + b[1:-1] * s ** 2\n    return b",
    "reductions": "return ((a * m.rate).sum() + len(a)) * b + a.shape[0]",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    eager, traced = both(f"def f(a, b, c, s, n, m, p):\n    {PROGRAMS[name]}\n", **NAMES)
    for size in (50,) * WARM_UP + (7, 3000):
        check(eager, traced, lambda size=size: operands(size))
    assert sum(operations(traced)) >= 2, tagalong.explain(traced)


def test_functions_that_are_called_more_than_once() -> None:
    source = (
        "def inner(x, y):\n    a = x * y + k\n    return np.sqrt(a * a + x) * x - y\n"
        "def f(x, y):\n    return inner(x, y) + inner(y, x) - inner(x, x)\n"
    )
    eager, traced = both(source, k=1.5)
    for number in range(2 * WARM_UP):
        if number % WARM_UP == 0:
            traced.__globals__["k"] = number + 0.5
        check(eager, traced, lambda: operands()[:2])
    assert max(operations(traced)) == 23, tagalong.explain(traced)


def test_elements_are_read_behind_writes() -> None:
    source = (
        "def f(a, b, c, s, n, m, p):\n    a *= 2.0\n    b = b + c\n    d = b * a[0]\n    m.weights[:] = d\n"
        "    return d * m.weights[1] - a[0]\n"
    )
    eager, traced = both(source, **NAMES)
    for _ in range(WARM_UP):
        check(eager, traced, operands)
    assert tagalong.stats(traced).hits > 0


class Box:
    """An object with an attribute that programs store."""

    v: Any


class Watched(Box):
    log: list[Any]

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "v":
            self.log.append(float(value[0]))


class Slots:
    __slots__ = ("v",)
    v: Any


class Property:
    def __init__(self) -> None:
        self.kept: list[Any] = []

    @property
    def v(self) -> Any:
        return self.kept[-1]

    @v.setter
    def v(self, value: Any) -> None:
        self.kept.append(value * 2)


STORING = (
    "def f(x, o, p):\n    o.v = x * 2.0 + 1.0\n    p.v = o.v * x - x\n    o.v = o.v + p.v * 0.5\n"
    "    return o.v - p.v, o.v is p.v\n"
)


@pytest.mark.parametrize(
    "kinds", [(Box, Box), (Slots, Slots), (Watched, Box), (Property, Slots), (Box, None)]
)
def test_stored_attributes(kinds: tuple[Any, Any]) -> None:
    """Of two objects, or of one twice; of classes that run code when an attribute is stored."""

    def objects() -> list[Any]:
        one = kinds[0]()
        other = one if kinds[1] is None else kinds[1]()
        for each in (one, other):
            if isinstance(each, Watched):
                each.__dict__["log"] = []
            each.v = np.zeros(3)
        return [one, other]

    eager, traced = both(STORING)
    x = np.linspace(1.0, 2.0, 9)
    kept, kept_too = objects(), objects()
    for number in range(4 * WARM_UP):
        if number % 5 == 0:
            kept, kept_too = objects(), objects()
        if number == 2 * WARM_UP:
            kept, kept_too = [kept[0], kept[0]], [kept_too[0], kept_too[0]]
        expected, actual = eager(x, *kept), traced(x, *kept_too)
        assert expected[0].tobytes() == actual[0].tobytes()
        assert expected[1] is actual[1]
        for one, other in zip(kept, kept_too, strict=True):
            assert one.v.tobytes() == other.v.tobytes()
            assert getattr(one, "log", None) == getattr(other, "log", None)
            assert len(getattr(one, "kept", ())) == len(getattr(other, "kept", ()))
    assert tagalong.stats(traced).hits > 0


def test_old_values_of_stored_attributes_die_as_written() -> None:
    source = (
        "def f(x, o):\n    o.v = x * 2.0 + 1.0\n    note()\n    o.v = o.v * x - 1.0\n    return o.v + x\n"
    )
    for with_death in (False, True):
        seen: list[Any] = []
        eager, traced = both(source, note=lambda seen=seen: seen.append("note"))
        for function in (eager, traced):
            box = Box()
            box.v = np.zeros(4)
            for number in range(WARM_UP):
                if with_death:
                    weakref.finalize(box.v, seen.append, f"death {number}")
                function(np.ones(4), box)
            box.v = None
            seen.append("end")
        middle = seen.index("end")
        assert seen[:middle] == seen[middle + 1 : -1]


def test_attributes_are_unchanged_where_an_operation_raises() -> None:
    source = (
        "def f(x, y, o):\n    o.v = x * 2.0 + 1.0\n    o.v = o.v / y\n    o.v = o.v + x\n    return o.v\n"
    )
    eager, traced = both(source)
    for y in (1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0):
        left = []
        for function in (eager, traced):
            box = Box()
            box.v = np.zeros(4)
            with np.errstate(divide="raise"):
                try:
                    function(np.ones(4), np.full(4, y), box)
                except FloatingPointError as error:
                    left.append(str(error))
            left.append(box.v.tobytes())
        assert left[: len(left) // 2] == left[len(left) // 2 :]
    assert tagalong.stats(traced).hits > 0


def test_what_is_read_changes_between_calls() -> None:
    eager, traced = both("def f(x, o, d):\n    return (x + o.k) * d['k'] - o.k\n")
    holder, items, x = SimpleNamespace(k=1.5), {"k": 2}, np.arange(9.0)
    for k in (
        1.5,
        1.5,
        1.5,
        1.5,
        2,
        np.float32(3),
        True,
        "k",
        None,
        1 + 2j,
        np.arange(9),
        [1.0] * 9,
        2.5,
        2.5,
    ):
        for target in (holder, items):
            if target is holder:
                holder.k = k
            else:
                items["k"] = k
            check(eager, traced, lambda: [x, holder, items])
    assert tagalong.stats(traced).hits > 0


class Counting:
    """Attributes that count how often they are read."""

    def __init__(self) -> None:
        self.reads = 0

    @property
    def value(self) -> float:
        self.reads += 1
        return float(self.reads)

    def __len__(self) -> int:
        self.reads += 1
        return self.reads

    def __getitem__(self, key: Any) -> int:
        self.reads += 1
        return self.reads

    def __float__(self) -> float:
        self.reads += 1
        return float(self.reads)


@pytest.mark.parametrize("number", ["o.value", "len(o)", "o[0]", "math.sqrt(o)", "abs(-o.value)"])
def test_code_of_the_program_runs_once(number: str) -> None:
    eager, traced = both(f"def f(x, o):\n    return (x + 1.0) * {number} - x * {number}\n", math=math)
    x = np.arange(9.0)
    for _ in range(WARM_UP):
        one, other = Counting(), Counting()
        assert eager(x, one).tobytes() == traced(x, other).tobytes()
        assert one.reads == other.reads == 2
    assert tagalong.stats(traced).hits > 0


@pytest.mark.parametrize(
    ("number", "values"),
    [
        ("1 / s", [2.0, 0.0]),
        ("math.sqrt(s)", [2.0, -1.0]),
        ("l[s]", [0, 5]),
        ("d[s]", [0, 5]),
        ("np.float64(1e308) * s", [0.5, 1e10]),
        ("np.exp(s)", [0.5, 1e10]),
        ("s ** s", [2.0, 1e300]),
        ("np.sqrt(s)", [2, -1]),
        ("np.radians(s)", [315, 0]),
        ("np.log2(s)", [8, 0]),
        ("np.arcsin(s)", [0.5, 2.0]),
        ("np.cosh(s)", [1, 1000]),
    ],
)
@pytest.mark.parametrize("errstate", [{"all": "warn"}, {"all": "raise"}, {"all": "call"}], ids=str)
def test_exceptions_and_warnings_keep_their_order(
    number: str, values: list[Any], errstate: dict[str, Any]
) -> None:
    """An operation on arrays in front of the number reports first."""
    source = f"def f(x, y, s):\n    v = x / y\n    w = v * ({number})\n    return w + v / y\n"
    eager, traced = both(source, math=math, l=[1.5], d={0: 2.5})
    for y in (1.0, 1.0, 1.0, 1.0, 0.0, 1.0):
        for value in (values[0], values[0], values[1], values[0]):
            check(eager, traced, lambda y=y, value=value: [np.arange(5.0), np.full(5, y), value], errstate)
    assert tagalong.stats(traced).hits > 0


@pytest.mark.parametrize(
    "number", ["sqrt(n)", "radians(n)", "deg2rad(s)", "log1p(s)", "cbrt(n)", "arcsin(s)"]
)
def test_functions_of_one_number(number: str) -> None:
    eager, traced = both(f"def f(a, n, s):\n    b = a * np.{number}\n    return b + a * np.{number}\n")
    for n, s in [(3, 0.25), (315, 0.5), (2**60 + 1, 0.75)] * WARM_UP:
        check(eager, traced, lambda n=n, s=s: [np.arange(9.0), n, s])
    assert operations(traced) == [3], tagalong.explain(traced)


@pytest.mark.parametrize("item", ["b[0] * b[1] - b[-1]", "b[0] + b[-3]"])
def test_items_of_a_tuple_of_results(item: str) -> None:
    source = (
        f"def g(a, c):\n    return a * 2.0, a + c, a - c\ndef f(a, c):\n    b = g(a, c)\n    return {item}\n"
    )
    eager, traced = both(source)
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [np.arange(9.0), np.arange(9.0) + 1])
    assert len(operations(traced)) == 1, tagalong.explain(traced)


@pytest.mark.parametrize("bits", [0x7F800001, 0xFF800123, 0x7FC00001])
@pytest.mark.parametrize("source", ["np.fmod(s, np.fmod(s, x))", "x * s + s", "np.maximum(x, s) - s"])
def test_nans_that_are_converted(source: str, bits: int) -> None:
    """Eager NumPy reports the conversion of a signalling NaN."""
    number = np.array(bits, np.uint32).view(np.float32)[()]
    eager, traced = both(f"def f(x, s):\n    return {source}\n")
    for s in (np.float32(1.5), np.float32(1.5), np.float32(1.5), number, number):
        check(eager, traced, lambda s=s: [np.arange(9.0), s])


def test_new_objects_are_new() -> None:
    source = (
        "def f(x, o):\n    y = x + o.k\n    a, b = x.shape, x.shape\n    c = o.k * 2\n    d = o.k * 2\n"
        "    return y * a[0] + b[0], a is b, c is d, o.k is o.k\n"
    )
    eager, traced = both(source)
    holder = SimpleNamespace(k=1.5)
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [np.arange(9.0), holder])


def test_globals_that_change_do_not_cost_the_plan() -> None:
    """A builtin stays known while other global variables are bound."""
    eager, traced = both("def f(x):\n    return (x + len(x)) * abs(-2.5) - x\n")
    for number in range(30):
        traced.__globals__["other"] = number
        check(eager, traced, lambda: [np.arange(9.0) - 4])
    assert operations(traced) == [3], tagalong.explain(traced)


def test_functions_with_other_closures() -> None:
    """A function that is called between array operations is another one, with fewer or more free variables."""
    source = "def f(x, g):\n    y = x + 1.0\n    k = g()\n    return y * k - x * g()\n"
    eager, traced = both(source)

    def with_closure(value: float) -> Any:
        other = value * 2
        return lambda: value + other

    def without() -> float:
        return 2.5

    def with_defaults(k: float = 0.5, n: int = 3) -> float:
        return k + n

    for g in (
        with_defaults,
        with_closure(1.5),
        with_closure(2.5),
        with_closure(0.5),
        without,
        without,
        with_closure(1.5),
        abs,
        len,
    ):
        for _ in range(WARM_UP):
            check(eager, traced, lambda g=g: [np.arange(9.0), g])


def test_names_for_one_object_in_a_loop() -> None:
    """Objects get other names between array operations, and keep them behind the group."""
    source = (
        "def f(x, o, n):\n    a, b = x, o\n    for k in range(n):\n        y = a + b.k\n        pair = (a, b)\n"
        "        c, d = pair\n        z = y * d.k - c\n        a, b = z, d\n        e = c\n"
        "    return a, b is o, e, c.sum()\n"
    )
    eager, traced = both(source)
    for k in (1.5, 2, np.float32(0.5), 2.5, 1.5):
        for n in (1, 2, 20, 20):
            check(eager, traced, lambda k=k, n=n: [np.arange(9.0), Keeps(k), n])


class Keeps:
    def __init__(self, k: Any) -> None:
        self.k = k

    def __repr__(self) -> str:
        return "Keeps"
