"""Calls of ufuncs and of np.where in calls that are being recorded.

They take deferred arrays, and are deferred themselves until an operation takes their results (test_arrays_deferred.py
has the operators).
"""

from __future__ import annotations

import gc
import signal
import sys
import warnings
import weakref
from collections.abc import Callable
from random import Random
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
ONE = "sqrt exp log sin cos arcsin tanh absolute square negative floor rint sign isnan isfinite conjugate".split()
ONE += "logical_not invert reciprocal signbit cbrt exp2 log1p".split()
TWO = "add subtract multiply divide maximum minimum fmax hypot arctan2 power less equal logical_and".split()
TWO += "bitwise_or floor_divide remainder copysign nextafter left_shift heaviside".split()
CODES = "?bBhilqQefdgFD"


@pytest.fixture(autouse=True)
def everything_is_deferred() -> None:
    """Defers also where the next operation is faster than planning a fusion group."""
    _core.set_option("fusion", 2)
    _core.set_option("min_deferred", 1)


def two(code: str, other: str) -> Callable[[], list[Any]]:
    made = [sample(code, (LARGE,), "ordinary"), sample(other, (LARGE,), "special")]
    return lambda: [array.copy() for array in made]


def line(size: int = LARGE) -> list[Any]:
    return [np.linspace(0.25, 1.0, size), np.linspace(1.0, 2.0, size)]


@pytest.mark.parametrize("code", CODES)
def test_functions_of_all_dtypes(code: str) -> None:
    quiet = {"all": "ignore"}
    as_one = 0
    for name in ONE:
        for source in (f"np.{name}(x + x)", f"np.{name}(x) * y", f"np.{name}(np.negative(y) - 1) < x"):
            as_one += compare(f"def f(x, y):\n    return {source}", two(code, code), quiet)[0]
    for number, name in enumerate(TWO):
        sign = "+-*"[number % 3]
        for source in (
            f"np.{name}(x {sign} y, y)",
            f"y {sign} np.{name}(x, 2 {sign} y)",
            f"-np.{name}(y, x)",
        ):
            as_one += compare(f"def f(x, y):\n    return {source}", two(code, "d"), quiet)[0]
    for source in (
        "np.where(x < y, x + y, y)",
        "np.where(x, x - 1, y * 2) * x",
        "np.where(x == y, 2, y * x) + 1.5",
    ):
        as_one += compare(f"def f(x, y):\n    return {source}", two(code, code), quiet)[0]
    if code in "ilqfd":
        assert as_one >= 50


SOURCES = (
    "np.exp(-x * y) * np.sqrt(y * y)",
    "np.where(x - y < 0.5, x * y - 1.0, y) - x",
    "np.maximum(x + 1.0, np.abs(y)) > np.sin(x)",
)


@pytest.mark.parametrize("layout", WAITING_LAYOUTS)
@pytest.mark.parametrize("is_left", [True, False])
@pytest.mark.parametrize("source", SOURCES)
def test_layouts(source: str, layout: str, is_left: bool) -> None:
    compare_in_layout(source, layout, LARGE, is_left=is_left)


EXPRESSIONS = {
    "np.exp(-x * y)": (1, 0),
    "np.exp(x) * y": (1, 0),
    "12742.0 * np.arcsin(np.sqrt(x * x))": (1, 0),
    "np.where(x < y, x - y + 1.0, x)": (1, 0),
    "np.where(x < y, x - y + 1.0, np.where(y < 1.5, -x, np.sin(y))) * 2.0": (1, 0),
    "np.exp(-x * x) * np.sqrt(y) + np.log(x + 1.0) / (y + 2.0)": (1, 0),
    "np.sqrt(x * x + y * y) - np.exp(-((x - y) ** 2))": (1, 0),
    "np.exp(x - np.max(x))": (1, 0),
    "exp(-x) + np.add(x, y)": (1, 0),
    "np.arctan2(np.sin(x), np.cos(y))": (1, 0),
    "np.sum(np.exp(x) * y)": (1, 0),
    "(np.exp(x) * y).sum()": (1, 0),
    "np.exp(x * y)[3:]": (1, 0),
    "np.exp(x * y), np.sqrt(x + y)": (1, 0),
    "np.sqrt(x), np.where(x < 0.5, x, y)": (1, 0),
    "same(x * y) + np.exp(same(x) - y)": (1, 0),
    "np.exp(x) * (x if x[0] < 3 else y)": (0, 0),  # a jump arrives at the product
}


