"""Deferred arrays in calls that are being recorded.

Operations of large arrays are deferred until another operation takes their results, and are then computed as one fusion
group. The program cannot tell, except by the time that it takes.
"""

from __future__ import annotations

import gc
import sys
import traceback
import warnings
import weakref
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, described, sample
from chains_support import WAITING_LAYOUTS, Outcome, both, compare_in_layout, deaths
from chains_support import compare_first_calls as compare
from tagalong import _core, testing

LARGE = 40_000
SIGNS = "+ - * / // % ** & | ^ << >> < <= == != > >=".split()
CODES = "?bBhHiIlLqQefdgFDG"


@pytest.fixture(autouse=True)
def everything_is_deferred() -> None:
    """Defers also where the next operation is faster than planning a fusion group."""
    _core.set_option("fusion", 2)
    _core.set_option("min_deferred", 1)


def two(code: str = "d", other: str = "", size: int = LARGE) -> Callable[[], list[Any]]:
    made = [sample(code, (size,), "ordinary"), sample(other or code, (size,), "special")]
    return lambda: [array.copy() for array in made]


@pytest.mark.parametrize("code", CODES)
def test_pairs_of_operators(code: str) -> None:
    as_one = 0
    for number, sign in enumerate(SIGNS):
        for next_sign in SIGNS[number % 3 :: 3]:
            as_one += compare(f"def f(x, y):\n    return (x {sign} y) {next_sign} x", two(code))[0]
            as_one += compare(f"def f(x, y):\n    return y {next_sign} (x {sign} 3)", two(code, "d"))[0]
    for sign in "+-~":
        as_one += compare(f"def f(x, y):\n    return {sign}(x + y), ({sign}x) * y", two(code))[0]
    if code in "ilqfd":
        assert as_one >= 50


@pytest.mark.parametrize("layout", WAITING_LAYOUTS)
@pytest.mark.parametrize("is_left", [True, False])
@pytest.mark.parametrize("source", ["x * y + x - 2.0", "-(x - y) * (y + x) > x", "x - y * (x + 3)"])
def test_layouts(source: str, layout: str, is_left: bool) -> None:
    compare_in_layout(source, layout, LARGE, is_left=is_left)


SEVERAL_LINES = """
def f(x, y, i):
    a = x + y
    b = (
        x
        / y
        +
        np.pi * x
        -
        i
        // 0
        *
        (x * 1e300) *
        1e300
    )
    return a, b
"""


@pytest.mark.parametrize("errstate", ERRSTATES, ids=str)
def test_reports_have_the_lines_of_their_operations(errstate: dict[str, Any]) -> None:
    make = lambda: [np.arange(LARGE) - 5.0, np.zeros(LARGE), np.arange(LARGE)]  # noqa: E731
    compare(SEVERAL_LINES, make, errstate)
    ones = lambda: [np.arange(LARGE) - 5.0, np.ones(LARGE), np.arange(LARGE)]  # noqa: E731
    compare(SEVERAL_LINES, ones, errstate)
    caught = "def f(x, y, i):\n  try:\n" + "".join(
        f"    {line}\n" for line in SEVERAL_LINES.strip().splitlines()[1:]
    )
    caught += "  except FloatingPointError as error:\n    return str(error), x\n  finally:\n    x += 1.0\n"
    compare(caught, make, errstate)


ORDERS = {
    "a name that is not there": "x / y + (\n  i // z\n  * nothing)",
    "user code in between": "x / y + (\n  i // z\n  * thing.computed)",
    "a module that is asked": "x / y + (\n  i // z\n  * lazy.computed)",
    "more than a group can have": "x / y + (\n  i // z\n  " + "+ x" * 30 + ")",
    "a store": "x / y + (\n  i // z\n  * x[LARGE])",
    "three": "x / y + (\n  i // z\n  * (x\n  / z - nothing))",
}
RAISES = {"divide": "raise", "invalid": "call"}
CALLS_BACK = {"divide": "call", "invalid": "raise"}


