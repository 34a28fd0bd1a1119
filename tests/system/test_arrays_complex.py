"""Fusion groups of complex numbers: eager's bytes, flags and warnings, in all layouts and lengths.

Eager NumPy rounds the parts of a product in another way for some strides, and swaps operands of large temporaries.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, misaligned
from chains_support import both, check, groups_run
from tagalong import _core
from tagalong._dumps import dumps_of

RANDOM = np.random.default_rng(4243)
pytestmark = pytest.mark.usefixtures("lanes")
WARM_UP = 3
LENGTHS = [*range(1, 100), 127, 128, 255, 257, 1023, 1024, 1025, 4099, 8193]
FEW_LENGTHS = (1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 130, 1025)
LARGE = (16_383, 16_385, 40_000)  # around the 256 KiB at which eager computes into temporaries

# a, b and c are complex, r is real, m is a mask.
VECTOR_PROGRAMS = {
    "chain": "return (a + b - c) * b - a * 7",
    "quotients": "return a / b, (a - 1) / (c + 2j), 3 / a, (a * b) / 2.5",
    "squares": "return (a + b) ** 2, np.square(c - 1) + a, a * a",
    "signs": "return -a * b, np.conj(a) * b, np.conjugate(b - c) + -c",
    "absolute": "return abs(a), np.abs(a * b - c), np.abs(a) ** 2 + 1",
    "equal": "return a == b, a * 1 != b, (a == b) & (c != b)",
    "choices": "return np.where(m, a * b, c - 1), np.where(a == b, -a, b) + 1j",
    "numbers": "return a * (1 + 2j) + 3, 2j * b - 1.5, c * 3 + a, (0.5 - 1j) * (a * b)",
    "real": "return r * a + b, (r - 1) * (a + r), a * r * r",
    "real and imaginary": "return (r * 1j) * a, 1j * r + a, np.abs(1 - 1j * r)",
    "masks": "return (a - m) * b, m * a + c",
    "parts": "d = a * b - c\n    return d.real * d.real + d.imag * d.imag, (d.imag - r) * 2, d.real < d.imag",
    "parts with names": "d = a * b\n    x = d.real\n    y = d.imag\n    return np.sqrt(x * x + y * y) - x",
    "parts of operands": "return (a + 1).real * b.imag - c.real * r, b.real + a.imag",
    "parts by functions": "d = a + b\n    return np.real(d * b) * r - np.imag(d), np.abs(np.imag(d)) + 1",
    "builtin absolute value": "return abs(a * b) - abs(c), abs((a - b).real) * 2, abs(a) * r",
    "several": "d = a * b\n    e = d - c\n    return d, e, d * e, np.abs(e) < np.abs(d)",
    "many": "d = a * b\n"
    + "".join(f"    e{k} = d * {k} + b * {k + 1}j\n" for k in range(14))
    + "    return e0, e1, e2, d - e0 * e1 + e2 * e3 - e4 * e5 + e6 * e7 - e8 + e9 * e10 - e11 + e12 * e13",
}
PROGRAMS = {
    **VECTOR_PROGRAMS,
    "functions": "return np.exp(a * 0.5) + b, np.log(a + 3) * c, np.sqrt(a * b) - np.sin(c)",
    "powers": "return (a + b) ** 3, a ** -1 + b, np.reciprocal(a * c) + 1",
    "predicates": "return np.isnan(a * b), np.isfinite(a + b) & m, (a - b) < c, np.maximum(a + c, b)",
    "casts": "return r.astype(a.dtype) * b, (a + 1).astype(np.complex128) - c, m * a + b",
    "integers": "return a * m + b, m.astype(np.int16) * a + c, (a - 2) * np.arange(a.shape[-1]) + c",
}
DTYPES = ("complex64", "complex128")
CASES = list(itertools.product(DTYPES, PROGRAMS))
VECTOR_CASES = list(itertools.product(DTYPES, VECTOR_PROGRAMS))


def special(dtype: str) -> np.ndarray:
    """Parts that instructions treat in different ways."""
    real = np.dtype(dtype).type(0).real.dtype
    limits = np.finfo(real)
    tiny = float(limits.tiny)
    numbers = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        float(limits.smallest_subnormal),
        tiny,
        -tiny / 2,
        float(limits.max),
        -1.0,
        1.0,
    ]
    bits = np.dtype(f"u{real.itemsize}")
    quiet = np.array([np.nan], real).view(bits)[0]
    sign = bits.type(1) << bits.type(8 * real.itemsize - 1)
    nans = [quiet, quiet | bits.type(0x123), quiet | sign | bits.type(0x45)]
    return np.concatenate([np.array(numbers, real), np.array(nans, bits).view(real)])


def numbers(dtype: Any, shape: Any, *, extreme: float = 0.0) -> np.ndarray:
    """Ordinary numbers; some of their parts are replaced by extreme ones."""
    kind = np.dtype(dtype)
    real = kind.type(0).real.dtype
    made = np.empty(shape, kind)
    parts = made.reshape(-1).view(real)
    parts[:] = RANDOM.uniform(-2.0, 2.0, parts.size)
    if extreme:
        are_extreme = RANDOM.uniform(size=parts.size) < extreme
        parts[are_extreme] = RANDOM.choice(special(dtype), int(are_extreme.sum()))
    return made


def operands(dtype: str, shape: Any, extreme: float = 0.0) -> list[np.ndarray]:
    made = [numbers(dtype, shape, extreme=extreme) for _ in range(3)]
    flat = [array.reshape(-1) for array in made]
    flat[1][::5] = flat[0][::5]  # equal elements
    flat[0][::7] = 0
    flat[2][::11] = flat[2][::11].real
    real = numbers(np.dtype(dtype).type(0).real.dtype, shape, extreme=extreme)
    return [*made, real, RANDOM.integers(0, 2, shape).astype(bool)]


def program(name: str) -> tuple[Any, Any]:
    return both(f"def f(a, b, c, r, m):\n    {PROGRAMS[name]}\n")


def again(made: list[np.ndarray]) -> Callable[[], list[np.ndarray]]:
    return lambda: [array.copy("K") for array in made]


@pytest.mark.parametrize(("dtype", "name"), VECTOR_CASES)
def test_vector_code(dtype: str, name: str, lanes: int) -> None:
    eager, traced = program(name)
    for _ in range(WARM_UP):
        traced(*operands(dtype, 300))
    kernels = "\n".join(dumps_of(eager, lambda: (tuple(operands(dtype, 300)), {}))["kernels"])
    assert groups_run() > 0, tagalong.explain(traced)
    assert lanes == 0 or ("vector kernel" in kernels and "NumPy's loop" not in kernels), kernels


@pytest.mark.parametrize(("dtype", "name"), CASES)
def test_lengths(dtype: str, name: str) -> None:
    eager, traced = program(name)
    for _ in range(WARM_UP):
        traced(*operands(dtype, 300))
    for length in (*LENGTHS[1:], *LARGE, 1):  # one element comes last: it may run by itself
        ran = groups_run()
        check(eager, traced, again(operands(dtype, length)), {"all": "ignore"})
        assert length == 1 or groups_run() > ran, tagalong.explain(traced)
    for length, extreme, errstate in itertools.product(FEW_LENGTHS, (0.02, 0.3, 1.0), ERRSTATES):
        check(eager, traced, again(operands(dtype, length, extreme)), errstate)


@pytest.mark.parametrize(("dtype", "name"), CASES)
def test_each_special_part(dtype: str, name: str) -> None:
    eager, traced = program(name)
    for _ in range(WARM_UP):
        traced(*operands(dtype, 21))
    chosen = special(dtype)
    for place in (0, 5, 16, 20):
        for one, other in itertools.product(range(len(chosen)), repeat=2):
            made = operands(dtype, 21)
            made[0].real[place], made[0].imag[place] = chosen[one], chosen[other]
            made[1].real[place], made[1].imag[place] = chosen[other], chosen[one]
            check(eager, traced, again(made), {"all": "ignore"})


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": lambda array: array,
    "Fortran": np.asfortranarray,
    "every other column": lambda array: np.repeat(array, 2, axis=1)[:, ::2],
    "backwards": lambda array: array[:, ::-1],
    "upside down": lambda array: array[::-1],
    "part of rows": lambda array: np.pad(array, ((0, 0), (2, 3)))[:, 2:-3],
    "row": lambda array: array[:1],
    "column": lambda array: np.ascontiguousarray(array[:, :1]),
    "scalar": lambda array: array[0, 0],
    "no axes": lambda array: np.array(array[0, 0]),
    "real parts": lambda array: array.real if array.dtype.kind == "c" else array,
    "unaligned": misaligned,
}


@pytest.mark.parametrize(("dtype", "name"), CASES)
def test_layouts(dtype: str, name: str) -> None:
    eager, traced = program(name)
    for shape, extreme in itertools.product(((3, 17), (40, 31), (5, 1030), (150, 130)), (0.0, 0.02)):
        for first, second in itertools.product(
            LAYOUTS.values(), ("contiguous", "column", "part of rows", "Fortran")
        ):
            made = operands(dtype, shape, extreme)
            made[0], made[1] = first(made[0]), LAYOUTS[second](made[1])
            check(eager, traced, lambda made=made: list(made), {"all": "ignore"})
            check(eager, traced, lambda made=made: list(made), {"all": "ignore"})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_targets_beside_operands(dtype: str, step: int) -> None:
    """NumPy 1.26 takes memory less than a stride behind an operand for a part of it, and rounds in another way."""
    eager, traced = both("def f(a, b, c):\n    d = a + b\n    np.multiply(a, d, out=c)\n    return c * b\n")
    count = 40
    for _ in range(WARM_UP):
        traced(*(numbers(dtype, count) for _ in range(3)))
    for distance in range(-2 * step - 1, 2 * step + 2):
        for target_step, is_before in itertools.product({1, step}, (False, True)):
            memory, b = numbers(dtype, 40 * count), numbers(dtype, count)
            start = 20 * count + distance + (-count * target_step if is_before else count * step)

            def operands(
                memory: np.ndarray = memory, start: int = start, other: int = target_step
            ) -> list[Any]:
                copied = memory.copy()
                a, c = (
                    copied[first:][: count * each : each]
                    for first, each in ((20 * count, step), (start, other))
                )
                return [a, b, c]  # noqa: B023

            check(eager, traced, operands, {"all": "ignore"})


@pytest.mark.parametrize("dtype", DTYPES)
def test_into_arrays(dtype: str) -> None:
    eager, traced = both(
        "def f(a, b, c, r, m):\n    c[:] = a * b - 1\n    c += b * 2\n    c *= r\n    return (a - b) * 2 + c\n"
    )
    for length, extreme in itertools.product((300, *FEW_LENGTHS, 20_000, 100_001), (0.0, 0.05)):
        for errstate in ERRSTATES:
            check(eager, traced, again(operands(dtype, length, extreme)), errstate)
    eager, traced = both(
        "def f(a, b, c, r, m):\n    d = c[1:-1]\n    d *= a[1:-1] + b[2:]\n    c[::2] = a[::2] * b[::2]\n"
        "    np.multiply(c, b, out=c)\n    np.square(c[::2], out=c[::2])\n    return c * a\n"
    )
    for length, extreme in itertools.product((300, 301, 300, 64, 65, 20_000), (0.0, 0.05)):
        check(eager, traced, again(operands(dtype, length, extreme)), {"all": "ignore"})
    eager, traced = both(
        "def f(a, b, c, r, m):\n    np.multiply(c, b, out=c)\n    a *= b\n    a += c\n    return a * c\n"
    )
    for length in (300, 300, 300, *range(1, 70)):  # NumPy 1.26 has another product for one element in place
        check(eager, traced, again(operands(dtype, length)), {"all": "ignore"})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "statement",
    [
        "c[::2] *= c[1::2]",
        "np.multiply(c[:150], b[:150], out=c[150:])",
        "c[:150] *= c[150:]",
        "c[::2] = (a[:150] + 1) * c[1::2]",
        "np.multiply(a[:150] + c[150:], c[150:], out=c[:150])",
        "c[::2] *= a[::2]; c[1::2] *= c[::2]",
        "c *= a; b *= c; a *= b",
        "np.abs(c, out=r); c *= r",
    ],
)
def test_neighbours_in_memory(dtype: str, statement: str) -> None:
    """Eager multiplies without vectors where an operand lies beside the result or between its elements."""
    eager, traced = both(f"def f(a, b, c, r, m):\n    d = a + b\n    {statement}\n    return c * d - 1\n")
    for extreme in (0.0, 0.0, 0.0, 0.0, 0.05):
        check(eager, traced, again(operands(dtype, 300, extreme)), {"all": "ignore"})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "source",
    [
        "(a * b) * (b * c)",
        "2j * (a * b) + c",
        "a * np.exp(1j * r)",
        "c * (a * b) * (b * c) - a * (b - c)",
        "(a + b) * (a * (b * c))",
    ],
)
def test_swapped_operands(dtype: str, source: str) -> None:
    """Eager computes into large temporaries, and exchanges the operands if the right one is the temporary."""
    eager, traced = both(f"def f(a, b, c, r, m):\n    return {source}\n")
    for length in (300, 300, 300, *LARGE, 100, *LARGE, 1_100_000):
        check(eager, traced, again(operands(dtype, length)), {"all": "ignore"})
    for shape in ((200, 205), (300, 201)):
        made = [np.pad(array, ((0, 0), (1, 2)))[:, 1:-2] for array in operands(dtype, shape)]
        check(eager, traced, lambda made=made: list(made), {"all": "ignore"})
    assert groups_run() > 0, tagalong.explain(traced)


@pytest.mark.parametrize("dtype", DTYPES)
def test_stores_past_the_caches(dtype: str) -> None:
    _core.set_option("min_non_temporal", 1)
    eager, traced = both("def f(a, b, c, r, m):\n    return a * b - c, r * a, a + c\n")
    for length, extreme in itertools.product((3000, 3000, 3000, 1025, 4103, 24_596, 100_003), (0.0, 0.001)):
        check(eager, traced, again(operands(dtype, length, extreme)))
    for shape in ((60, 70), (33, 1031)):  # rows that begin at all addresses
        made = [np.pad(array, ((0, 0), (1, 2)))[:, 1:-2] for array in operands(dtype, shape)]
        check(eager, traced, lambda made=made: list(made))


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(dtype: str) -> None:
    """Reductions of absolute values and sums belong to the group; means end it, and sums along axes."""
    eager, traced = both(
        "def f(a, b, c, r, m):\n    d = np.abs(a * b + c) ** 2\n    e = d / d.sum()\n"
        "    return e.max(), (np.abs(a - b)).argmax(), (a * c + 1).sum(), (a * b).mean(), e\n"
    )
    for length, extreme in itertools.product((300, *FEW_LENGTHS, 8193, 50_000), (0.0, 0.01)):
        check(eager, traced, again(operands(dtype, length, extreme)))
    eager, traced = both(
        "def f(a, b, c, r, m):\n    return np.abs(a * b).sum(axis=1), (a - b).sum(axis=0), abs(a * c).max(0)\n"
    )
    for shape in ((20, 30), (8, 4), (300, 7), (3, 5000)):
        check(eager, traced, again(operands(dtype, shape)))


SUMS = {
    "of an operand": "return a.sum()",
    "of a result": "return (a * b + c).sum(), np.sum(a * np.conj(b))",
    "and the result": "d = a * b\n    return d.sum(), d * 2, np.abs(d)",
    "and a real one": "d = a - b\n    return d.sum(), (np.abs(d) ** 2).sum(), (d.real * r).max()",
    "as an operand": "d = a * b\n    return d / d.sum(), d - np.sum(c * 2)",
}


@pytest.mark.parametrize(("dtype", "name"), itertools.product(DTYPES, SUMS))
def test_sums(dtype: str, name: str) -> None:
    """NumPy cuts a sum of complex numbers at other elements than a sum of as many floats."""
    eager, traced = both(f"def f(a, b, c, r, m):\n    {SUMS[name]}\n")
    for _ in range(WARM_UP):
        traced(*operands(dtype, 300))
    for length in (*LENGTHS[1:], *range(1000, 1100, 7), 8191, 8193, 20_011, 300_001):
        ran = groups_run()
        check(eager, traced, again(operands(dtype, length)), {"all": "ignore"})
        assert groups_run() > ran, tagalong.explain(traced)
    for length, extreme, errstate in itertools.product((*FEW_LENGTHS, 9001), (0.001, 0.3), ERRSTATES):
        check(eager, traced, again(operands(dtype, length, extreme)), errstate)
    for shape, layout in itertools.product(((3, 17), (40, 31), (5, 1030), (150, 130)), LAYOUTS.values()):
        made = operands(dtype, shape)
        made[0] = layout(made[0])
        check(eager, traced, lambda made=made: list(made), {"all": "ignore"})


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_by_several_threads(dtype: str) -> None:
    _core.set_option("min_part", 1024)
    eager, traced = both("def f(a, b, c, r, m):\n    return (a * b + c).sum(), np.abs(a)\n")
    for length in (300, 300, 300, 4099, 20_011, 100_001, 1_000_003):
        check(eager, traced, again(operands(dtype, length)), {"all": "ignore"})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "statements",
    [
        "x = d.real; d *= 2; return x * 3, d + x",
        "x = d.imag; x *= 2; return x * d.real, d",
        "x = d.real; np.multiply(r, r, out=x); return x + d.imag, d",
        "x = d.real; return x, x * 2",
        "x = d.real; y = x * 2 + d.imag; d = y - 1; return d * x",
        "d.real = r; return d * 2 + 1",
        "x = d.real; return np.roll(x, 1) + x, x[1:] * 2",
        "x = d.real; s = x.sum(); return (x - s) * 2, x.max(), x.mean()",
        "x = a.real; a *= 2; return x * 3 + a.imag",
        "x = a.real; x += r; return a * 2, x * d.real",
        "return np.sin(d.real) * r, np.arctan2(d.imag, d.real) + 1, np.exp(d.imag) * 2",
        "return np.angle(d) * 2, np.where(m, d.real, r) - d.imag, d.real.astype('f4') * 2",
        "return r.real * 2 + r, (r * 2).real + r.imag, abs(r * 2) + abs(r)",
        "x = abs(r - 1); return x * abs(r * 2 - x), abs(x) + 1, abs(d).sum()",
    ],
)
def test_views_of_parts(dtype: str, statements: str) -> None:
    """What is written in a view, or in its array, is seen through the other one."""
    eager, traced = both(f"def f(a, b, c, r, m):\n    d = a * b + c\n    {statements}\n")
    for length, extreme in itertools.product((300, 300, 300, *FEW_LENGTHS, 20_000, 70_000), (0.0, 0.02)):
        check(eager, traced, again(operands(dtype, length, extreme)))
    for shape, layout in itertools.product(((3, 17), (40, 31), (1, 30), (30, 1)), LAYOUTS.values()):
        made = operands(dtype, shape)
        made[0] = layout(made[0])
        check(eager, traced, lambda made=made: [array.copy("K") for array in made])


@pytest.mark.parametrize("code", ["F", "D"])
@pytest.mark.parametrize("shape", [(1,), (1, 1), (2,), (1, 3)])
def test_one_element_is_computed_into_an_operand(code: str, shape: tuple[int, ...]) -> None:
    """NumPy takes one element for a reduction, whose loop rounds in another way."""
    eager, traced = both(
        "def f(x, y):\n    t = np.multiply(x, y)\n    np.multiply(t, y, out=t)\n    return t\n"
    )
    random = np.random.default_rng(11)
    for _ in range(40):
        made = [(random.uniform(-3, 3, shape) + 1j * random.uniform(-3, 3, shape)).astype(code) for _ in "xy"]
        check(eager, traced, lambda made=made: list(made))
