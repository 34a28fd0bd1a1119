"""The array kernels against eager NumPy: every bit of the result, and everything else a caller can see.

Each case runs eagerly and through one kernel site; result bytes, dtype, shape, strides, flags, base, exception,
warnings and operands are compared. A case that must take the direct path also asserts that it did: a fallback is a
failed test. test_arrays_memory.py has the tests of memory.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from arrays_support import (
    COMPARISONS,
    ERRSTATES,
    INPLACE,
    LARGE,
    NUMBER_OPERATORS,
    NUMERIC_CODES,
    NUMPY_2,
    UNARY,
    compare_runs,
    described,
    sample,
    ufuncs,
)
from tagalong._core import _UfuncSite


def layouts(code: str, kind: str) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Layouts for which eager NumPy calls one inner loop."""
    for size in (0, 1, 3, 10, 17, 600):
        yield f"1-D {size}", lambda size=size: sample(code, (size,), kind)
    yield "strided", lambda: sample(code, (40,), kind)[::2]
    # NumPy 1.26 takes an element in front of such operands for a part of them, and complex results may lie there.
    yield "reversed", lambda: sample(code, (22,), kind)[:0:-1]
    yield "stride 0", lambda: np.broadcast_to(sample(code, (1,), kind), (12,))
    yield "C", lambda: sample(code, (3, 4, 2), kind)
    yield "F", lambda: np.asfortranarray(sample(code, (5, 4), kind))
    yield "both orders", lambda: sample(code, (1, 9), kind)
    yield "empty 2-D", lambda: sample(code, (3, 0), kind)


@pytest.mark.parametrize("ufunc", [f for f in ufuncs() if f.nin <= 4], ids=lambda f: f.__name__)
def test_every_loop_of_every_ufunc(ufunc: np.ufunc) -> None:
    """All layouts, ordinary and extreme values, every numeric loop of the ufunc."""
    direct = 0
    for types in ufunc.types:
        inputs, output = types.split("->")
        if any(code not in NUMERIC_CODES for code in inputs + output):
            continue
        for kind in ("ordinary", "extreme", "bits"):
            for layout in range(len(list(layouts("d", kind)))):
                operands = [list(layouts(code, kind))[layout][1]() for code in inputs]
                before = [o.tobytes() for o in operands]
                errstate = ERRSTATES[layout % len(ERRSTATES)]
                site = compare_runs(
                    lambda operands=operands: ufunc(*operands),
                    lambda site, operands=operands: site.call(ufunc, list(operands), 0),
                    errstate=errstate,
                    # an earlier loop in the table may accept the same dtypes with a cast
                    must_be_direct=resolves_to_itself(ufunc, inputs),
                    label=f"{ufunc.__name__} {types} {kind} {list(layouts('d', kind))[layout][0]}",
                )
                direct += site.direct
                assert [o.tobytes() for o in operands] == before
    assert direct > 0 or not any(set(t) <= set(NUMERIC_CODES + "->") for t in ufunc.types)


def resolves_to_itself(ufunc: np.ufunc, inputs: str) -> bool:
    """Whether eager execution needs no cast for operands of these dtypes."""
    dtypes = tuple(np.dtype(code) for code in inputs)
    try:
        return ufunc.resolve_dtypes((*dtypes, None))[: ufunc.nin] == dtypes
    except TypeError:
        return False