@pytest.mark.parametrize("what", ORDERS)
@pytest.mark.parametrize("errstate", [*ERRSTATES, RAISES, CALLS_BACK], ids=str)
def test_several_deferred_operations_run_in_program_order(what: str, errstate: dict[str, Any]) -> None:
    """If the first one raises, the others are never reached."""

    class Thing:
        @property
        def computed(self) -> float:
            return 2.0

    lazy = ModuleType("lazy")
    lazy.__getattr__ = lambda name: 2.0  # type: ignore[method-assign]
    text = f"def f(x, y, z, i):\n return ({ORDERS[what]})"
    names = {"thing": Thing(), "lazy": lazy, "LARGE": LARGE}
    for first in (0.0, 1.0):
        make = lambda: [np.arange(LARGE) - 5.0, np.full(LARGE, first), np.zeros(LARGE), np.zeros(LARGE)]  # noqa: B023, E731
        compare(text, make, errstate, **names)


def test_a_module_may_compute_its_attributes() -> None:
    """A module's `__getattr__` comes behind the operation, which must not see its changes."""
    outcomes = []
    for is_traced in (False, True):
        x = np.linspace(1.0, 2.0, LARGE)
        lazy = ModuleType("lazy")

        def computed(name: str, x: np.ndarray = x) -> float:
            x[0] += 1.0
            return 3.0

        lazy.__getattr__ = computed  # type: ignore[method-assign]
        pair = both("def f(x):\n    return x * 2.0 + lazy.computed", lazy=lazy)
        outcomes.append([described(pair[is_traced](x)) for _ in range(3)])
    assert outcomes[0] == outcomes[1]


def test_late_exceptions_end_a_recording() -> None:
    """The recorder has seen the instructions behind the one that raised; what it learned from them is not used."""
    eager, traced = both("def f(x, y):\n    return (\n        x / y\n        + x\n    )")
    with np.errstate(all="raise"), testing.events() as seen:
        for function in (eager, traced, eager):
            with pytest.raises(FloatingPointError, match="divide by zero") as caught:
                function(np.ones(LARGE), np.zeros(LARGE))
            assert [entry.lineno + 1 for entry in caught.traceback[1:]] == [3]
            assert caught.value.__context__ is None
    assert seen == ["record", "stop:late_exception"]
    x, y = np.linspace(1.0, 2.0, LARGE), np.linspace(3.0, 2.0, LARGE)
    for _ in range(3):
        assert described(traced(x, y)) == described(eager(x, y))
    assert tagalong.stats(traced).hits >= 1


BETWEEN = {
    "a name that is not there": ("x * y + nothing", NameError),
    "an attribute that is not there": ("x * y + x.nothing", AttributeError),
    "an index out of bounds": ("x * y + rows[7]", IndexError),
    "a key that is not there": ("x * y + table['d']", KeyError),
    "a local that is not bound": ("x * y + late", UnboundLocalError),
    "too many indices": ("x * y + x[1, 2]", IndexError),
    "an attribute that computes": ("x * y + thing.computed", None),
    "an attribute that raises": ("x * y + thing.raising", RuntimeError),
    "an item that computes": ("x * y + thing[3]", None),
    "a key that computes": ("x * y + table[thing]", None),
    "an index that computes": ("x * y + rows[thing]", None),
    "a slice that computes": ("x[1:] * y[1:] + x[thing:]", None),
    "a part by a list": ("x * y + x[places]", None),
    "a part by a mask": ("x * y + x[mask]", None),
    "a number of an array": ("x * y + x[3]", None),
    "an array of objects": ("x * y + things[0]", None),
    "an attribute of a module": ("x * y + np.pi", None),
    "an attribute of an object": ("x * y + thing.plain", None),
}