@pytest.mark.parametrize("source", EXPRESSIONS)
def test_expressions_that_become_one_group(source: str) -> None:
    counts = compare(f"def f(x, y):\n    return {source}", line, exp=np.exp, same=lambda x: x)
    assert counts == EXPRESSIONS[source]


def test_small_arrays_are_not_deferred() -> None:
    _core.set_option("min_deferred", tagalong._core.options()["min_deferred"] * (1 << 20))
    assert compare("def f(x, y):\n    return np.exp(x * y) + x", line) == (0, 0)


def test_calls_that_cannot_be_fused_between_two() -> None:
    """A call that cannot be fused: the operations in front of it and behind it still run as one group."""
    chars = lambda: [*line(), np.arange(LARGE) % 3]  # noqa: E731
    source = "def f(x, y, i):\n    return np.where(i, np.exp(x * y) + 1.0, x - y * x) * y - 2.0"
    as_one, apart = compare(source, chars)
    assert (as_one, apart) == (2, 0)
    source = (
        "def f(x, y, i):\n    return (x * y + 1.0) * np.ldexp(x - y * 2.0, i) + np.where(i, y * y - x, x)"
    )
    compare(source, chars)


NOT_TAKEN = (
    "np.exp(x * y, out=z) + x",
    "np.exp(x * y, z) + z",
    "np.exp(x * y, where=x < 0.5, out=z) - z",
    "np.exp(x * y, dtype='f') - y",
    "np.divmod(x * y, y)[0] + x",
    "np.modf(x * y)[1] + x",
    "np.where(x - y < -1.0)[0] * 2",
    "np.where(x < y, x=x + y, y=y) + x",
    "np.add.reduce(x * y) + y",
    "np.add(x * y, y, casting='safe') * 2",
    "np.matmul(x + y, y) * x",
    "np.multiply(x + y, y, subok=False) * x",
    "np.exp(*[x * y]) + x",
    "np.exp(np.float64(2.0) + 1) * x",
    "np.exp(2.0) * x - y",
    "np.where(True, x, y) * y",
    "np.where(x < y, 1.5, 0) * y",
    "np.where(x < y, 'a', 'b') == 'a'",
)


@pytest.mark.parametrize("source", NOT_TAKEN)
@pytest.mark.parametrize("errstate", ["warn", "raise"])
def test_other_calls(source: str, errstate: str) -> None:
    make = lambda: [*line(), np.zeros(LARGE)]  # noqa: E731
    compare(f"def f(x, y, z):\n    return {source}", make, {"all": errstate})
    zeros = lambda: [np.zeros(LARGE), *line()]  # noqa: E731
    compare(f"def f(x, y, z):\n    return {source.replace('x * y', 'y / x')}", zeros, {"all": errstate})


def test_functions_that_are_not_numpys() -> None:
    """A ufunc of the program may look at anything; so may a function that only has such a name."""
    seen: list[Any] = []

    def add_one(number: float) -> float:
        if len(seen) < 5:
            seen.append((number, sys._getframe(1).f_lineno))
            table["a"] += 1.0
        return number + 1.0

    class Callable_:
        def __call__(self, array: np.ndarray) -> np.ndarray:
            seen.append(array[:2].tolist())
            array[1] = 7.0
            return array

    table = {"a": 1.0}
    named = ModuleType("named")
    named.exp = Callable_()  # type: ignore[attr-defined]
    names = {
        "own": np.frompyfunc(add_one, 1, 1),
        "table": table,
        "vectorized": np.vectorize(add_one),
        "named": named,
    }
    for source in (
        "(own(x * y) * table['a']).astype(float)",
        "vectorized(x - y) + table['a']",
        "named.exp(x * y) + table['a'] * x",
    ):
        outcomes = []
        for is_traced in (False, True):
            seen.clear()
            table["a"] = 1.0
            function = both(f"def f(x, y):\n    return {source}", **names)[is_traced]
            outcomes.append((Outcome(function, line(), {"all": "warn"}).compared, list(seen), table["a"]))
        assert outcomes[0] == outcomes[1]


