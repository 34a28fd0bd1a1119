"""The array kernels against eager NumPy: every bit of the result, and everything else a caller can see.

Each case runs eagerly and through one kernel site and compares result bytes, dtype, shape, strides, flags, base, exception,
warnings and operands. A case that must take the direct path also asserts that it did: a fallback is a failed test.
"""

from __future__ import annotations

import gc
import operator
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tagalong._core import _UfuncSite

NUMERIC_CODES = "?bBhHiIlLqQefdgFDG"
NUMPY_2 = int(np.__version__.split(".", maxsplit=1)[0]) >= 2
NUMBER_OPERATORS = {
    "+": (0, operator.add, operator.iadd),
    "&": (1, operator.and_, operator.iand),
    "//": (2, operator.floordiv, operator.ifloordiv),
    "<<": (3, operator.lshift, operator.ilshift),
    "*": (5, operator.mul, operator.imul),
    "%": (6, operator.mod, operator.imod),
    "|": (7, operator.or_, operator.ior),
    "**": (8, operator.pow, operator.ipow),
    ">>": (9, operator.rshift, operator.irshift),
    "-": (10, operator.sub, operator.isub),
    "/": (11, operator.truediv, operator.itruediv),
    "^": (12, operator.xor, operator.ixor),
}
INPLACE = 13
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]
UNARY = [operator.neg, operator.pos, operator.invert, operator.abs]
ERRSTATES: list[dict[str, Any]] = [
    {"all": "warn"},
    {"all": "raise"},
    {"all": "ignore"},
    {"all": "ignore", "invalid": "warn"},
    {"all": "call"},
]
LARGE = 40_000  # float64 elements above the 256 KiB at which eager reuses temporaries


def described(value: Any) -> tuple[Any, ...]:
    """Everything that can be seen of a result."""
    if not isinstance(value, np.ndarray):
        raw = value.tobytes() if isinstance(value, np.generic) else repr(value)
        return (type(value), getattr(value, "dtype", None), raw)
    return (
        type(value),
        value.dtype,
        value.dtype.num,
        value.shape,
        value.strides,
        value.flags.num,
        value.base is None,
        significant_bytes(value),
    )


def significant_bytes(value: np.ndarray) -> bytes:
    """The bytes of the elements, without the padding of extended precision."""
    raw = np.ascontiguousarray(value).tobytes()
    if value.dtype.char not in "gG" or np.finfo(np.longdouble).machep != -63:
        return raw
    return b"".join(raw[i : i + 10] for i in range(0, len(raw), 16))


class Seen:
    """One run: its result or exception, its warnings, its error callbacks."""

    def __init__(self, run: Callable[[], Any], errstate: dict[str, Any]) -> None:
        self.calls: list[Any] = []
        self.value: Any = None
        self.error: Any = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with np.errstate(call=lambda kind, flag: self.calls.append((kind, flag)), **errstate):
                try:
                    self.value = run()
                except Exception as error:  # noqa: BLE001 - whatever it is, it has to be the same
                    self.error = (type(error), str(error))
        self.warnings = [(w.category, str(w.message), w.filename) for w in caught]

    def comparable(self) -> tuple[Any, ...]:
        """What has to be equal."""
        value = None if self.error else described(self.value)
        return (value, self.error, self.warnings, self.calls)


def compare_runs(
    eager: Callable[[], Any],
    direct: Callable[[_UfuncSite], Any],
    *,
    errstate: dict[str, Any] | None = None,
    must_be_direct: bool = True,
    label: str = "",
) -> _UfuncSite:
    """Runs both; equal, or rightly left to the general call. Returns the site with its counters."""
    site = _UfuncSite()
    errstate = errstate or {"all": "warn"}
    actual = Seen(lambda: direct(site), errstate)
    if actual.value is NotImplemented:
        assert site.direct == 0 and site.fallback == 1, label
        assert not actual.warnings and not actual.calls, label
        assert not must_be_direct, f"not direct: {label}"
        return site
    assert site.fallback == 0, label
    assert site.direct + site.elided == 1, label
    # Second, because 1.26 itself crashes for some operands (float128 & 2**70) that are left to it anyway.
    expected = Seen(eager, errstate)
    assert actual.comparable() == expected.comparable(), f"{label} {errstate}"
    return site