@pytest.mark.parametrize("what", BETWEEN)
@pytest.mark.parametrize("errstate", ["ignore", "raise", "warn"])
def test_code_between_two_operations(what: str, errstate: str) -> None:
    """Code between two operations: the first operation's report comes before it, and it finds the result computed."""
    source, error = BETWEEN[what]
    notes: list[Any] = []
    x = np.zeros(LARGE)

    class Thing:
        plain = 2.5

        @property
        def computed(self) -> float:
            x[0] += 1.0  # not visible in what has been computed
            notes.append(sys._getframe(1).f_lineno)
            return 3.0

        @property
        def raising(self) -> float:
            raise RuntimeError("no")

        def __getitem__(self, key: int) -> float:
            x[1] += 1.0
            return float(key)

        def __index__(self) -> int:
            x[2] += 1.0
            return 1

        def __hash__(self) -> int:
            x[3] += 1.0
            return 5

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Thing)

    thing = Thing()
    table = {thing: 4.0, "c": 1.0}
    names = {
        "thing": thing,
        "table": table,
        "rows": [1.0, 2.0, 3.0],
        "places": list(range(LARGE)),
        "mask": np.ones(LARGE, bool),
        "things": np.array([thing.plain, "b"], object),
    }
    text = f"def f(x, y):\n    z = (\n        {source}\n    )\n    late = z\n    return late, x"
    outcomes = []
    for is_traced in (False, True):
        for divisor in (1.0, 0.0):
            eager, traced = both(text.replace("x * y", "x / y").replace("x[1:] *", "x[1:] /"), **names)
            x, y = np.linspace(1.0, 2.0, LARGE), np.full(LARGE, divisor)
            notes.clear()
            outcome = Outcome(traced if is_traced else eager, [x, y], {"all": errstate})
            outcomes.append((outcome.compared, list(notes)))
            if errstate == "ignore" and error is not None:
                assert outcome.error[0] is error
    assert outcomes[:2] == outcomes[2:]


def test_subclasses_and_operands_with_methods_of_their_own() -> None:
    seen: list[Any] = []

    class Operand:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> Any:
            seen.append((type(other), other[:2].tolist(), sys._getframe(1).f_lineno))
            return other

    class Array(np.ndarray):  # type: ignore[misc]
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
            seen.append((ufunc, method, [type(one) for one in inputs]))
            return getattr(ufunc, method)(*[np.asarray(one) for one in inputs], **named)

    x = np.linspace(1.0, 2.0, LARGE)
    names = {"operand": Operand(), "array": x.view(Array), "masked": np.ma.array(x)}
    for source in ("x * 2.0 - x\\\n + operand", "x * 2.0 + array", "(x - 1.0) * masked", "-(x + 1.0) @ x"):
        text = f"def f(x):\n    return {source}"
        seen.clear()
        eager, traced = both(text, **names)
        results = []
        for function in (eager, traced):
            seen.clear()
            results.append((described(function(x)), list(seen)))
        assert results[0] == results[1]


STORES = {
    "a part": ("x[1:-1] = y[2:] * 0.5 + y[:-2] * 0.25", 1),
    "a part of itself": ("x[1:-1] = x[2:] * 0.5 + x[:-2] * 0.25", None),
    "every other": ("x[::2] = y[::2] - y[1::2] * x[1::2]", 1),
    "the whole": ("x[...] = y * x - 1.0", 1),
    "the whole of one cast": ("i[:] = y * x - 1.0", None),
    "one broadcast": ("z[:] = x[:200] * y[:200] + 1.0", None),
    "one element": ("x[3] = x[:200] * y[:200] + 1.0", None),
    "by a mask": ("x[x > 0] = y * x - 1.0", None),
    "by a list": ("x[places] = y * x - 1.0", None),
    "out of bounds": ("x[LARGE + 3] = y * x - 1.0", None),
    "of another shape": ("x[:7] = y * x - 1.0", None),
    "of a read-only one": ("fixed[:] = y * x - 1.0", None),
    "of a list": ("rows[0] = y * x - 1.0", None),
    "of a dict": ("table['a'] = y * x - 1.0", None),
    "twice": ("x[:] = y[:] = y * x - 1.0", None),
    "under other arrays": ("return y - x, (x.__setitem__(0, 3.0), x * y + 1.0)", None),
}