def test_subclasses_and_operands_with_methods_of_their_own() -> None:
    seen: list[Any] = []

    class Operand:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
            seen.append((ufunc, method, [type(one) for one in inputs], sys._getframe(1).f_lineno))
            return inputs[0] if inputs[0] is not self else inputs[1]

        def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
            seen.append((function, [type(one) for one in arguments]))
            return arguments[1]

    class Array(np.ndarray):  # type: ignore[misc]
        pass

    x = np.linspace(1.0, 2.0, LARGE)
    names = {"operand": Operand(), "array": x.view(Array), "masked": np.ma.array(x)}
    for source in (
        "np.add(x * 2.0 - x,\\\n operand)",
        "np.where(x < 1.5, x * 2.0, operand) - 1.0",
        "np.exp(x * 2.0 + array) - x",
        "np.maximum(x - 1.0, masked) * x",
        "np.where(x < 1.5, x - 1.0, array) * x",
    ):
        outcomes = []
        for is_traced in (False, True):
            seen.clear()
            function = both(f"def f(x):\n    return {source}", **names)[is_traced]
            outcomes.append((described(function(x)), list(seen)))
        assert outcomes[0] == outcomes[1]


SEVERAL_LINES = """
def f(x, y, i):
    a = x + y
    b = (
        np.exp(
            x
            / y
            +
            np.log(
                np.pi * x)
        )
        -
        np.where(
            x * 1e300 * 1e300 < 1.0,
            np.sqrt(
                x
            ),
            i
            // 0
        )
        *
        np.arcsin(
            x)
    )
    return a, b
"""
RAISES = {"divide": "raise", "invalid": "call"}
CALLS_BACK = {"divide": "call", "invalid": "raise"}


@pytest.mark.parametrize("errstate", [*ERRSTATES, RAISES, CALLS_BACK], ids=str)
def test_reports_have_the_lines_of_their_operations(errstate: dict[str, Any]) -> None:
    for low in (-5.0, 0.0, 0.25):
        for divisor in (0.0, 1.0):
            make = lambda: [np.linspace(low, low + 0.5, LARGE), np.full(LARGE, divisor), np.arange(LARGE)]  # noqa: B023, E731
            compare(SEVERAL_LINES, make, errstate)
            compare(SEVERAL_LINES.replace("// 0", "* 0.5"), make, errstate)
            caught = "def f(x, y, i):\n  try:\n" + "".join(
                f"    {text}\n" for text in SEVERAL_LINES.strip().splitlines()[1:]
            )
            caught += (
                "  except FloatingPointError as error:\n    return str(error), x\n  finally:\n    x += 1.0\n"
            )
            compare(caught, make, errstate)


ORDERS = {
    "a name that is not there": "np.log(x\n / y) + np.sqrt(\n  i // z\n  * nothing)",
    "user code in between": "np.log(x\n / y) + np.sqrt(\n  i // z\n  * thing.computed)",
    "a user method in between": "np.log(x\n / y) + np.sqrt(\n  i // z\n  * thing.compute(\n x))",
    "a module that is asked": "np.log(x / y) + np.where(\n  i // z < 3.0,\n  lazy.computed(x), x)",
    "more than a group can have": "np.log(x / y) + (\n  i // z\n  " + "+ np.sin(x)" * 30 + ")",
    "a store": "np.log(x / y) + (\n  np.log(z)\n  * x[LARGE])",
    "three": "np.log(x / y) + np.sin(\n  i // z\n  * np.maximum(x\n  / z, nothing))",
    "a call of another": "np.log(x / y) + same(\n  np.sqrt(-z)) * np.log(\n  z - y)",
    "keywords": "np.log(x / y) + np.add(np.sqrt(-z),\n  np.log(z), casting=\n 'unsafe' if x[0] else nothing)",
    "a function that is not there": "np.log(x / y) + np.nothing(\n  np.sqrt(-z))",
    "too many arguments": "np.log(x / y) + np.sqrt(\n  np.log(z),\n x, z, y, i)",
    "too few": "np.log(x / y) + np.add(\n  np.log(z))",
    "other dtypes": "np.log(x / y) + np.bitwise_and(\n  np.log(z), x)",
    "other shapes": "np.log(x / y) + np.where(\n  np.log(z) < 1.0, x[1:], y)",
}