@pytest.mark.parametrize("errstate", ERRSTATES, ids=str)
@pytest.mark.parametrize("code", "efdFDgG")
def test_floating_point_errors(code: str, errstate: dict[str, Any]) -> None:
    """Each kind of error, alone and together with others, is reported as in eager execution."""
    zero, one, huge = (np.full(4, v, dtype=code) for v in (0, 1, np.finfo(code).max))
    tiny = np.full(4, np.finfo(code).tiny, dtype=code)
    nan = np.full(4, np.nan, dtype=code)
    mixed_top, mixed_bottom = np.array([0, 1, 1, 1], dtype=code), np.array([0, 0, 1, 1], dtype=code)
    for symbol, left, right in [
        ("/", one, zero),
        ("/", zero, zero),
        ("*", huge, huge),
        ("+", huge, huge),
        ("*", tiny, tiny),
        ("+", nan, one),
        ("/", mixed_top, mixed_bottom),
        ("-", huge, -huge),
        ("/", one, one),
        ("**", huge, huge),
        ("**", tiny, one + one + one),
        ("**", huge, 2),
        ("**", zero, -1),
    ]:
        number, function, inplace = NUMBER_OPERATORS[symbol]
        compare_runs(
            lambda left=left, right=right, function=function: function(left, right),
            lambda site, left=left, right=right, number=number: site.binary(number, [left, right], 0),
            errstate=errstate,
            label=f"{symbol} {code}",
        )
        first, second = left.copy(), left.copy()
        compare_runs(
            lambda first=first, right=right, inplace=inplace: inplace(first, right),
            lambda site, second=second, right=right, number=number: site.binary(
                number + INPLACE, [second, right], 0
            ),
            errstate=errstate,
            label=f"{symbol}= {code}",
        )
        assert described(first) == described(second)


def test_warning_as_error_discards_the_result() -> None:
    """A warning that a filter turns into an exception."""
    site = _UfuncSite()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
            site.call(np.log, [np.zeros(3)], 0)
    assert site.direct == 1


def test_old_flags_are_not_reported() -> None:
    """Flags that were set before the operation are not reported for it."""
    with np.errstate(all="ignore"):
        np.ones(3, dtype="g") / np.zeros(3, dtype="g")
        np.ones(3) / np.zeros(3)
    site = _UfuncSite()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for code in "dg":
            site.binary(0, [np.ones(3, dtype=code), np.ones(3, dtype=code)], 0)
    assert site.direct == 2


# fmt: off
PYTHON_SCALARS = [
    True, False, 0, 1, -1, 2, 3, 5, 100, 127, 128, -128, -129, 255, 256, 300, 32767, 32768, 65535, 65536,
    70000, 2**24, 2**24 + 1, 2**31 - 1, 2**31, -(2**31), 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64
    - 1, 2**64, 2**70, -(2**63), -(2**70), 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 0.1, 1e-5, 1e-46, 1e-310,
    65000.0, 65504.0, 65520.0, 1e5, 3.3e38, 3.4e38, 3.41e38, 1e300, float("inf"), float("-inf"),
    float("nan"), 1j, 0j, 2 + 0j, complex(float("nan"), 1e300), complex(-0.0, float("inf")),
]
# fmt: on
# 1.26 gives results of long long and scalars either 64-bit dtype, so the general call decides
DIRECT_SCALARS = {"b": 5, "B": 5, "h": 5, "i": 5, "l": 5, "L": 5, "f": 2.5, "d": 2.5, "F": 2.5j, "D": 2.5j}


@pytest.mark.parametrize("code", NUMERIC_CODES)
@pytest.mark.parametrize("symbol", NUMBER_OPERATORS)
def test_operators_with_python_scalars(symbol: str, code: str) -> None:
    """Every operator with Python numbers of all sizes on either side, and in place."""
    number, function, inplace = NUMBER_OPERATORS[symbol]
    array = sample(code, (6,), "extreme")
    for scalar in PYTHON_SCALARS:
        for operands in ([array, scalar], [scalar, array]):
            compare_runs(
                lambda operands=operands: function(*operands),
                lambda site, operands=operands: site.binary(number, list(operands), 0),
                must_be_direct=False,
                label=f"{operands[0]!r} {symbol} {operands[1]!r} ({code})",
            )
        first, second = array.copy(), array.copy()
        site = compare_runs(
            lambda first=first, scalar=scalar: inplace(first, scalar),
            lambda site, second=second, scalar=scalar: site.binary(number + INPLACE, [second, scalar], 0),
            must_be_direct=False,
            label=f"{symbol}= {scalar!r} ({code})",
        )
        if site.direct:
            assert described(first) == described(second)


