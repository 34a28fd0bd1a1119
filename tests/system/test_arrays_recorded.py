"""Operations of large arrays in calls that are being recorded.

They are executed as in replays, inside the program's own instruction. The program cannot tell, except by the time that
it takes.
"""

from __future__ import annotations

import contextlib
import contextvars
import gc
import operator
import threading
import tracemalloc
import warnings
import weakref
from collections.abc import Callable
from random import Random
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, FLAT_IN_LAYOUTS, described, sample
from chains_support import Function, Outcome, deaths
from tagalong import _core

LARGE = 40_000  # elements; below 128 KiB the interpreter executes the operation
BINARY = "+ - * / // % ** & | ^ << >> < <= == != > >=".split()
INPLACE = "+= -= *= /= //= %= **= &= |= ^= <<= >>=".split()
UNARY = "+ - ~".split()
CALLS = (
    "np.sqrt(x)",
    "np.sin(x)",
    "np.exp(x)",
    "np.add(x, y)",
    "np.maximum(x, 2)",
    "np.isnan(x)",
    "np.divmod(x, y)",
)
CALLS += (
    "np.hypot(x, y)",
    "np.negative(x, y)",
    "np.add(x, y, dtype=float)",
    "np.add(x, y, z)",
    "np.logical_and(x, y)",
)
CODES = "?bBhHiIlLqQefdgFDG"


def recorded(source: str, **names: Any) -> tuple[Function, Callable[[], Function]]:
    """The function `f` of the source, and a copy with the same code for each first call."""
    space = {"np": np, **names}
    exec(compile(source, "<recorded>", "exec"), space)  # noqa: S102
    function = space["f"]
    assert isinstance(function, FunctionType)

    def fresh() -> Function:
        return tagalong.trace(FunctionType(function.__code__.replace(), space, "eager"))

    return FunctionType(function.__code__.replace(), space, "eager"), fresh


def compare(
    source: str, make: Callable[[], list[Any]], errstate: Any = None, **names: Any
) -> tuple[int, int]:
    """Compares a first call with eager execution; returns how many operations ran here, and how many NumPy executed."""
    eager, fresh = recorded(source, **names)
    state = errstate or {"all": "warn"}
    expected = Outcome(eager, make(), state)
    traced = fresh()
    before = (_core.counter("recorded_operations_computed"), _core.counter("recorded_operations_left"))
    actual = Outcome(traced, make(), state)
    after = (_core.counter("recorded_operations_computed"), _core.counter("recorded_operations_left"))
    assert actual.compared == expected.compared
    stats = tagalong.stats(traced)
    assert (stats.records, stats.hits) == (1, 0)
    return after[0] - before[0], after[1] - before[1]


def operands(code: str, other: str, size: int = LARGE) -> Callable[[], list[Any]]:
    made = [sample(code, (size,), "ordinary"), sample(other, (size,), "special")]
    return lambda: [array.copy() for array in made]


@pytest.mark.parametrize("code", CODES)
def test_operators_of_all_dtypes(code: str) -> None:
    for other in {code, "d", "l", "?", "D"}:
        direct = 0
        for sign in BINARY:
            direct += compare(f"def f(x, y):\n    return x {sign} y", operands(code, other))[0]
        for sign in INPLACE:
            # An integer power that raises leaves uninitialised memory of NumPy's buffers in the result.
            make = operands(code, other if sign != "**=" or other not in "bhilq" else "B")
            compare(f"def f(x, y):\n    x {sign} y\n    return x", make)
        if code == other and code in "ilqd":
            assert direct >= 12
    for sign in UNARY:
        compare(f"def f(x, y):\n    return {sign}x", operands(code, code))