@pytest.mark.parametrize("what", ORDERS)
@pytest.mark.parametrize("errstate", [*ERRSTATES, RAISES, CALLS_BACK], ids=str)
def test_several_deferred_operations_run_in_program_order(what: str, errstate: dict[str, Any]) -> None:
    """If the first one raises, the others are never reached."""

    class Thing:
        @property
        def computed(self) -> float:
            return 2.0

        def compute(self, x: np.ndarray) -> np.ndarray:
            return x

    lazy = ModuleType("lazy")
    lazy.__getattr__ = lambda name: lambda x: x  # type: ignore[method-assign]
    text = f"def f(x, y, z, i):\n return ({ORDERS[what]})"
    names = {"thing": Thing(), "lazy": lazy, "LARGE": LARGE, "same": lambda x: x}
    for first in (0.0, 1.0):
        make = lambda: [np.arange(LARGE) - 5.0, np.full(LARGE, first), np.zeros(LARGE), np.zeros(LARGE)]  # noqa: B023, E731
        compare(text, make, errstate, **names)


def test_late_exceptions_end_a_recording() -> None:
    eager, traced = both("def f(x, y):\n    return (\n        np.log(y)\n        + x\n    )")
    with np.errstate(all="raise"), testing.events() as seen:
        for function in (eager, traced, eager):
            with pytest.raises(FloatingPointError, match="divide by zero") as caught:
                function(np.ones(LARGE), np.zeros(LARGE))
            assert [entry.lineno + 1 for entry in caught.traceback[1:]] == [3]
            assert caught.value.__context__ is None
    assert seen == ["record", "stop:late_exception"]
    for _ in range(3):
        assert described(traced(*line())) == described(eager(*line()))
    assert tagalong.stats(traced).hits >= 1


@pytest.mark.parametrize("code", "?dD")
def test_operations_without_a_loop(code: str) -> None:
    """The exception's class, which NumPy has written in Python, is called by C code and not by an instruction."""
    names = "sign bitwise_not floor gcd isnat subtract left_shift"
    for name in names.split():
        call = f"np.{name}(" + ("x + x)" if getattr(np, name).nin == 1 else "x + x, x)")
        for body in (
            f"return {call}",
            f"try:\n        return {call}\n    except TypeError as error:\n        return str(error)",
        ):
            compare(f"def f(x):\n    {body}\n", lambda: [np.ones(LARGE, code)])


def test_a_handler_between_two_operations() -> None:
    source = """
def f(x, y):
    try:
        z = np.log(y)
        z = np.log(y) + np.sqrt(
            [][0])
    except (IndexError, FloatingPointError) as error:
        return str(error), error.__traceback__.tb_lineno
    return z
"""
    make = lambda: [np.ones(LARGE), np.zeros(LARGE)]  # noqa: E731
    for state in ERRSTATES:
        compare(source, make, state)
        compare(source.replace("        z = np.log(y)\n", "", 1), make, state)


def test_warnings_that_are_errors() -> None:
    eager, traced = both(
        "def f(x):\n    y = x * 2.0\n\n    return (np.log(x)\n        + np.sqrt(\n       y))"
    )
    for function in (eager, traced):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning) as caught:
                function(np.zeros(LARGE))
        assert caught.traceback[-1].lineno == 3


def test_callbacks_see_the_frame_of_eager_execution() -> None:
    source = """
def f(x, y):
    z = x + y
    return (np.exp(z * 2.0)
        / np.log(x)
        + np.where(
            1.0 / y < z,
            np.sqrt(x - 1.0),
            z))
"""
    outcomes = []
    for is_traced in (False, True):
        seen: list[Any] = []

        def back(kind: str, flag: int, seen: list[Any] = seen) -> None:
            frame = sys._getframe(1)
            names = {name: described(value) for name, value in frame.f_locals.items()}
            kinds = {type(one).__name__ for one in gc.get_objects()} & {"ArrayProxy"}
            seen.append((kind, frame.f_lineno, frame.f_lasti, names, kinds))

        pair = both(source)
        with np.errstate(all="call", call=back):
            result = described(pair[is_traced](np.zeros(LARGE), np.zeros(LARGE)))
        outcomes.append((result, seen))
    assert len(outcomes[0][1]) >= 3
    assert outcomes[0] == outcomes[1]


