"""Small fusion groups on their fast path: rows of one shape, new arrays; one loop of machine code, or a few loops."""

from __future__ import annotations

import gc
import itertools
import types
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import HAS_CODE, described, misaligned
from tagalong import _core, testing

RANDOM = np.random.default_rng(51)
SIZES = (1, 2, 7, 8, 9, 10, 63, 64, 65, 1000, 1023, 1024, 1025, 3000)
MOST = 1024  # elements
MOST_OF_SEVERAL = 64  # ... if there are several loops
WARM_UP = 6
PAUSE = 15  # number of calls without it after a call whose results were left to NumPy

pytestmark = pytest.mark.skipif(not HAS_CODE, reason="this machine has no such instructions")


def chain(x, y):
    return np.sqrt((x * y + x - y) * 0.5) + y


def with_numbers(x, y):
    return (x - 2.0) / (y + 3) * x


def comparison(x, y):
    return (x * 2.0 > y) & (x < y + 1.0)


def two_results(x, y):
    total = x + y
    return total * 0.5, total - x


def extremes(x, y):
    return np.maximum(x, y) - np.minimum(np.abs(x), y)


def waves(x, y):
    return np.sin(x - y) * np.cos(x * 0.5 + y) + np.sin(y)


def several(x, y):
    whole = np.floor(x * y)
    return whole - np.arctan(x + y) * 2.0, np.rint(whole * 0.5) < y


def growth(x, y):
    return np.exp(x * 0.5) - np.log(y + 1.0) * np.tanh(x)


OF_ONE_LOOP = (chain, with_numbers, comparison, two_results, extremes)
PROGRAMS = (*OF_ONE_LOOP, waves, several, growth)
KINDS: dict[str, Callable[[Any], np.ndarray]] = {
    "ordinary": lambda shape: RANDOM.uniform(1, 2, shape),
    "a NaN": lambda shape: np.where(RANDOM.random(shape) < 0.01, -np.nan, 1.5),
    "zeros": lambda shape: RANDOM.choice([0.0, -0.0], shape),
    "negative": lambda shape: RANDOM.normal(size=shape),
    "large": lambda shape: RANDOM.choice([1e308, 1.7e308, np.inf], shape),
    "tiny": lambda shape: RANDOM.choice([5e-324, 1e-310, 2.3e-308], shape),
}


@pytest.fixture(autouse=True)
def all_fusion_groups() -> None:
    _core.set_option("fusion", 2)
    _core.set_option("retire_after", 0)


def said(function: Callable[..., Any], arguments: tuple[Any, ...], state: str = "warn") -> Any:
    with warnings.catch_warnings(record=True) as caught, np.errstate(all=state):
        warnings.simplefilter("always")
        try:
            result = function(*arguments)
            seen: Any = [described(item) for item in (result if isinstance(result, tuple) else (result,))]
        except FloatingPointError as error:
            seen = str(error)
    return seen, [str(warning.message) for warning in caught]


def pair(shape: Any = 10) -> tuple[np.ndarray, np.ndarray]:
    return KINDS["ordinary"](shape), KINDS["ordinary"](shape) + 1


def traced(program: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    made = tagalong.trace(FunctionType(program.__code__.replace(), program.__globals__, program.__name__))
    for _ in range(WARM_UP):
        made(*arguments)
    return made


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_bits_and_reports(program: Callable[..., Any]) -> None:
    mine = traced(program, *pair())
    for size in SIZES:
        arguments = pair(size)
        before = _core.counter("small_groups")
        with testing.events() as events:
            found = said(mine, arguments)
        assert found == said(program, arguments)
        assert events == ["hit"]
        most = MOST if program in OF_ONE_LOOP else MOST_OF_SEVERAL
        assert _core.counter("small_groups") - before == (size <= most), size
    for kind, size in itertools.product(KINDS, SIZES):
        for state in ("warn", "raise", "ignore"):
            arguments = KINDS[kind](size), KINDS[kind](size)
            assert said(mine, arguments, state) == said(program, arguments, state), (kind, size, state)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_flags_set_before_are_not_reported(program: Callable[..., Any]) -> None:
    """Flags that the program's own computations have set are not reported."""
    mine = traced(program, *pair())
    large = float("1e308")
    for _ in range(5):
        arguments = pair(20)
        before = _core.counter("small_groups")
        assert large * 10.0 == np.inf and large * 1e-308 * 5e-324 < 1.0
        found = said(mine, arguments, "raise")
        assert found == said(program, arguments, "raise")
        assert _core.counter("small_groups") == before + 1


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_other_ways_and_back(program: Callable[..., Any]) -> None:
    mine = traced(program, *pair())
    arguments = KINDS["a NaN"](1000), KINDS["a NaN"](1000)
    assert said(mine, arguments) == said(program, arguments)
    for _ in range(4 * PAUSE):
        mine(*pair())
    before = _core.counter("small_groups")
    mine(*pair())
    assert _core.counter("small_groups") == before + 1


class Sub(np.ndarray):
    pass


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "as it is": lambda x: x,
    "F": np.asfortranarray,
    "every second": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: x[..., ::-1],
    "turned": lambda x: x.T.copy().T,
    "one row": lambda x: x[:1],
    "first axis": lambda x: x[..., :1],
    "unaligned": misaligned,
    "swapped bytes": lambda x: x.astype(">f8"),
    "float32": lambda x: x.astype(np.float32),
    "int64": lambda x: x.astype(np.int64),
    "subclass": lambda x: x.view(Sub),
    "a number": lambda _: 1.5,
    "0-d": lambda _: np.array(1.5),
    "NumPy scalar": lambda _: np.float64(1.5),
    "list": lambda x: x[0].tolist(),
}