RNG = np.random.default_rng(20240607)


def sample(code: str, shape: tuple[int, ...], kind: str) -> np.ndarray:
    """Values of one dtype: ordinary, the extremes, or random bits."""
    count = int(np.prod(shape))
    dtype = np.dtype(code)
    if kind == "bits" and code not in "?gG":
        return RNG.integers(0, 256, count * dtype.itemsize, dtype=np.uint8).view(dtype).reshape(shape)
    if dtype.kind == "b":
        return (RNG.integers(0, 2, count) == 1).reshape(shape)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        pool = np.array([0, 1, 2, 3, info.max, info.min, info.max - 1, info.max // 2], dtype=dtype)
        if kind == "ordinary":
            return RNG.integers(0, 100, count).astype(dtype).reshape(shape)
        return RNG.choice(pool, count).reshape(shape)
    if kind == "ordinary":
        value = RNG.uniform(-3, 3, count)
        return (
            (value + 1j * RNG.uniform(-3, 3, count) if dtype.kind == "c" else value)
            .astype(dtype)
            .reshape(shape)
        )
    info = np.finfo(dtype)
    pool = np.array(
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            np.inf,
            -np.inf,
            np.nan,
            info.max,
            info.tiny,
            -info.max,
            info.tiny / 2,
            1e4,
            710.0,
        ],
        dtype=info.dtype,
    )
    if dtype.kind == "c":
        out = np.empty(count, dtype)
        out.real, out.imag = RNG.choice(pool, count), RNG.choice(pool, count)
        return out.reshape(shape)
    return RNG.choice(pool, count).reshape(shape)


def layouts(code: str, kind: str) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Layouts that eager NumPy runs as one inner loop."""
    for size in (0, 1, 3, 10, 17, 600):
        yield f"1-D {size}", lambda size=size: sample(code, (size,), kind)
    yield "strided", lambda: sample(code, (40,), kind)[::2]
    yield "reversed", lambda: sample(code, (21,), kind)[::-1]
    yield "stride 0", lambda: np.broadcast_to(sample(code, (1,), kind), (12,))
    yield "C", lambda: sample(code, (3, 4, 2), kind)
    yield "F", lambda: np.asfortranarray(sample(code, (5, 4), kind))
    yield "both orders", lambda: sample(code, (1, 9), kind)
    yield "empty 2-D", lambda: sample(code, (3, 0), kind)


def ufuncs() -> list[np.ufunc]:
    """All ufuncs of NumPy with one output and no core dimensions."""
    found = {f.__name__: f for f in vars(np).values() if isinstance(f, np.ufunc)}
    return [f for _, f in sorted(found.items()) if f.nout == 1 and f.signature is None and f.nin <= 4]


@pytest.mark.parametrize("ufunc", ufuncs(), ids=lambda f: f.__name__)
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
                    # the same dtypes may belong to a loop that comes earlier in the table and casts
                    must_be_direct=resolves_to_itself(ufunc, inputs),
                    label=f"{ufunc.__name__} {types} {kind} {list(layouts('d', kind))[layout][0]}",
                )
                direct += site.direct
                assert [o.tobytes() for o in operands] == before
    assert direct > 0 or not any(set(t) <= set(NUMERIC_CODES + "->") for t in ufunc.types)


def resolves_to_itself(ufunc: np.ufunc, inputs: str) -> bool:
    """Eager needs no cast for operands of these dtypes."""
    dtypes = tuple(np.dtype(code) for code in inputs)
    try:
        return ufunc.resolve_dtypes((*dtypes, None))[: ufunc.nin] == dtypes
    except TypeError:
        return False


@pytest.mark.parametrize("errstate", ERRSTATES, ids=str)
@pytest.mark.parametrize("code", "efdFDgG")
def test_floating_point_errors(code: str, errstate: dict[str, Any]) -> None:
    """Each kind of error, alone and together, is reported like eager does it."""
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


def test_errors_of_reused_temporaries() -> None:
    """The result overwrote the input, the report is still eager's."""
    site = _UfuncSite()
    for errstate in ERRSTATES:
        for value in (0.0, 1.0):
            expected = Seen(lambda value=value: 1.0 / (np.zeros(5) + value), errstate)
            actual = Seen(lambda value=value: site.binary(11, [1.0, np.zeros(5) + value], 2), errstate)
            assert actual.comparable() == expected.comparable()
    assert site.reused == site.direct == 2 * len(ERRSTATES)


def test_warning_as_error_discards_the_result() -> None:
    """A warning that a filter turns into an exception."""
    site = _UfuncSite()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
            site.call(np.log, [np.zeros(3)], 0)
    assert site.direct == 1


def test_old_flags_are_not_reported() -> None:
    """Flags that were raised before the operation are not the operation's."""
    with np.errstate(all="ignore"):
        np.ones(3, dtype="g") / np.zeros(3, dtype="g")
        np.ones(3) / np.zeros(3)
    site = _UfuncSite()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for code in "dg":
            site.binary(0, [np.ones(3, dtype=code), np.ones(3, dtype=code)], 0)
    assert site.direct == 2


PYTHON_SCALARS = [
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    5,
    100,
    127,
    128,
    -128,
    -129,
    255,
    256,
    300,
    32767,
    32768,
    65535,
    65536,
    70000,
    2**24,
    2**24 + 1,
    2**31 - 1,
    2**31,
    -(2**31),
    2**53,
    2**53 + 1,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
    2**70,
    -(2**63),
    -(2**70),
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    3.0,
    0.1,
    1e-5,
    1e-46,
    1e-310,
    65000.0,
    65504.0,
    65520.0,
    1e5,
    3.3e38,
    3.4e38,
    3.41e38,
    1e300,
    float("inf"),
    float("-inf"),
    float("nan"),
    1j,
    0j,
    2 + 0j,
    complex(float("nan"), 1e300),
    complex(-0.0, float("inf")),
]
# 1.26 lets long long and scalars end in either 64-bit dtype, so there the general call decides
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
    """`x ** s` has fast ways that depend on the type and value of s, and on the version."""
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


@pytest.mark.parametrize("code", "?blLfdFDeg")
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "&", "**", "%"])
@pytest.mark.parametrize("size", [7, LARGE])
def test_temporaries(symbol: str, code: str, size: int) -> None:
    """Operands that eager NumPy may overwrite, on the left, on the right, on both sides."""
    number, function, inplace = NUMBER_OPERATORS[symbol]
    kind = "bits" if code in "fdFD" else "ordinary"
    left, right = sample(code, (size,), kind), sample(code, (size,), kind)
    if symbol == "**" and np.dtype(code).kind in "iu":
        right = abs(right) % 3
    expressions: list[tuple[Callable[[], Any], Callable[[], list[Any]], int]] = [
        (lambda: function(left, right), lambda: [left, right], 0),
        (lambda: eval_binary(symbol, left.copy, None, None, right), lambda: [left.copy(), right], 1),
        (lambda: eval_binary(symbol, None, left, right.copy, None), lambda: [left, right.copy()], 2),
        (
            lambda: eval_binary(symbol, left.copy, None, right.copy, None),
            lambda: [left.copy(), right.copy()],
            3,
        ),
        (lambda: function(left, right), lambda: [left.copy(), right.copy()], 3 << 8),
    ]
    for eager, operands, temporaries in expressions:
        compare_runs(
            eager,
            lambda site, operands=operands, temporaries=temporaries: site.binary(
                number, operands(), temporaries
            ),
            errstate={"all": "ignore"},
            must_be_direct=False,
            label=f"{symbol} {code} {size} {temporaries}",
        )
        kept: list[Any] = []

        def kept_alive(
            site: _UfuncSite, operands: Callable[[], list[Any]] = operands, bits: int = temporaries
        ) -> Any:
            items = operands()
            kept.extend([*items, *(item.tobytes() for item in items)])  # noqa: B023 - used at once
            return site.binary(number, items, bits)

        site = compare_runs(eager, kept_alive, errstate={"all": "ignore"}, must_be_direct=False)
        assert site.reused == 0
        assert [item.tobytes() for item in kept[:2]] == kept[2:]
    for scalar in (2, 0.5, 1.5 - 2j, np.float32(2), True):
        for bits, eager in [
            (1, lambda scalar=scalar: eval_binary(symbol, left.copy, None, None, scalar)),
            (2, lambda scalar=scalar: eval_binary(symbol, None, scalar, left.copy, None)),
        ]:
            compare_runs(
                eager,
                lambda site, scalar=scalar, bits=bits: site.binary(
                    number, [left.copy(), scalar] if bits == 1 else [scalar, left.copy()], bits
                ),
                errstate={"all": "ignore"},
                must_be_direct=False,
                label=f"{symbol} {code} {size} {scalar!r} {bits}",
            )