@pytest.mark.parametrize(
    "number", ["2", "-1", "0", "0.5", "True", "1 << 70", "3j", "np.float32(3)", "np.int64(-2)"]
)
def test_operators_with_numbers(number: str) -> None:
    for code in "?bBlfd":
        for sign in BINARY:
            for source in (f"x {sign} {number}", f"{number} {sign} x"):
                compare(f"def f(x, y):\n    return {source}", operands(code, code))
        for sign in INPLACE:
            if sign == "**=" and "-" in number:
                continue  # raises in the middle of a buffer with uninitialised memory
            compare(f"def f(x, y):\n    x {sign} {number}\n    return x", operands(code, code))
            compare(f"def f(x, y):\n    z = {number}\n    z {sign} x\n    return z", operands(code, code))


@pytest.mark.parametrize("source", CALLS)
def test_calls_of_ufuncs(source: str) -> None:
    for code in "?blqfdF":
        make = operands(code, code)
        compare(f"def f(x, y, z):\n    return {source}", lambda: [*make(), np.zeros(LARGE)])  # noqa: B023
    direct, _ = compare("def f(x):\n    return np.sqrt(np.exp(x))", lambda: [np.linspace(0.0, 1.0, LARGE)])
    assert direct == 2


@pytest.mark.parametrize("layout", FLAT_IN_LAYOUTS)
@pytest.mark.parametrize(
    "source", ["x + y", "x / y", "x < y", "-x", "np.sqrt(x)", "np.maximum(x, y)", "(x * y) - y"]
)
def test_layouts(source: str, layout: str) -> None:
    def make() -> list[Any]:
        x, y = np.linspace(-1.0, 4.0, LARGE), np.linspace(2.0, -2.0, LARGE)
        return [
            FLAT_IN_LAYOUTS[layout](x),
            y if x.size != LARGE or layout == "column" else y.reshape(FLAT_IN_LAYOUTS[layout](x).shape),
        ]

    if layout == "column":
        small = lambda: [np.linspace(-1.0, 4.0, 200).reshape(-1, 1), np.linspace(2.0, -2.0, 20_000)]  # noqa: E731
        compare(f"def f(x, y):\n    return {source}", small)
    elif layout == "of another size":
        compare(f"def f(x, y):\n    return {source}", lambda: [np.ones(LARGE - 1), np.ones(LARGE)])
    else:
        compare(f"def f(x, y):\n    return {source}", make)


@pytest.mark.parametrize("errstate", ERRSTATES, ids=str)
@pytest.mark.parametrize(
    "source",
    [
        "x / y",
        "1.0 / x",
        "np.log(x)",
        "np.sqrt(-y) * x",
        "x ** 400.0",
        "(x * 1e300) * 1e300",
        "i // 0",
        "i % 0",
    ],
)
def test_errors_and_warnings(source: str, errstate: dict[str, Any]) -> None:
    text = f"def f(x, y, i):\n    a = x + y\n    try:\n        return a, {source}\n    finally:\n        a += 1.0"
    compare(text, lambda: [np.arange(LARGE) - 5.0, np.zeros(LARGE), np.arange(LARGE)], errstate)
    body = f"    try:\n        z = {source}\n    except FloatingPointError as error:\n        return str(error)\n"
    text = f"def f(x, y, i):\n{body}    return z"
    compare(text, lambda: [np.arange(LARGE) - 5.0, np.zeros(LARGE), np.arange(LARGE)], errstate)


def test_warnings_that_are_errors() -> None:
    eager, fresh = recorded("def f(x):\n    y = x * 2.0\n\n    return y / x")
    for function in (eager, fresh()):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning) as caught:
                function(np.zeros(LARGE))
        assert caught.traceback[-1].lineno == 3


def test_temporaries_are_computed_into_as_eager_execution_does() -> None:
    """This shows in the results of complex products, and in whose memory the result is."""
    for source in (
        "(x * y) * y",
        "y * (x * y)",
        "(x + 0) - y",
        "y - (x + 0)",
        "x * y * x * y",
        "(x + y) ** 2",
    ):
        for code in "dDF":
            for size in (LARGE, 16_384, 16_383, 32_768):
                compare(f"def f(x, y):\n    return {source}", operands(code, code, size))