@pytest.mark.parametrize("what", STORES)
@pytest.mark.parametrize("errstate", ["warn", "raise"])
def test_stores(what: str, errstate: str) -> None:
    source, as_one = STORES[what]
    for divisor in (1.0, 0.0):

        def make(divisor: float = divisor) -> list[Any]:
            x, y = np.linspace(-1.0, 1.0, LARGE), np.linspace(1.0, 2.0, LARGE)
            fixed = x.copy()
            fixed.flags.writeable = False
            x[0] = y[5] = divisor
            return [x, y, np.zeros((200, 200)), np.arange(LARGE), fixed, [0], {}]

        text = f"def f(x, y, z, i, fixed, rows, table):\n    {source}\n    return x, y, z, i, rows[0], table.get('a')"
        counts = compare(text, make, {"all": errstate}, LARGE=LARGE, places=list(range(LARGE - 1, -1, -1)))
        assert as_one is None or counts == (as_one, 0)
        compare(text.replace("y * x - 1.0", "y / x - 1.0"), make, {"all": errstate}, LARGE=LARGE, places=[0])


EXPRESSIONS = {
    "(x * y + x - y) * 0.5 + y": 1,
    "x * y + (x - y) * (x + y)": 1,
    "-(x + y) * (x < y)": 1,
    "x[1:] - x[:-1] * y[1:]": 1,
    "x * y + (x - y if x[0] < 3 else y)": 0,  # a jump leads to the sum
    "(x + y) * 2.0, (x - y) * 3.0": 1,
    "np.sqrt(x * x + y * y) - np.exp(-((x - y) ** 2))": 1,
    "[x * y + y, x - y * x]": 1,
    "(x * y + y).sum()": 1,
    "(x * y + y)[3:]": 1,
    "f'{(x * y + y)[0]}'": 1,
    "+".join(["x * 1.5"] * 40): 1,
    "+".join(["x * 1.5"] * 100): None,  # more operations than one fusion group has
}


@pytest.mark.parametrize("source", EXPRESSIONS)
def test_expressions_that_become_one_group(source: str) -> None:
    make = lambda: [np.linspace(-1.0, 1.0, LARGE), np.linspace(1.0, 2.0, LARGE)]  # noqa: E731
    counts = compare(f"def f(x, y):\n    return {source}", make)
    assert counts == (EXPRESSIONS[source], 0) or (EXPRESSIONS[source] is None and counts[0] >= 2)


def test_small_operands_of_large_results_are_deferred() -> None:
    """The size after broadcasting counts."""
    _core.set_option("min_deferred", 1 << 20)
    make = lambda: [np.linspace(-1.0, 1.0, 20_000), np.linspace(1.0, 2.0, 8)]  # noqa: E731
    assert compare("def f(x, y):\n    return (x[:, None] - y) ** 2 + (x[:, None] + y) ** 2", make) == (1, 0)
    assert compare("def f(x, y):\n    return (x[:, None] - y[:4]) ** 2 + x[:, None]", make) == (0, 0)


def test_small_arrays_are_not_deferred() -> None:
    _core.set_option("min_deferred", tagalong._core.options()["min_deferred"] * (1 << 20))
    assert compare("def f(x, y):\n    return x * y + x", two()) == (0, 0)


def test_objects_die_as_in_eager_execution() -> None:
    def f(x, make, note):
        note("first")
        a = make(x, "a") * make(x, "b") + make(x, "c")
        note("second")
        b = x * 2.0 + make(x, "d") - x
        note("third")
        c = make(x, "e")
        d = make(x, "f")
        c = c * d + x
        note("fourth")
        return a, b, c

    traced = tagalong.trace(FunctionType(f.__code__.replace(), globals(), "f"))
    before = (_core.counter("expressions_as_one"), _core.counter("expressions_one_by_one"))
    mine = deaths(traced, LARGE)
    assert _core.counter("expressions_as_one") + _core.counter("expressions_one_by_one") > sum(before)
    assert mine == deaths(f, LARGE)
    assert tagalong.stats(traced).records == 1