@pytest.mark.parametrize("code", DIRECT_SCALARS)
@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_ordinary_python_scalars_are_direct(symbol: str, code: str) -> None:
    """The common case must not fall back."""
    number, function, _ = NUMBER_OPERATORS[symbol]
    array = sample(code, (6,), "ordinary")
    for scalar in {DIRECT_SCALARS[code], 3}:
        for operands in ([array, scalar], [scalar, array]):
            compare_runs(
                lambda operands=operands: function(*operands),
                lambda site, operands=operands: site.binary(number, list(operands), 0),
                label=f"{code} {symbol} {scalar!r}",
            )


@pytest.mark.parametrize("code", NUMERIC_CODES)
@pytest.mark.parametrize("compare", COMPARISONS, ids=lambda f: f.__name__)
def test_comparisons(compare: Callable[[Any, Any], Any], code: str) -> None:
    """Rich comparisons, the number on either side."""
    index = COMPARISONS.index(compare)
    array = sample(code, (6,), "extreme")
    other = sample(code, (6,), "extreme")
    compare_runs(lambda: compare(array, other), lambda site: site.compare(index, [array, other], 0))
    for scalar in [*PYTHON_SCALARS, array[2], np.float64(1.5), np.array(3)]:
        for operands in ([array, scalar], [scalar, array]):
            compare_runs(
                lambda operands=operands: compare(*operands),
                lambda site, operands=operands: site.compare(index, list(operands), 0),
                must_be_direct=False,
                label=f"{compare.__name__} {code} {scalar!r}",
            )
    site = _UfuncSite()
    if code in DIRECT_SCALARS:
        site.compare(index, [sample(code, (6,), "ordinary"), 3], 0)
        assert site.direct == 1


@pytest.mark.parametrize("code", NUMERIC_CODES)
@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_unary(function: Callable[[Any], Any], code: str) -> None:
    """Unary operators, with and without a temporary."""
    index = UNARY.index(function)
    for size in (6, LARGE):
        array = sample(code, (size,), "extreme")
        for temporaries in (0, 1, 1 << 8):
            compare_runs(
                (lambda array=array: function(array.copy()))
                if temporaries == 1
                else (lambda array=array: function(array)),
                lambda site, array=array, temporaries=temporaries: site.unary(
                    index, [array.copy()], temporaries
                ),
                must_be_direct=False,
                label=f"{function.__name__} {code}",
            )
    if code in "bhilfdD" and function is not operator.invert:
        site = _UfuncSite()
        site.unary(index, [sample(code, (6,), "ordinary")], 0)
        assert site.direct == 1


@pytest.mark.parametrize("code", NUMERIC_CODES)
def test_numpy_scalars_and_zero_dimensional_arrays(code: str) -> None:
    """Scalars of every dtype against arrays of every dtype."""
    array = sample(code, (5,), "ordinary")
    direct = 0
    for other in NUMERIC_CODES:
        for value in (sample(other, (1,), "ordinary"), sample(other, (1,), "extreme")):
            for scalar in (value[0], value.reshape(())):
                for symbol in ("+", "*", "/", "**", "//"):
                    number, function, _ = NUMBER_OPERATORS[symbol]
                    for operands in ([array, scalar], [scalar, array]):
                        site = compare_runs(
                            lambda operands=operands, function=function: function(*operands),
                            lambda site, operands=operands, number=number: site.binary(
                                number, list(operands), 0
                            ),
                            must_be_direct=other == code and symbol in "+*" and (NUMPY_2 or code not in "qQ"),
                            label=f"{array!r} {symbol} {scalar!r} {operands[0] is array}",
                        )
                        direct += site.direct
    assert direct > 0 or (code in "qQ" and not NUMPY_2)