@pytest.mark.parametrize(
    "program", (chain, with_numbers, two_results, several), ids=lambda program: program.__name__
)
@pytest.mark.parametrize(
    "shape", [(8,), (1,), (0,), (3, 4), (1, 4), (4, 1), (1, 1), (2, 3, 4), (2, 1, 4), (0, 3)], ids=str
)
def test_layouts(program: Callable[..., Any], shape: tuple[int, ...]) -> None:
    mine = traced(program, *pair(shape))
    for first, second in itertools.product(LAYOUTS, LAYOUTS):
        if shape[0] == 0 and "list" in (first, second):
            continue
        x, y = pair(shape)
        arguments = LAYOUTS[first](x), LAYOUTS[second](y)
        if not any(isinstance(argument, np.ndarray) for argument in arguments):
            continue
        found, expected = [], []
        for seen, function in ((found, mine), (expected, program)):
            try:
                seen.append(said(function, arguments))
            except (TypeError, ValueError) as error:
                seen.append((type(error), str(error)))
        assert found == expected, (first, second)


def test_operands_are_left_as_they_are() -> None:
    """The result is a new array, whether the operand is writable or not."""
    mine = traced(chain, *pair())
    x, y = pair()
    x.flags.writeable = False
    kept = x.tobytes(), y.tobytes()
    one, two = mine(x, y), mine(x, y)
    assert one is not two and not np.shares_memory(one, two) and one.flags.writeable and one.flags.owndata
    assert (x.tobytes(), y.tobytes()) == kept


class Other(types.ModuleType):
    """A subclass of modules."""


def named(a, b):
    return lib.sqrt(a * a + b) * scale - lib.abs(b) + float(1)  # noqa: F821


def test_names_are_those_of_the_call() -> None:
    """The names are looked up again if a dict has changed, and only then."""

    def module(kind: type[types.ModuleType], **changed: Any) -> types.ModuleType:
        made = kind("lib")
        vars(made).update({name: getattr(np, name) for name in ("sqrt", "abs", "negative")}, **changed)
        return made

    space: dict[str, Any] = {"lib": module(types.ModuleType), "scale": 2.0, "unrelated": 0}
    eager = FunctionType(named.__code__.replace(), space)
    traced = tagalong.trace(FunctionType(named.__code__.replace(), space))
    a, b = RANDOM.uniform(1, 2, (2, 10))

    def agree(rounds: int = 1) -> None:
        for _ in range(rounds):
            assert described(traced(a, b)) == described(eager(a, b))

    agree(3 * PAUSE)
    changes = [
        lambda: space.update(scale=3.0),
        lambda: space.update(unrelated=1),
        lambda: setattr(space["lib"], "sqrt", np.negative),
        lambda: setattr(space["lib"], "unrelated", 1),
        lambda: setattr(space["lib"], "abs", lambda x: x * 5.0),
        lambda: setattr(space["lib"], "abs", np.abs),
        lambda: space.update(lib=module(types.ModuleType)),
        lambda: space.update(lib=module(types.ModuleType, sqrt=np.square)),
        lambda: space.update(lib=module(Other)),
        lambda: space.update(float=lambda x: x * 0.25),
        lambda: space.pop("float"),
    ]
    for change in changes * 3:
        change()
        gc.collect()  # so that a new module may get the address of the old one
        agree(4)
    for i in range(200):  # rebound each time, as by a loop in a module
        space["unrelated"] = i
        agree()
        if i % 20 == 19:
            space["lib"] = None
            space["lib"] = module(types.ModuleType, sqrt=(np.sqrt, np.square, np.negative)[i // 20 % 3])
    before = _core.counter("groups_run")
    agree(50)
    assert _core.counter("groups_run") >= before + 50


@pytest.mark.parametrize(
    "expression", ["(a ** -1 > c) | (a < c)", "(a ** -1) + c", "a ** c - a", "(a ** -1 + c) * a < c"]
)
def test_loops_that_set_an_exception_and_succeed(expression: str) -> None:
    """As the power of integers does for negative exponents."""
    space: dict[str, Any] = {}
    exec(f"def f(a, c):\n    return {expression}\n", space)  # noqa: S102
    traced = tagalong.trace(space["f"])
    eager = FunctionType(space["f"].__code__.replace(co_name="eager"), space)
    a = np.arange(1, 9)
    for c in (a, a, a, a, -a, a[::-1].copy(), -a):
        outcomes = []
        for function in (eager, traced):
            try:
                outcomes.append(described(function(a, c)))
            except ValueError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