def eval_binary(symbol: str, make_left: Any, left: Any, make_right: Any, right: Any) -> Any:
    """`left op right` in the interpreter, so that NumPy recognises temporaries made on the value stack."""
    left_text = "make_left()" if make_left else "left"
    right_text = "make_right()" if make_right else "right"
    names = {"make_left": make_left, "left": left, "make_right": make_right, "right": right}
    return eval(f"{left_text} {symbol} {right_text}", names)  # noqa: S307


@pytest.mark.parametrize("code", ["f", "d", "F", "D"])
def test_elision_shows_in_the_payload_of_nans(code: str) -> None:
    """Where both operands are NaN the first one's payload wins, and elision exchanges commutative operands."""
    real = code.lower()
    unsigned = {"f": "I", "d": "L"}[real]
    first = np.full(4 * LARGE, np.nan, dtype=real)
    second = (first.view(unsigned) + 1).view(real)
    left, right = first.view(code), second.view(code)
    cases: list[tuple[Callable[[], Any], list[Any], int]] = [
        (lambda: eval_binary("+", None, left, None, right), [left, right], 0),
        (lambda: eval_binary("+", None, left, right.copy, None), [left, right.copy()], 2),
        (lambda: eval_binary("+", left.copy, None, right.copy, None), [left.copy(), right.copy()], 3),
        (lambda: eval_binary("+", left.copy, None, None, right), [left.copy(), right], 1),
    ]
    seen = set()
    for eager, operands, temporaries in cases:
        expected = described(eager())
        seen.add(expected)
        # with the temporary itself, and with one that somebody else holds, too
        assert described(_UfuncSite().binary(0, list(operands), temporaries)) == expected
        while operands:
            items = [operands.pop(0), operands.pop(0)]
            site = _UfuncSite()
            assert described(site.binary(0, items, temporaries)) == expected
        assert site.direct == 1
    if len(seen) == 1:
        pytest.skip("NumPy does not elide temporaries in this process (sanitizer?)")
    assert len(seen) == 2


