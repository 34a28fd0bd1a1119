"""Loops over arrays give the same as eager loops: items, scalars, stores.

The values and arrays are those where processors, Python and NumPy differ. Each case is compared as a loop program and
as machine code.
"""

from __future__ import annotations

import itertools
import math
import struct
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tagalong
from tagalong import _core

np = pytest.importorskip("numpy")
if int(np.__version__.split(".")[0]) < 2:
    pytest.skip("scalars are known from NumPy 2 on", allow_module_level=True)

FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    3.0,
    0.1,
    1e-320,
    -5e-324,
    2.2250738585072014e-308,
    1e308,
    -1e308,
    1e-200,
    2.0**53,
]
FLOATS += [math.inf, -math.inf, math.nan, 1.7976931348623157e308]
# Quiet NaNs that can be distinguished, and signalling ones.
NANS = struct.pack("4Q", 0x7FF8000000000001, 0xFFF8000000000002, 0x7FF0000000000003, 0xFFF4000000000004)
INTS = [0, 1, -1, 2, -3, 7, 63, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, -(2**62), 2**63 - 1, -(2**63)]
SMALL = [0, 1, -1, 2, -3, 7, 62, 63, 64]
ARITHMETIC = ["+", "-", "*", "/"]
OF_INTS = [*ARITHMETIC, "//", "%", "&", "|", "^"]
COMPARED = ["<", "<=", "==", "!=", ">", ">="]

VALUES = """
def f(xs, ys):
    out = []
    for i in range(len(xs)):
        x = xs[i]
        y = ys[i]
        try:
            out.append({expression})
        except (ArithmeticError, ValueError) as error:
            out.append(str(error))
    return out
"""
# Without a handler around it, so that a side exit is in the middle of a round.
SUM = """
def f(xs, ys):
    total = {start}
    out = []
    for i in range(len(xs)):
        total = total + (xs[i] {operator} ys[i])
        if total != total or total > 1e300:
            total = {start}
        out.append(total)
    return out
"""
BRANCH = """
def f(xs, ys):
    out = []
    for i in range(len(xs)):
        if xs[i] {operator} ys[i]:
            out.append(i)
        elif xs[i]:
            out.append(-i)
    return out
"""


def floats(values: list[float] = FLOATS, nans: bytes = NANS) -> Any:
    return np.concatenate([np.array(values), np.frombuffer(nans)])


def shown(value: Any) -> Any:
    """Types, bits and, for arrays, their properties."""
    if isinstance(value, (list, tuple)):
        return type(value), [shown(each) for each in value]
    if isinstance(value, np.ndarray):
        has_other_bits = value.dtype.hasobject or value.dtype.char in "gG"  # padding
        content = repr(value.tolist()) if has_other_bits else np.asarray(value).tobytes()
        return type(value), value.dtype.str, value.shape, value.strides, content
    if isinstance(value, (np.generic, float)):
        return type(value), struct.pack("d", value) if isinstance(value, float) else repr(value)
    return type(value), repr(value)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...], state: dict[str, Any]) -> Any:
    """What a call returns or raises, its warnings and callbacks."""
    called: list[Any] = []
    handler = {"call": lambda text, flag: called.append((text, flag))} if "call" in state.values() else {}
    with warnings.catch_warnings(record=True) as warned, np.errstate(**state, **handler):
        warnings.simplefilter("always")
        try:
            result: Any = shown(function(*arguments))
        except Exception as error:  # whatever eager execution raises
            result = type(error), str(error), error.__traceback__.tb_next.tb_lineno  # type: ignore[union-attr]
    told = [(each.category, str(each.message), each.lineno) for each in warned]
    return result, [shown(each) for each in arguments], told, called