@pytest.mark.parametrize("base", NUMERIC_CODES)
@pytest.mark.parametrize("size", [6, LARGE])
def test_power(base: str, size: int) -> None:
    """`x ** s` has fast paths that depend on the type and value of s, and on NumPy's version."""
    array = sample(base, (size,), "ordinary")
    direct = 0
    for exponent in [
        -2,
        -1,
        0,
        1,
        2,
        3,
        -2.0,
        -1.0,
        0.0,
        0.5,
        1.0,
        2.0,
        3.0,
        True,
        2j,
        np.float64(2),
        np.int64(2),
        np.array(2),
    ]:
        for temporaries in (0, 1):
            site = compare_runs(
                (lambda exponent=exponent: array.copy() ** exponent)
                if temporaries
                else (lambda exponent=exponent: array**exponent),
                lambda site, exponent=exponent, temporaries=temporaries: site.binary(
                    8, [array.copy(), exponent], temporaries
                ),
                must_be_direct=base in "fdFD" and exponent == 2 and type(exponent) is int,
                label=f"{base} ** {exponent!r} ({size})",
            )
            direct += site.direct
        first, second = array.copy(), array.copy()
        compare_runs(
            lambda first=first, exponent=exponent: operator.ipow(first, exponent),
            lambda site, second=second, exponent=exponent: site.binary(8 + INPLACE, [second, exponent], 0),
            must_be_direct=False,
            label=f"{base} **= {exponent!r}",
        )
    assert direct > 0 or base == "?"


def test_negative_integer_power_raises() -> None:
    """An exception that a loop sets."""
    array = np.array([2, -1, 3])
    site = compare_runs(
        lambda: array ** np.array([1, -1, 2]), lambda site: site.binary(8, [array, np.array([1, -1, 2])], 0)
    )
    assert site.direct == 1


class Subclass(np.ndarray):
    """A subclass of ndarray."""


class Overrides:
    """A class with `__array_ufunc__`."""

    __array_ufunc__ = None

    def __radd__(self, other: Any) -> str:
        return "mine"


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.ones(4).view(Subclass),
        lambda: np.ma.masked_array(np.ones(4)),
        lambda: np.ones(4, object),
        lambda: np.ones(4, ">f8"),
        lambda: np.ones(4, "m8[s]"),
        lambda: np.zeros(4, "M8[s]"),
        lambda: np.array(["a"] * 4),
        lambda: np.zeros(4, [("a", "f8")]),
        lambda: [1.0] * 4,
        lambda: (1.0,) * 4,
        lambda: None,
        Overrides,
        lambda: np.frombuffer(b"\0" * 33, "u1")[1:].view("f8"),
        lambda: np.ones((4, 1)),
        lambda: np.ones((2, 4)),
        lambda: np.ones(1),
        lambda: np.float128(1) if hasattr(np, "float128") else "x",
        lambda: "text",
        lambda: type("F", (float,), {})(2.0),
        lambda: type("I", (int,), {})(2),
        lambda: np.datetime64(1, "s"),
        lambda: np.array("a"),
        lambda: np.ones(5),
    ],
)
def test_foreign_operands_fall_back(make: Callable[[], Any]) -> None:
    """The direct path does nothing, and the counters show the fallback."""
    site = _UfuncSite()
    array = np.ones(4)
    for operands in ([array, make()], [make(), array]):
        for symbol in ("+", "*", "**"):
            assert site.binary(NUMBER_OPERATORS[symbol][0], list(operands), 0) is NotImplemented
            assert site.binary(NUMBER_OPERATORS[symbol][0] + INPLACE, list(operands), 0) is NotImplemented
        assert site.compare(2, list(operands), 0) is NotImplemented
        assert site.call(np.add, list(operands), 0) is NotImplemented
    assert site.direct == 0 and site.fallback == 16
    assert array.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    "ufunc",
    [np.modf, np.divmod, np.frompyfunc(lambda x: x, 1, 1), len, np.sum, None, np.add.reduce],
    ids=["modf", "divmod", "frompyfunc", "len", "np.sum", "None", "reduce"],
)
def test_other_callables_fall_back(ufunc: Any) -> None:
    """Several outputs, Python functions, and callables that are not ufuncs."""
    site = _UfuncSite()
    for operands in (
        [np.ones((3, 3))],
        [np.ones((3, 3)), np.ones((3, 3))],
        [np.ones(3)] * 4,
        [3.0],
        [np.array(3.0)],
    ):
        assert site.call(ufunc, list(operands), 0) is NotImplemented
    assert site.direct == 0