def test_operands_die_as_in_eager_execution() -> None:
    def f(x, make, note):
        note("first")
        a = make(x, "a") + make(x, "b")
        note("second")
        b = np.maximum(make(x, "c"), make(x, "d"))
        note("third")
        c = -make(x, "e") < make(x, "f")
        note("fourth")
        return a, b, c

    traced = tagalong.trace(FunctionType(f.__code__.replace(), globals(), "f"))
    before = _core.counter("recorded_operations_computed")
    mine = deaths(traced, LARGE)
    assert _core.counter("recorded_operations_computed") - before == 4
    assert mine == deaths(f, LARGE)
    assert tagalong.stats(traced).records == 1


def test_no_proxy_is_visible() -> None:
    """Neither a callback in the middle of an operation nor an operand's method sees one."""
    variable = contextvars.ContextVar[int]("number", default=0)
    seen: list[Any] = []

    def look(*_: Any) -> None:
        kinds = {"ArrayProxy"} & set(map(operator.attrgetter("__name__"), map(type, gc.get_objects())))
        seen.append((kinds, len(contextvars.copy_context())))
        variable.set(variable.get() + 1)

    class Operand:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> Any:
            look()
            seen.append(type(other))
            return other

    class Array(np.ndarray):  # type: ignore[misc]
        def __array_finalize__(self, other: Any) -> None:
            seen.append(type(other))

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
            seen.append((ufunc, method, [type(one) for one in inputs]))
            return getattr(ufunc, method)(*[np.asarray(one) for one in inputs], **named)

    def f(x, operand, array):
        a = x * 2.0 + x
        look()
        b = np.sqrt(x * a) - 1.0 / (x - x)
        contextvars.copy_context().run(look)
        c = (a * b) + operand
        d = np.log(x - x) * (x - a)
        e = x + array, array < x, np.add(x, array), x @ x
        with contextlib.suppress(FloatingPointError), np.errstate(all="raise"):
            d = a * b + 1.0 / (x - x)
        return c * d + x, *e

    def outcome(function: Callable[..., Any]) -> Any:
        seen.clear()
        x = np.linspace(1.0, 2.0, LARGE)
        with np.errstate(all="call", call=look):
            result = function(x, Operand(), x.view(Array))
        return [described(one) for one in result], list(seen), variable.get()

    def own(function: FunctionType) -> FunctionType:
        return FunctionType(function.__code__.replace(), globals(), "f", None, function.__closure__)

    assert isinstance(f, FunctionType)
    before = _core.counter("recorded_operations_computed")
    mine = contextvars.copy_context().run(outcome, tagalong.trace(own(f)))
    assert _core.counter("recorded_operations_computed") - before >= 10
    expected = contextvars.copy_context().run(outcome, own(f))
    assert mine == expected
    assert mine[2] >= 4


def test_callbacks_that_raise_or_are_recorded_themselves() -> None:
    def inner(x: np.ndarray) -> np.ndarray:
        return np.sqrt(x * 2.0) + x

    for raises in (False, True):
        results = []
        for is_traced in (False, True):
            calls: list[Any] = []
            own = (
                tagalong.trace(FunctionType(inner.__code__.replace(), globals(), "inner"))
                if is_traced
                else inner
            )

            def back(kind: str, flag: int, calls: Any = calls, own: Any = own) -> None:
                calls.append((kind, flag, described(own(np.linspace(0.0, 1.0, LARGE)))))
                if raises:
                    raise KeyError(kind)

            eager, fresh = recorded("def f(x):\n    y = x * 3.0\n    return y / x + y")
            outcome = Outcome(
                fresh() if is_traced else eager, [np.zeros(LARGE)], {"divide": "call", "invalid": "warn"}
            )
            with np.errstate(all="call", call=back):
                try:
                    results.append((described((fresh() if is_traced else eager)(np.zeros(LARGE))), calls))
                except KeyError as error:
                    results.append((str(error), calls))
            assert outcome.result is not None
        assert results[0] == results[1]