def assert_same(one: Any, other: Any) -> None:
    """Shows where the values differ, not both of them in full."""
    while one != other:
        if type(one) is not type(other) or not isinstance(one, (list, tuple)) or len(one) != len(other):
            raise AssertionError(f"{one!r:.500} instead of {other!r:.500}")
        one, other = next((x, y) for x, y in zip(one, other, strict=True) if x != y)


STATES: list[dict[str, Any]] = [{}, {"all": "ignore"}, {"all": "raise"}, {"all": "call"}, {"under": "raise"}]


@pytest.fixture(params=[0, 3], ids=["interpreted", "native"])
def made_after(request: pytest.FixtureRequest) -> int:
    settings = {"loops": 1, "heat": 2, "native_after": request.param, "grow_after": 3, "retire_after": 0}
    for name, value in settings.items():
        _core.set_option(name, value)
    return int(request.param)


def compare(
    source: str,
    usual: Callable[[], tuple[Any, ...]],
    made_after: int,
    *others: Callable[[], tuple[Any, ...]],
    states: list[dict[str, Any]] = STATES,
    is_made: bool = True,
) -> None:
    """Recorded with ordinary arguments, then called with all of them."""
    eager: dict[str, Any] = {"np": np}
    names: dict[str, Any] = {"np": np}
    exec(source, eager)
    exec(source, names)
    function = tagalong.trace(names["f"])
    for _ in range(4):
        assert_same(outcome(function, usual(), {}), outcome(eager["f"], usual(), {}))
    for state, make in itertools.product(states, (*others, usual)):
        assert_same(outcome(function, make(), state), outcome(eager["f"], make(), state))
    assert tagalong.stats(function).hits > 0
    if made_after and is_made:
        assert tagalong.stats(function).limits.get("native_after", 0) > 0


def pairs(left: Any, right: Any) -> tuple[Any, Any]:
    """Every value with every other, as often as machine code needs to be made."""
    return np.repeat(left, len(right)), np.tile(right, len(left))


def plain(number: Any, count: int = 30) -> Any:
    return np.full(count, number)


USUAL = {float: (plain(2.5), plain(-1.25)), int: (plain(7), plain(3))}


@pytest.mark.parametrize("operator", [*ARITHMETIC, *COMPARED])
def test_floats(operator: str, made_after: int) -> None:
    source = VALUES.format(expression=f"x {operator} y")
    compare(source, lambda: USUAL[float], made_after, lambda: pairs(floats(), floats()))


@pytest.mark.parametrize("operator", [*OF_INTS, *COMPARED])
def test_ints(operator: str, made_after: int) -> None:
    source = VALUES.format(expression=f"x {operator} y")
    compare(source, lambda: USUAL[int], made_after, lambda: pairs(np.array(INTS), np.array(INTS)))


@pytest.mark.parametrize("operator", ["<<", ">>"])
def test_shifts(operator: str, made_after: int) -> None:
    source = VALUES.format(expression=f"x {operator} y")
    compare(source, lambda: USUAL[int], made_after, lambda: pairs(np.array(INTS), np.array(SMALL)))


@pytest.mark.parametrize("operator", [*OF_INTS, *COMPARED])
@pytest.mark.parametrize("is_left", [True, False])
def test_scalars_beside_python_numbers(operator: str, is_left: bool, made_after: int) -> None:
    """One operand is an item of an array, the other one of a list."""
    source = VALUES.format(expression=f"x {operator} y")

    def made(left: Any, right: Any) -> tuple[Any, Any]:
        left, right = pairs(left, right)
        return (left, right.tolist()) if is_left else (left.tolist(), right)

    def usual(left: Any, right: Any) -> tuple[Any, Any]:
        return (left, right.tolist()) if is_left else (left.tolist(), right)

    ints = np.array(INTS)
    for one, other in itertools.product((float, int), (float, int)):
        if (float in (one, other)) and operator in ("&", "|", "^"):
            continue
        values = {float: floats(), int: ints}
        compare(
            source,
            lambda one=one, other=other: usual(USUAL[one][0], USUAL[other][1]),
            made_after,
            lambda one=one, other=other, values=values: made(values[one], values[other]),
            states=[{}, {"all": "raise"}],
        )