@pytest.mark.parametrize("symbol", ["+", "*", "-", "/"])
def test_elision_where_the_direct_path_does_not_go(symbol: str) -> None:
    """Complex temporaries meeting real arrays, other orders, broadcasts: eager's in-place operation is done."""
    number, function, _ = NUMBER_OPERATORS[symbol]
    shape = (200, 200)
    left = sample("D", shape, "ordinary")
    for right in [
        sample("d", shape, "ordinary"),
        np.asfortranarray(left),
        sample("f", shape, "ordinary"),
        left[0],
        left[:, :1],
        3,
    ]:
        for keep in (False, True):
            site = _UfuncSite()
            kept: list[Any] = []
            for bits, operands, eager in [
                (
                    1,
                    lambda right=right: [left.copy(), right],
                    lambda right=right: eval_binary(symbol, left.copy, None, None, right),
                ),
                (
                    2,
                    lambda right=right: [right, left.copy()],
                    lambda right=right: eval_binary(symbol, None, right, left.copy, None),
                ),
            ]:
                items = operands()
                kept.extend(items if keep else [])
                result = site.binary(number, items, bits)
                if result is NotImplemented:
                    result = function(*operands()) if bits == 1 else function(*operands())
                assert described(result) == described(eager()), (right, bits, keep)