# --- what dies, and when


def test_objects_die_as_in_eager_execution() -> None:
    def f(x, make, note):
        note("first")
        a = np.exp(make(x, "a")) * make(x, "b") + np.sqrt(make(x, "c"))
        note("second")
        b = np.maximum(x * 2.0, make(x, "d")) - x
        note("third")
        c = make(x, "e")
        d = make(x, "f")
        c = np.where(c < d, c * d, x) + x
        note("fourth")
        d = np.sin(np.sin(d) * make(x, "g")[1:][0])
        note("fifth")
        return a, b, c, d

    traced = tagalong.trace(FunctionType(f.__code__.replace(), globals(), "f"))
    before = (_core.counter("expressions_as_one"), _core.counter("expressions_one_by_one"))
    mine = deaths(traced, LARGE)
    assert _core.counter("expressions_as_one") + _core.counter("expressions_one_by_one") > sum(before)
    assert mine == deaths(f, LARGE)
    assert tagalong.stats(traced).records == 1


DYING = (
    "np.sqrt(make(x)) + y",
    "make(x) * 2.0 + y",
    "make(x)[1:] < y[1:] + 1.0",
    "np.where(make(x) < 2.0, y * 2.0, y) + y",
    "np.exp(make(x).reshape(200, 200)) * y.reshape(200, 200)",
    "(make(x) < 0.5) & (y < 1.5)",
    "y * 2.0 + (make(x) - 1.0) * asked.computed",
    "np.exp(y) - np.sqrt(make(x) * y) * y",
    "-make(x) * asked.computed",
)


@pytest.mark.parametrize("source", DYING)
@pytest.mark.parametrize("code", "dDl")
def test_finalisers_come_where_they_do(source: str, code: str) -> None:
    """Changes of a finaliser are visible to later operations, and the finaliser sees the frame at its current line."""

    class Asked:
        @property
        def computed(self) -> int:
            seen.append("asked")
            return 3

    seen: list[Any] = []
    outcomes = []
    for is_traced in (False, True):
        x, y = (array.astype(code) for array in line())
        refs: list[Any] = []

        def die(y: np.ndarray) -> None:
            y[0] += 10
            frame = sys._getframe(2)  # the frame below weakref's own
            seen.append((frame.f_lineno, frame.f_code.co_name))

        def make(x: np.ndarray, y: np.ndarray = y, refs: Any = refs) -> np.ndarray:
            array = x * 1
            weakref.finalize(array, die, y)
            refs.append(weakref.ref(array))
            return array

        seen.clear()
        pair = both(f"def f(x, y):\n    return {source}", make=make, asked=Asked())
        result = pair[is_traced](x, y)
        outcomes.append((described(result), described(y), list(seen), refs[0]() is result, refs[0]() is None))
        del result
    assert outcomes[0] == outcomes[1]


def test_references_are_given_up() -> None:
    x, y = line()
    counts = []
    for function in both("def f(x, y, other):\n    return np.exp(x * y) * np.where(x < y, other, x + 1.0)"):
        other = np.ones(LARGE)
        results = [function(x, y, other) for _ in range(3)]
        del results
        counts.append(
            (sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(other), sys.getrefcount(np.exp) > 0)
        )
    assert counts[0] == counts[1]


# --- code that runs in between