def test_objects_that_die_together() -> None:
    """When a fusion group releases operands together, only weak references could show the order of their deaths."""
    source = """
def f(x, y):
    first, second = x + 1.0, y + 1.0
    note(first, "first")
    note(second, "second")
    rows = [first, second]
    del first, second
    return rows.pop() * x + rows.pop() * y
"""
    orders = []
    for is_traced in (False, True):
        seen: list[str] = []

        def note(array: np.ndarray, name: str, seen: list[str] = seen) -> None:
            weakref.finalize(array, seen.append, name)

        pair = both(source, note=note)
        result = described(pair[is_traced](np.ones(LARGE), np.ones(LARGE)))
        orders.append((seen, result))
    assert orders[0] == orders[1]


def test_generators_and_loops() -> None:
    source = """
def g(x, y):
    for scale in 1.0, 2.0, 3.0:
        z = x * scale + (yield x * y + scale)
        x = z - y * 0.5
def f(x, y):
    total = x * 0.0
    generator = g(x, y)
    next(generator)
    for row in y, x * 2.0 - y:
        total = total * 0.5 + generator.send(row * 2.0 - x)
        while total[0] < 3.0:
            total[:] = total * 1.5 + 0.25
    return total
"""
    as_one, apart = compare(source, lambda: [np.linspace(0.0, 1.0, LARGE), np.linspace(1.0, 2.0, LARGE)])
    assert as_one >= 2
    assert apart == 0


def test_a_handler_between_two_operations() -> None:
    source = """
def f(x, y):
    try:
        z = x / y
        z = x / y + (
            [][0])
    except (IndexError, FloatingPointError) as error:
        return str(error), error.__traceback__.tb_lineno
    return z
"""
    make = lambda: [np.ones(LARGE), np.zeros(LARGE)]  # noqa: E731
    for state in ERRSTATES:
        compare(source, make, state)
        compare(source.replace("        z = x / y\n", "", 1), make, state)


def test_warnings_that_are_errors() -> None:
    eager, traced = both("def f(x):\n    y = x * 2.0\n\n    return (y / x\n        + y)")
    for function in (eager, traced):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning) as caught:
                function(np.zeros(LARGE))
        assert caught.traceback[-1].lineno == 3


def test_callbacks_see_the_frame_of_eager_execution() -> None:
    source = "def f(x, y):\n    z = x + y\n    return (z * 2.0\n        / x\n        + 1.0 / y\n        - z)"
    outcomes = []
    for is_traced in (False, True):
        seen: list[Any] = []

        def back(kind: str, flag: int, seen: list[Any] = seen) -> None:
            frame = sys._getframe(1)
            names = {name: described(value) for name, value in frame.f_locals.items()}
            kinds = {type(one).__name__ for one in gc.get_objects()} & {"ArrayProxy"}
            seen.append(
                (kind, frame.f_lineno, frame.f_lasti, names, kinds, traceback.extract_stack()[-2].line)
            )

        pair = both(source)
        with np.errstate(all="call", call=back):
            result = described(pair[is_traced](np.zeros(LARGE), np.zeros(LARGE)))
        outcomes.append((result, seen))
    assert len(outcomes[0][1]) >= 2
    assert outcomes[0] == outcomes[1]


def test_computed_globals_do_not_come_between() -> None:
    class Names(dict):  # type: ignore[type-arg]
        def __missing__(self, name: str) -> Any:
            x[0] += 1.0
            return 2.0

    code = compile("x * y + extra - other", "<names>", "eval")
    outcomes = []
    for is_traced in (False, True):
        x = np.linspace(0.0, 1.0, LARGE)
        function = FunctionType(code, {"np": np}, "f")
        if is_traced:
            function = tagalong.trace(function)
        spaces = Names(x=x, y=x.copy())
        outcomes.append([described(eval(function.__code__, {}, spaces)) for _ in range(3)])  # noqa: S307
    assert outcomes[0] == outcomes[1]