def test_matrix_products() -> None:
    """`@` and np.matmul are direct for arrays of one dtype, but not in place."""
    site = _UfuncSite()
    matrix = np.arange(4.0).reshape(2, 2)
    assert described(site.binary(4, [matrix, matrix], 0)) == described(matrix @ matrix)
    assert described(site.call(np.matmul, [matrix, matrix[0]], 0)) == described(matrix @ matrix[0])
    assert site.direct == 2
    assert site.binary(4 + INPLACE, [matrix, matrix], 0) is NotImplemented
    assert site.binary(4, [np.ones((3, 2, 2)), np.ones((2, 2, 2))], 0) is NotImplemented
    assert site.binary(4, [matrix, np.ones((3, 3))], 0) is NotImplemented
    assert site.binary(4, [matrix, matrix.astype(np.float32)], 0) is NotImplemented
    assert site.binary(4, [matrix, 2.0], 0) is NotImplemented
    for operands in ([np.ones(3)] * 4, [3.0], [np.array(3.0)], [np.ones((3, 3))]):
        assert site.call(np.matmul, list(operands), 0) is NotImplemented
    assert site.direct == 2


def test_a_site_is_polymorphic() -> None:
    """More shapes and dtypes than it has entries, alternating."""
    site = _UfuncSite()
    operands = [
        sample(code, shape, "ordinary") for code in "bhlfdD" for shape in [(3,), (2, 2), (0,), (5, 1)]
    ]
    for _ in range(3):
        for array in operands:
            assert described(site.binary(5, [array, array], 0)) == described(array * array)
    assert site.fallback == 0 and site.direct == 3 * len(operands)


SCALARS = st.one_of(
    st.integers(),
    st.integers(-300, 300),
    st.floats(),
    st.floats(width=32),
    st.complex_numbers(),
    st.booleans(),
)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    code=st.sampled_from(NUMERIC_CODES),
    symbol=st.sampled_from(sorted(NUMBER_OPERATORS)),
    scalar=SCALARS,
    left=st.booleans(),
    order=st.sampled_from(["C", "F", "1"]),
    errstate=st.sampled_from(ERRSTATES),
    temporary=st.booleans(),
)
def test_any_scalar(
    code: str, symbol: str, scalar: Any, left: bool, order: str, errstate: dict[str, Any], temporary: bool
) -> None:
    """For every number and array: eager's result, or the general call."""
    number, function, _ = NUMBER_OPERATORS[symbol]
    array = np.array(
        sample(code, (12,) if order == "1" else (3, 4), "extreme"), order="F" if order == "F" else "C"
    )
    operands = [array, scalar] if left else [scalar, array]
    compare_runs(
        lambda: function(*operands),
        lambda site: site.binary(
            number, [o.copy(order="K") if o is array else o for o in operands], 3 * temporary
        ),
        errstate=errstate,
        must_be_direct=False,
        label=f"{operands!r} {symbol}",
    )


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    codes=st.lists(st.sampled_from(NUMERIC_CODES), min_size=2, max_size=2),
    symbol=st.sampled_from(sorted(NUMBER_OPERATORS)),
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple),
    transposed=st.lists(st.booleans(), min_size=2, max_size=2),
    steps=st.lists(st.sampled_from([1, 2, -1]), min_size=2, max_size=2),
    errstate=st.sampled_from(ERRSTATES),
    inplace=st.booleans(),
)
def test_any_pair_of_arrays(
    codes: list[str],
    symbol: str,
    shape: tuple[int, ...],
    transposed: list[bool],
    steps: list[int],
    errstate: dict[str, Any],
    inplace: bool,
) -> None:
    """All dtypes, orders and strides."""
    number, function, inplace_function = NUMBER_OPERATORS[symbol]

    def build(code: str, flip: bool, step: int) -> np.ndarray:
        full = shape[::-1] if flip else shape
        array = sample(code, (full[0] * abs(step), *full[1:]), "extreme")[::step]
        return array.T if flip else array

    left, right = (build(c, t, s) for c, t, s in zip(codes, transposed, steps, strict=True))
    mirror = build(codes[0], transposed[0], steps[0])
    mirror[...] = left
    compare_runs(
        lambda: (inplace_function if inplace else function)(left, right),
        lambda site: site.binary(number + INPLACE * inplace, [mirror if inplace else left, right], 0),
        errstate=errstate,
        must_be_direct=False,
        label=f"{symbol} {codes} {shape} {transposed} {steps} {inplace}",
    )