def test_small_temporaries_are_reused() -> None:
    """The memory of a dead intermediate is taken, and nothing shows."""
    site = _UfuncSite()
    for code in "bhilfd":
        for bits, operands in [
            (1, lambda c=code: [np.ones(5, c), np.ones(5, c)]),
            (1 << 9, lambda c=code: [3, np.ones(5, c)]),
        ]:
            reused = site.reused
            result = site.binary(0, operands(), bits)
            assert site.reused == reused + 1
            assert described(result) == described(operator.add(*operands()))
            assert sys.getrefcount(result) == 2


def test_what_is_not_reused() -> None:
    """Views, arrays somebody refers to, other dtypes, read-only arrays, arrays that do not look new."""
    base = np.ones(8)
    held = np.ones(8)
    weakly = np.ones(8)
    reference = weakref.ref(weakly)
    frozen = np.ones(8)
    frozen.flags.writeable = False
    site = _UfuncSite()

    def take(items: list[Any]) -> None:
        result = site.binary(5, items, 1)
        assert result.tolist() == [2.0] * 8

    take([base[:], 2.0])
    take([held, 2.0])
    operands = [frozen, 2.0]
    del frozen
    take(operands)
    operands = [weakly, 2.0]
    del weakly
    take(operands)
    assert site.reused == 0 and site.direct == 4
    assert base.tolist() == held.tolist() == [1.0] * 8
    assert reference() is None
    column = np.ones((8, 4)).T.copy("K")
    assert described(site.binary(5, [np.ones((8, 4)).T.copy("K"), 2.0], 1)) == described(column * 2.0)
    assert site.call(np.equal, [np.ones(4), np.ones(4)], 3).dtype == bool
    assert site.call(np.exp, [np.ones(4)], 1) is not None
    assert site.reused == 1


def test_inplace_overlap_is_left_to_numpy() -> None:
    """Only the very same memory or memory that is apart is direct."""
    site = _UfuncSite()
    buffer = np.arange(20.0)
    for left, right, direct in [
        (buffer[:10], buffer[:10], 1),
        (buffer[:10], buffer[10:], 1),
        (buffer[:10], buffer[1:11], 0),
        (buffer[1:11], buffer[:10], 0),
        (buffer[:10], buffer[9::-1], 0),
        (buffer[::2], buffer[::2], 1),
        (buffer[::2], buffer[1::2], 0),
        (buffer[::-1], buffer[::-1], 0),
    ]:
        before = site.direct
        saved = buffer.copy()
        expected = saved.copy()
        outcome = site.binary(13, [left, right], 0)
        assert site.direct - before == direct
        if direct:
            assert outcome is left
            offsets = [
                (a.__array_interface__["data"][0] - buffer.__array_interface__["data"][0]) // 8
                for a in (left, right)
            ]
            views = [
                np.lib.stride_tricks.as_strided(expected[o:], a.shape, a.strides)
                for o, a in zip(offsets, (left, right), strict=True)
            ]
            views[0] += views[1]
            assert buffer.tolist() == expected.tolist()
        else:
            assert buffer.tolist() == saved.tolist()