def test_new_watchers_see_the_same_as_in_eager_execution() -> None:
    source = """
def f(x, y):
    a = np.exp(x * y) * switch(
        x) + np.sqrt(y)
    b = np.where(x < y,
                 a - x, y) * 2.0
    off()
    return a, b
"""
    for watch in (sys.settrace, sys.setprofile):
        outcomes = []
        for is_traced in (False, True):
            seen: list[Any] = []

            def trace(frame: Any, event: str, argument: Any, seen: list[Any] = seen) -> Any:
                seen.append(
                    (event, frame.f_code.co_name, frame.f_lineno, getattr(argument, "__name__", None))
                )
                return trace

            def switch(x: np.ndarray, watch: Any = watch, trace: Any = trace) -> np.ndarray:
                watch(trace)
                sys._getframe(1).f_trace = trace
                return x

            function = both(source, switch=switch, off=lambda watch=watch: watch(None))[is_traced]
            try:
                result = [described(one) for one in function(*line())]
            finally:
                watch(None)
            outcomes.append((result, [entry for entry in seen if entry[1] == "f" or entry[1] == "switch"]))
        assert outcomes[0][1]
        assert outcomes[0] == outcomes[1]


class Alarm(Exception):
    pass


@pytest.mark.parametrize("raises", [False, True])
def test_signals(raises: bool) -> None:
    """A handler runs when nothing is deferred; its exception ends only the expression."""
    source = "def f(x, y):\n    return np.exp(x * y) * np.sqrt(x + np.where(x < y, np.sin(y), x)) - np.cos(x)"
    eager, _ = both(source)
    expected = described(eager(*line()))
    seen: list[set[str]] = []

    def handle(*_: Any) -> None:
        if len(seen) < 20:
            seen.append({type(one).__name__ for one in gc.get_objects()} & {"ArrayProxy"})
        else:
            seen.append(set())
        if raises:
            raise Alarm

    old = signal.signal(signal.SIGALRM, handle)
    raised = 0
    try:
        for number in range(200):
            _, traced = both(source)
            x, y = line()
            try:
                try:
                    # If other processes compute as well, it may be over before the call begins.
                    signal.setitimer(signal.ITIMER_REAL, 0.0001 + number * 0.00001)
                    result = traced(x, y)
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
                    assert described(result) == expected
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
            except Alarm:
                raised += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)
    assert len(seen) >= 10
    assert raised or not raises
    assert not set().union(*seen)


def test_generators_and_loops() -> None:
    source = """
def g(x, y):
    for scale in 1.0, 2.0, 3.0:
        z = np.exp(-x * scale) + (yield np.sqrt(x * y) + scale)
        x = np.where(z < y, z - y * 0.5, y)
def f(x, y):
    total = np.sin(x * 0.0)
    generator = g(x, y)
    next(generator)
    for row in y, np.cos(x * 2.0) - y:
        total = np.maximum(total * 0.5, x) + generator.send(np.abs(row * 2.0 - x))
        while total[0] < 3.0:
            total[:] = np.maximum(total * 1.5, x) + 0.25
    return total
"""
    as_one, apart = compare(source, line)
    assert as_one >= 4
    assert apart == 0


STORES = {
    "a call": ("x[1:-1] = np.sqrt(y[2:] * 0.5)", 1),
    "a call alone": ("x[...] = np.sqrt(y)", None),
    "np.where": ("x[::2] = np.where(y[::2] < 1.5, y[1::2], y[::2] - 1.0)", 1),
    "of itself": ("x[1:] = np.maximum(x[:-1], y[1:]) * 0.5", None),
    "cast": ("i[:] = np.exp(y) * 10.0", None),
    "by what is called": ("x[np.where(y < 1.5, 0, 1)] = np.exp(y * 2.0)", None),
    "out of bounds": ("x[LARGE + 3] = np.exp(y * 2.0)", None),
}


@pytest.mark.parametrize("what", STORES)
@pytest.mark.parametrize("errstate", ["warn", "raise"])
def test_stores(what: str, errstate: str) -> None:
    source, as_one = STORES[what]
    for low in (1.0, -1.0):
        make = lambda: [np.linspace(-1.0, 1.0, LARGE), np.linspace(low, 2.0, LARGE), np.arange(LARGE)]  # noqa: B023, E731
        counts = compare(
            f"def f(x, y, i):\n    {source}\n    return x, y, i", make, {"all": errstate}, LARGE=LARGE
        )
        assert as_one is None or low < 0.0 or counts == (as_one, 0)


# --- random expressions