def test_several_threads_record_at_once() -> None:
    eager, fresh = recorded("def f(x, y):\n    z = np.sqrt(x * x + y)\n    z -= x\n    return z * (x < y)")
    x, y = np.linspace(0.0, 3.0, 300_000), np.linspace(3.0, 1.0, 300_000)
    expected = described(eager(x, y))
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(20):
            if described(fresh()(x, y)) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_recorded_operations_are_replayed() -> None:
    """The graph contains no proxies."""
    eager, fresh = recorded(
        "def f(x, y):\n    z = x * 2.0\n    z += y\n    return np.sqrt(z), z < 3.0, -z ** 2"
    )
    traced = fresh()
    for number in range(4):
        x, y = np.linspace(0.0, number, LARGE), np.linspace(number, 1.0, LARGE)
        mine, theirs = traced(x, y), eager(x, y)
        assert [described(one) for one in mine] == [described(one) for one in theirs]
    assert tagalong.stats(traced).hits == 3
    assert "Proxy" not in tagalong.explain(traced)


def test_loops_and_generators_that_are_recorded() -> None:
    source = """
def g(x):
    for number in range(3):
        yield x * number + 1.0

def f(x):
    total = x * 0.0
    for one in g(x):
        total += one
    for number in range(5):
        total = np.sqrt(total * total + number)
        if total[0] > 100.0:
            break
    return total
"""
    direct, _ = compare(source, lambda: [np.linspace(0.0, 5.0, LARGE)])
    assert direct >= 2


def test_memory_that_temporaries_leave_is_taken() -> None:
    before = _core.counter("kept_memory_taken")
    compare(
        "def f(x, y):\n    return np.sqrt(x * y) + (x - y) ** 2 - np.exp(y - x) * (x * x)",
        operands("d", "d", 200_001),
    )
    assert _core.counter("kept_memory_taken") > before


def test_memory_is_traced_by_tracemalloc() -> None:
    eager, fresh = recorded("def f(x):\n    return np.sqrt(x * 2.0) + np.exp(x * 3.0)")
    x = np.linspace(0.0, 1.0, 100_001)
    tracemalloc.start()
    try:
        sizes = []
        for function in (eager, fresh(), eager):
            result = function(x)
            snapshot = tracemalloc.take_snapshot()
            sizes.append(sum(trace.size for trace in snapshot.traces if trace.size >= x.nbytes))
            del result
        assert sizes == [x.nbytes] * 3
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    chance = Random(seed)
    names = ["x", "y"]
    lines = []
    for number in range(chance.randrange(2, 10)):
        kind = chance.random()
        one, other = chance.choice(names), chance.choice([*names, "2.0", "3", "True"])
        if kind < 0.5:
            lines.append(f"t{number} = {one} {chance.choice(BINARY[:6] + BINARY[12:])} {other}")
        elif kind < 0.65:
            lines.append(
                f"t{number} = ({one} {chance.choice('+-*')} {other}) {chance.choice('+-*/')} {chance.choice(names)}"
            )
        elif kind < 0.85:
            function = chance.choice(
                ["sqrt", "abs", "sin", "exp", "negative", "square", "floor", "isfinite", "log"]
            )
            lines.append(f"t{number} = np.{function}({one} * 1)")
        else:
            lines.append(
                f"t{number} = {one} * 1\n    t{number} {chance.choice(INPLACE[:3])} {chance.choice(names)}"
            )
        names.append(f"t{number}")
    text = "def f(x, y):\n    " + "\n    ".join(lines) + f"\n    return {', '.join(names[2:])}"
    codes = chance.choice("bhilfdD"), chance.choice("Blfd")
    size = chance.choice([LARGE, 65_536, 100_003])
    compare(text, operands(*codes, size), chance.choice(ERRSTATES))