@pytest.mark.parametrize("operator", ARITHMETIC)
def test_sums(operator: str, made_after: int) -> None:
    """Carried from round to round: first a Python float, then a scalar."""
    for start in ("0.0", "0", "np.float64(0.5)", "xs[0]"):
        source = SUM.format(operator=operator, start=start)
        compare(source, lambda: USUAL[float], made_after, lambda: pairs(floats(), floats()))
        if operator != "/":
            ints = np.array(SMALL)
            compare(source, lambda: USUAL[int], made_after, lambda ints=ints: pairs(ints, ints))


@pytest.mark.parametrize("operator", COMPARED)
def test_branches(operator: str, made_after: int) -> None:
    source = BRANCH.format(operator=operator)
    compare(source, lambda: pairs(plain(1.0), plain(2.0, 3)), made_after, lambda: pairs(floats(), floats()))
    ints = np.array(INTS)
    compare(source, lambda: pairs(plain(1), plain(2, 3)), made_after, lambda: pairs(ints, ints))
    bools = np.array([True, False])
    compare(source, lambda: pairs(plain(True), plain(False, 3)), made_after, lambda: pairs(bools, bools))


EXPRESSIONS = [
    "-x",
    "not x",
    "x if x else y",
    "x and y",
    "x or y",
    "(x, x)",
    "[x, y, x + y]",
    "x < y < x",
    "-x * y",
]
EXPRESSIONS += [
    "float(x)",
    "int(x)",
    "abs(x)",
    "bool(x)",
    "round(x)",
    "x.dtype",
    "str(x)",
    "math(x)",
    "x is xs[i]",
    "x ** 2",
]
EXPRESSIONS += [
    "x // y",
    "x % y",
    "divmod(x, y)",
    "x + True",
    "x == 'a'",
    "x * 1j",
    "x + 10**30",
    "x < 10**400",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_others(expression: str, made_after: int) -> None:
    source = "from math import sqrt as math\n" + VALUES.format(expression=expression).replace(
        "ValueError)", "ValueError, TypeError)"
    )
    compare(source, lambda: USUAL[float], made_after, lambda: pairs(floats(), floats()))
    ints = np.array(INTS)
    compare(source, lambda: USUAL[int], made_after, lambda: pairs(ints, ints))


# --- arrays

READ = """
def f(a, places):
    out = []
    for i in places:
        try:
            out.append(a[i])
        except (IndexError, TypeError) as error:
            out.append(str(error))
    return out
"""
READ_PAIR = """
def f(a, places):
    out = []
    for i in places:
        for j in places:
            try:
                out.append(a[i, j - 1])
            except (IndexError, TypeError) as error:
                out.append(str(error))
    return out
"""
STORE = """
def f(a, places, values):
    out = []
    for i in places:
        for value in values:
            try:
                a[i] = value
            except (IndexError, TypeError, ValueError, OverflowError, FloatingPointError) as error:
                out.append(str(error))
    return a, out
"""
STORE_PAIR = STORE.replace("a[i]", "a[i, i]")
ADD = """
def f(a, places, values):
    out = []
    for i in places:
        for value in values:
            try:
                a[i] += value
                out.append(a[i])
            except (IndexError, TypeError, ValueError, OverflowError, FloatingPointError) as error:
                out.append(str(error))
    return a, out
"""
PLACES = [*range(8), -1, -2, -8, -9, 8, 9, 2**40, -(2**63), 2**63 - 1]


def raw(dtype: str, shape: tuple[int, ...] = (8,)) -> Any:
    """Some bytes, not all zero, so that no two items are equal."""
    dtype = np.dtype(dtype)
    count = math.prod(shape)
    content = bytes((7 * i + 3) % 120 for i in range(count * dtype.itemsize))
    return np.frombuffer(bytearray(content), dtype).reshape(shape)


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def unaligned(dtype: str) -> Any:
    array = np.ndarray((8,), dtype, bytearray(8 * np.dtype(dtype).itemsize + 1), offset=1)
    array[:] = raw(dtype)
    return array


class Matrix(np.ndarray):  # type: ignore[misc]
    def __getitem__(self, key: Any) -> Any:
        return "item", super().__getitem__(key)


DTYPES = [
    "?",
    "b",
    "B",
    "h",
    "i",
    "I",
    "l",
    "L",
    "q",
    "Q",
    "e",
    "f",
    "d",
    "g",
    "F",
    "D",
    ">f8",
    ">i8",
    "M8[s]",
    "m8[s]",
]
DTYPES += ["S3", "U2", "V4", "f4,i4"]
LAYOUTS: dict[str, Callable[[], Any]] = {
    **{dtype: lambda dtype=dtype: raw(dtype) for dtype in DTYPES},
    "strided": lambda: raw("d", (24,))[::3],
    "backwards": lambda: raw("d")[::-1],
    "backwards ints": lambda: raw("l", (16,))[::-2],
    "column": lambda: raw("d", (8, 3))[:, 1],
    "repeated": lambda: np.broadcast_to(np.float64(2.5), (8,)),
    "unaligned": lambda: unaligned("d"),
    "unaligned ints": lambda: unaligned("l"),
    "read-only": lambda: read_only(raw("d")),
    "empty": lambda: np.empty(0),
    "no dimension": lambda: np.array(1.5),
    "objects": lambda: np.array([1.5, np.float64(2.5), "text", None, 3, 2**70, np.int64(4), True], object),
    "subclass": lambda: raw("d").view(Matrix),
    "matrix": lambda: np.asmatrix(raw("d", (2, 4))),
    "masked": lambda: np.ma.masked_array(raw("d"), mask=[i % 3 == 0 for i in range(8)]),
    "record": lambda: raw("f4,i4").view(np.recarray),
    "two dimensions": lambda: raw("d", (8, 8)),
    "two dimensions of ints": lambda: raw("l", (8, 8)),
    "transposed": lambda: raw("d", (8, 8)).T,
    "Fortran": lambda: np.asfortranarray(raw("d", (8, 8))),
    "windows": lambda: np.lib.stride_tricks.sliding_window_view(raw("d", (15,)), 8),
    "three dimensions": lambda: raw("d", (8, 8, 2)),
    "metadata": lambda: raw("d").astype(np.dtype("d", metadata={"a": 1})),
    "list": lambda: [1.5] * 8,
    "bytes": lambda: b"01234567",
    "dict": lambda: {0: 1.5, -1: 2},
}
BASES = {"floats": lambda: raw("d"), "ints": lambda: raw("l"), "bools": lambda: raw("?")}


@pytest.mark.parametrize("base", BASES)
def test_items_of_all_arrays(base: str, made_after: int) -> None:
    usual = list(range(8)) * 8
    others = [lambda make=make: (make(), usual + PLACES) for make in LAYOUTS.values()]
    compare(READ, lambda: (BASES[base](), usual), made_after, *others, states=[{}])
    scalars = [lambda make=make: (make(), np.array(usual + PLACES)) for make in LAYOUTS.values()]
    compare(READ, lambda: (BASES[base](), np.array(usual)), made_after, *scalars, states=[{}])


@pytest.mark.parametrize("base", BASES)
def test_items_of_all_arrays_by_two(base: str, made_after: int) -> None:
    usual = list(range(8))
    others = [lambda make=make: (make(), usual + PLACES) for make in LAYOUTS.values()]
    first = BASES[base]().dtype.str
    compare(READ_PAIR, lambda: (raw(first, (8, 8)), usual), made_after, *others, states=[{}])


VALUES_STORED: dict[str, Callable[[], list[Any]]] = {
    "floats": lambda: [1.5, -0.0, math.nan, 1e300],
    "ints": lambda: [1, -(2**63), 2**63 - 1, 2**53 + 1],
    "large ints": lambda: [1, 2**63, 10**400],
    "bools": lambda: [True, False],
    "scalars": lambda: list(floats()),
    "int64": lambda: list(np.array(INTS)),
    "numpy bools": lambda: [np.True_, np.False_],
    "others": lambda: [
        np.float32(1.5),
        np.uint8(200),
        "2.5",
        None,
        [1.0],
        np.array(3.0),
        np.array([4.0]),
        1j,
        b"7",
    ],
}


@pytest.mark.parametrize("kind", VALUES_STORED)
@pytest.mark.parametrize("base", BASES)
def test_stores_into_all_arrays(base: str, kind: str, made_after: int) -> None:
    usual = VALUES_STORED[kind]()[:1] * 6
    places = list(range(8))
    values = VALUES_STORED[kind]
    others = [lambda make=make: (make(), places + PLACES, usual + values()) for make in LAYOUTS.values()]
    for source in (STORE, ADD):
        compare(
            source, lambda: (BASES[base](), places, usual), made_after, *others, states=[{}], is_made=False
        )


@pytest.mark.parametrize("base", BASES)
def test_stores_by_two(base: str, made_after: int) -> None:
    usual = [VALUES_STORED[base]()[0]] * 20
    places = list(range(8))
    first = BASES[base]().dtype.str
    others = [lambda make=make: (make(), places + PLACES, usual) for make in LAYOUTS.values()]
    compare(STORE_PAIR, lambda: (raw(first, (8, 8)), places, usual), made_after, *others, states=[{}])


# What changes the array in the middle of the loop, in round 20; the loop then reads and writes the new one.
CHANGES = {
    "dtype": "a.dtype = '>f8'",
    "dtype to ints": "a.dtype = np.int64",
    "smaller items": "a.dtype = np.float32",
    "shape": "a.shape = (8, 8)",
    "shape of three": "a.shape = (4, 4, 4)",
    "strides": "a.strides = (0,)",
    "byteswap": "a.byteswap(inplace=True)",
    "read-only": "a.flags.writeable = False",
    "resize": "a.resize(16, refcheck=False)",
    "larger": "a.resize(1000, refcheck=False)",
    "replaced": "a = np.arange(64)",
    "replaced by a list": "a = list(range(64))",
    "given up": "a = None",
    "sorted": "a.sort()",
    "data": "a.data = np.arange(64.0).data",
}
CHANGED = """
def f(a):
    out = []
    for i in range(64):
        if i == {round}:
            {change}
        out.append(a[i])
        a[i] = a[i - 1] + 1
        a[63 - i] += 2.5
    return a, out
"""


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_array_is_changed(change: str, made_after: int) -> None:
    def usual() -> tuple[Any]:
        return (np.arange(64.0),)

    for place in (20, 0, 63, 40):
        source = CHANGED.format(change=change, round=place)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare(source, usual, made_after, states=[{}], is_made=False)
        calls = source.replace(change, "change(a)").replace("np.", "np.") + (
            f"\ndef change(a):\n    {change}\n"
        )
        compare(calls, usual, made_after, states=[{}], is_made=False)


def test_the_last_reference_dies_in_the_loop(made_after: int) -> None:
    source = """
def f(n):
    arrays = [np.full(40, float(k)) for k in range(n)]
    total = 0.0
    out = []
    while arrays:
        a = arrays.pop()
        for i in range(40):
            total += a[i]
            a[i] = total
        out.append(a[39])
    return out, total
"""
    compare(source, lambda: (5,), made_after, lambda: (40,), states=[{}])


def test_indices_of_lists_and_tuples(made_after: int) -> None:
    source = """
def f(items, places):
    out = []
    for i in range(len(places)):
        try:
            out.append(items[places[i]])
        except IndexError as error:
            out.append(str(error))
    return out
"""
    for items in ([1, 2.5, "x", None], (1, 2.5, "x", None)):
        compare(
            source,
            lambda items=items: (items, np.arange(40) % 4),
            made_after,
            lambda items=items: (items, np.array(PLACES)),
            states=[{}],
        )


ITERATED = """
def f(a, b):
    out = []
    total = 0
    for x in a:
        total += x * 2
        out.append(x)
        for y in b:
            if y > x:
                out.append(y)
            total = total - y
    return out, total
"""


@pytest.mark.parametrize("base", ["floats", "ints"])
def test_iteration_over_all_arrays(base: str, made_after: int) -> None:
    def usual() -> tuple[Any, Any]:
        return BASES[base]().repeat(4), BASES[base]()

    numbers = [make for name, make in LAYOUTS.items() if name not in ("list", "dict")]
    others = [lambda make=make: (make(), usual()[1]) for make in numbers]
    others += [lambda make=make: (usual()[0], make()) for make in numbers]
    compare(ITERATED, usual, made_after, *others, states=[{}])


WHILE_ITERATED = """
def f(a):
    out = []
    i = 0
    for x in a:
        i += 1
        if i == {round}:
            {change}
        out.append(x + 1)
        if i > 200:
            break
    return a, out
"""


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_array_is_changed_while_it_is_iterated(change: str, made_after: int) -> None:
    for place in (20, 1, 64):
        calls = WHILE_ITERATED.format(change="change(a)", round=place) + f"\ndef change(a):\n    {change}\n"
        compare(calls, lambda: (np.arange(64.0),), made_after, states=[{}], is_made=False)


def test_iterators_that_live_on(made_after: int) -> None:
    """One iterator for two loops; it releases its array at the end, not before."""
    source = """
def f(n):
    out = []
    a = np.arange(float(n))
    items = iter(a)
    for x in items:
        if x > n - 10:
            break
        out.append(x)
    for x in items:
        out.append(x)
    for x in items:
        out.append(x)
    out.append(items.__reduce__()[1])
    return out
"""
    compare(source, lambda: (50,), made_after, lambda: (5,), lambda: (0,), states=[{}])


@pytest.mark.parametrize(
    "name", ["sqrt", "sin", "exp", "log", "fabs", "floor", "ceil", "abs", "int", "float", "len"]
)
@pytest.mark.parametrize("base", [float, int])
def test_known_functions(name: str, base: type, made_after: int) -> None:
    source = "from math import *\n" + VALUES.format(expression=f"{name}(x)").replace(
        "ValueError)", "ValueError, TypeError)"
    )
    special = {float: floats(), int: np.array(INTS)}
    compare(source, lambda: USUAL[base], made_after, lambda: pairs(special[base], plain(1.0, 3)))


def test_nothing_is_kept(made_after: int) -> None:
    """Scalars that are boxed at side exits, including the last item of an iteration."""

    def f(a: Any, rows: Any) -> Any:
        total = 0.0
        seen = None
        for row in rows:
            for x in row:
                total += x
            for i in range(len(a)):
                y = a[i] * 2
                flag = y > x
                if flag:
                    seen = y, flag
                a[i] = y - a[i]
        return total, x, seen

    function = tagalong.trace(f)
    rows = [np.linspace(0.0, 1.0, 20), np.arange(20.0)]
    a = np.linspace(0.0, 3.0, 40)
    for _ in range(60):
        function(a, rows)
    growth = []
    for _ in range(3):  # what is made once, such as a trial or machine code, is in one of the windows only
        before = sys.getallocatedblocks()
        for _ in range(400):
            function(a, rows)
        growth.append(sys.getallocatedblocks() - before)
    assert min(growth) < 100, growth