def test_inplace_keeps_identity_and_refuses() -> None:
    """The result is the left operand; what cannot be written goes to the general call untouched."""
    site = _UfuncSite()
    array = np.arange(4.0)
    assert site.binary(13, [array, 1.0], 0) is array
    assert array.tolist() == [1.0, 2.0, 3.0, 4.0]
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    integers = np.arange(4)
    for left, right in [
        (frozen, 1.0),
        (integers, 1.5),
        (np.ones(3, "f"), np.ones(3)),
        (np.ones(3), np.ones((2, 3))),
        (np.ones((2, 3)), np.ones(3)),
        (np.array(1.0), np.ones(1)),
        (np.broadcast_to(np.ones(1), 3), 1.0),
    ]:
        before = left.tobytes()
        assert site.binary(13, [left, right], 0) is NotImplemented
        assert left.tobytes() == before
    assert site.direct == 1
    # a left operand that is no array has no in-place operator
    assert site.binary(13, [2.0, np.ones(3)], 0).tolist() == [3.0, 3.0, 3.0]


class Subclass(np.ndarray):
    """Has its own ideas."""


class Overrides:
    """Would like to be asked."""

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
    """Nothing happens, and the counters say so."""
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
    [np.matmul, np.modf, np.divmod, np.frompyfunc(lambda x: x, 1, 1), len, np.sum, None, np.add.reduce],
    ids=str,
)
def test_other_callables_fall_back(ufunc: Any) -> None:
    """Several outputs, core dimensions, Python functions, no ufunc at all."""
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


def test_matrix_product_falls_back() -> None:
    """`@` is no element-wise loop."""
    site = _UfuncSite()
    assert site.binary(4, [np.ones((2, 2)), np.ones((2, 2))], 0) is NotImplemented
    assert site.binary(4 + INPLACE, [np.ones((2, 2)), np.ones((2, 2))], 0) is NotImplemented


def test_a_site_is_polymorphic() -> None:
    """More shapes and dtypes than it has entries, in turn."""
    site = _UfuncSite()
    operands = [
        sample(code, shape, "ordinary") for code in "bhlfdD" for shape in [(3,), (2, 2), (0,), (5, 1)]
    ]
    for _ in range(3):
        for array in operands:
            assert described(site.binary(5, [array, array], 0)) == described(array * array)
    assert site.fallback == 0 and site.direct == 3 * len(operands)


def test_references_are_given_back() -> None:
    """Operands, dtypes and results have the references they had."""
    site = _UfuncSite()
    array, other = np.arange(5.0), np.arange(5.0) + 1
    zeros = np.zeros(5)  # in some versions np.zeros itself leaks a reference to its dtype
    things = [array, other, array.dtype, np.dtype(bool), np.add]

    def rounds() -> None:
        for _ in range(500):
            site.binary(0, [array, other], 3)
            site.binary(0, [array, 1.0], 0)
            site.binary(13, [array, 1.0], 0)
            site.compare(0, [array, 1], 0)
            site.call(np.sin, [array], 0)
            site.binary(0, [array, "no"], 0)
            site.binary(0, [array.copy(), other], 1)
            with np.errstate(all="raise"):
                try:
                    site.binary(11, [other, zeros], 0)
                except FloatingPointError:
                    pass

    rounds()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in things]
    blocks = sys.getallocatedblocks()
    rounds()
    gc.collect()
    assert [sys.getrefcount(thing) for thing in things] == before
    assert sys.getallocatedblocks() - blocks < 50


def test_threads_share_a_site() -> None:
    """Long loops release the GIL; results of several threads do not mix."""
    site = _UfuncSite()
    arrays = [np.full(60_000, float(i)) for i in range(4)]
    failures: list[str] = []

    def work(index: int) -> None:
        for _ in range(100):
            result = site.binary(5, [arrays[index], float(index)], 0)
            if result[0] != index * index or result[-1] != index * index:
                failures.append("product")
            if not (site.call(np.sin, [arrays[index]], 0) == np.sin(arrays[index])).all():
                failures.append("sine")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert site.fallback == 0 and site.direct == 800


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
    """Whatever number meets whatever array: eager's result, or the general call."""
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
    """Any dtypes, orders and strides."""
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