def test_parts_of_a_loop_raise_the_same_as_the_whole() -> None:
    """Each of the loop's threads has its own flags."""
    for place in (0, 1, 77_777, 199_999, 200_000):
        for value in (0.0, np.inf, 1e-310):

            def make() -> list[Any]:
                x = np.full(200_001, 2.0)
                x[place] = value  # noqa: B023
                return [x, x.copy()]

            for source in (
                "1.0 / x",
                "np.log(x)",
                "x * 1e-300 * 1e-10",
                "x - y * x",
                "np.sin(x)",
                "x ** 1000.0",
            ):
                compare(f"def f(x, y):\n    return {source}", make, {"all": "call"})


@pytest.mark.parametrize("code", "?blqdfDF")
def test_where(code: str) -> None:
    for source in (
        "x < y, x, y",
        "x < y, x, 1.5",
        "x, x, y",
        "x == y, 2, y",
        "x < y",
        "x < y, z, y",
        "x < z, y, x",
        "1, x, y",
    ):
        make = operands(code, "d" if code in "DF" else code)
        with_more = lambda: [*make(), make()[0][:1]]  # noqa: B023, E731
        compare(f"def f(x, y, z):\n    return np.where({source})", with_more)
    made = operands("d", "d")
    assert compare("def f(x, y):\n    return np.where(x < y, x, y)", made) == (2, 0)
    compare("def f(x, y):\n    return np.where(x < y, x=x, y=y)", made)


@pytest.mark.parametrize(
    "arguments",
    ["z", "z, x", "z, minlength=9", "z, weights=x", "z, None, weights=x", "z, x, 3, minlength=3", "x", "-z"],
)
def test_bincount(arguments: str) -> None:
    def make() -> list[Any]:
        return [np.linspace(-1.0, 1.0, LARGE), np.arange(LARGE) % 11]

    before = (_core.counter("histograms_computed"), _core.counter("histograms_left"))
    compare(f"def f(x, z):\n    np.sqrt(z)\n    return np.bincount({arguments})", make)
    after = (_core.counter("histograms_computed"), _core.counter("histograms_left"))
    assert (after[0] - before[0]) == (arguments in ("z", "z, x", "z, minlength=9", "z, weights=x"))


def test_objects_are_numpys() -> None:
    source = (
        "def f(x, y):\n    z = x + y\n    return (z * 2 < y).tolist(), np.add(z, x).tolist(), (-z).tolist()"
    )
    both = [np.arange(LARGE).astype("O"), np.arange(LARGE, 0, -1)]
    assert compare(source, lambda: both)[0] == 0


def test_operator_functions_are_the_general_ones() -> None:
    direct, general = compare(
        "def f(x, y):\n    return add(x, y), x.__add__(y), x @ y", operands("d", "d"), add=operator.add
    )
    assert (direct, general) == (0, 0)


@pytest.mark.parametrize("size", [1000, LARGE])
@pytest.mark.parametrize(
    "source", ["make(x) + y", "y * make(x)", "make(x) - 2.0", "-make(x)", "make(x) + np.sqrt(y) - y"]
)
def test_weak_references_to_arrays_that_are_computed_into(source: str, size: int) -> None:
    """They live on with the result, while recording and while replaying."""
    refs: list[weakref.ref[np.ndarray]] = []

    def make(x: np.ndarray) -> np.ndarray:
        array = x * 1.0
        refs.append(weakref.ref(array))
        return array

    eager, fresh = recorded(f"def f(x, y):\n    return {source}", make=make)
    traced = fresh()
    for number in range(4):
        outcomes = []
        for function in (eager, traced):
            refs.clear()
            result = function(np.linspace(0.0, number, size), np.ones(size))
            outcomes.append((refs[0]() is result, refs[0]() is None, described(result)))
        assert outcomes[0] == outcomes[1]
    assert tagalong.stats(traced).hits == 3