class Expressions:
    """Arrays, operators, calls, and code between them; each on a line of its own."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def make(self, depth: int) -> str:
        one = lambda: self.make(depth - 1)  # noqa: E731
        kind = self.random.random() if depth > 0 else 1.0
        if kind < 0.35:
            return f"({one()}\n {self.random.choice('+-*/')} {one()})"
        if kind < 0.4:
            return f"({one()}\n {self.random.choice(['<', '>=', '==', '**', '//', '%'])} {one()})"
        if kind < 0.6:
            return f"np.{self.random.choice(ONE)}(\n {one()})"
        if kind < 0.72:
            return f"np.{self.random.choice(TWO)}(\n {one()}, {one()})"
        if kind < 0.86:
            return f"np.where(\n {one()} < {one()}, {one()}, {one()})"
        if kind < 0.9:
            return self.random.choice(("same(\n {})", "np.sum(\n {})", "same(\n array={})", "-{}")).format(
                one()
            )
        return self.random.choice(
            ("x", "y", "x", "y", "z", "i", "i", "2.0", "3", "thing.computed", "np.pi", "x[0]")
        )


@pytest.mark.parametrize("seed", range(60))
def test_random_expressions(seed: int) -> None:
    check_random_expressions(seed)


def asked(notes: list[Any]) -> dict[str, Any]:
    """Functions that expressions call, by name: each notes the line of the call."""

    class Thing:
        @property
        def computed(self) -> float:
            notes.append(sys._getframe(1).f_lineno)
            return 2.0

    def same(array: Any) -> Any:
        notes.append(sys._getframe(1).f_lineno)
        return array

    return {"thing": Thing(), "same": same}


def check_random_expressions(seed: int) -> int:
    """Returns how many expressions were computed as one group."""
    notes: list[Any] = []
    random = Random(f"waiting calls {seed}")
    text = "\n    ".join(f"z = ({Expressions(random).make(4)})" for _ in range(2))
    source = f"def f(x, y, z, i):\n    {text}\n    return z"
    codes = random.choice(("ddd", "dfd", "ddl", "fff", "Ddd", "ldb"))
    kind = random.choice(("ordinary", "special", "plain"))
    made = [
        sample(code, (LARGE,), kind)
        if kind != "plain"
        else np.linspace(0.25, 1.5 + place, LARGE).astype(code)
        for place, code in enumerate(codes)
    ]
    make = lambda: [*(array.copy() for array in made), np.arange(LARGE) % 7]  # noqa: E731
    state = random.choice((*ERRSTATES, RAISES, CALLS_BACK, {"all": "ignore"}, {"all": "ignore"}))
    as_one = _core.counter("expressions_as_one")
    outcomes = []
    for is_traced in (False, True):
        notes.clear()
        function = both(source, **asked(notes))[is_traced]
        outcomes.append((Outcome(function, make(), state).compared, list(notes)))
    assert outcomes[0] == outcomes[1], f"{source}\n{codes} {kind} {state}"
    return _core.counter("expressions_as_one") - as_one


@pytest.mark.parametrize(
    "text",
    [
        "same(x + y)",
        "np.clip(same(x * 1.0) + y, 0.0, 2.0)",
        "np.sin(same(x * 1.0) + y)",
        "np.sin(y - same(x * 1.0)) * 2.0",
        "np.sin(same(x * 1.0) * same(y * 1.0)) - same(y * 1.0)",
        "np.sqrt(-same(x * 1.0)) + same(y * 1.0)",
        "np.sin(np.log(x) + (y + y).astype(x.dtype))",
    ],
)
@pytest.mark.parametrize("code", "dfDel")
def test_results_of_calls_are_computed_into(text: str, code: str) -> None:
    """Eager execution computes into large arrays that have no other owner, and the result has their layout."""
    shape = (300, 520)

    def make() -> list[Any]:
        with np.errstate(over="ignore"):
            x = (np.arange(shape[0] * shape[1]).reshape(shape) + 1).astype(code)
        return [np.asfortranarray(x), x / 2 if code in "dfDe" else x + 1]

    for source in (f"def f(x, y):\n    return {text}", f"def f(y, x):\n    a = {text}\n    return a * 2"):
        outcomes = []
        for function in both(source, same=lambda array: array):
            outcomes.append(Outcome(function, make(), {"all": "ignore"}).compared)
        assert outcomes[0] == outcomes[1]
