"""Machine code for fused operations of every lane type: eager's bytes and flags, in all layouts and lengths."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, HAS_VECTORS, NUMPY_2, misaligned
from chains_support import both, check, groups_run
from tagalong import _core
from tagalong._dumps import dumps_of

RANDOM = np.random.default_rng(4242)
pytestmark = [
    pytest.mark.usefixtures("lanes"),
    pytest.mark.parametrize("lanes", ["wide", "narrow"], indirect=True),
]
WARM_UP = 3
LENGTHS = [*range(1, 201), 255, 257, 1023, 1024, 1025, 4099, 8191, 8193]
FEW_LENGTHS = (1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 130, 1025)

FLOATS = {
    "arithmetic": "return (a + b - c) * b / (c + 3) - a / 7",
    "divisions": "return a / b, b / c / a, 1 / a",
    "roots": "return np.sqrt(np.abs(a * b) + 1) + np.square(c) - np.reciprocal(b)",
    "signs": "return -a * np.sign(b * 1) + np.absolute(c - 1) - np.fabs(a * b), np.sign(a + 0)",
    "extremes": "return np.maximum(a * 1, b) - np.minimum(c + 0, a)",
    "clipped": "return np.clip(a * 2, b, c) + b, np.clip(c + b, 1, 2), (a + b).clip(c, c)",
    "rounded": "return np.floor(a * 3) + np.ceil(b * 3), np.trunc(c * 5) - np.rint(a * 5)",
    "comparisons": "d = a + 0\n    return d < b, d <= b, d == b, d != b, d > b, d >= b",
    "logic": "d, e = a < b + 0, b * 1 >= c\n    return d & e, d | ~e, np.logical_not(d), d & (e | (c == a))",
    "masks read": "return np.where(m, a * b, c - 1), m & (a * 1 < b), (c + 0 > a) | m",
    "choices": "return np.where((a < b) & ~(c - 1 > b), a * 2, np.where(b > 1, c, -a)) + 1",
    "several": "d = a * b\n    e = d - c\n    return d, e, d * e, np.sqrt(np.abs(e)) < d",
    "many": "d = a * b\n"
    + "".join(f"    e{k} = d * {k} + b * {k + 1}\n" for k in range(14))
    + "    return e0, e1, e2, d - e0 * e1 + e2 * e3 - e4 * e5 + e6 * e7 - e8 + e9 * e10 - e11 + e12 * e13",
    "numbers": "return (" + " + ".join(f"(a * {k} - b / {k + 3})" for k in range(20)) + ") * c",
}
INTEGERS = {
    "arithmetic": "return (a + b - c) * b - (c + 3) * 7",
    "signs": "return -a * np.sign(b * 1) + np.absolute(c - 1) - np.square(a * b), np.sign(a + 0), abs(b + 0)",
    "extremes": "return np.maximum(a * 1, b) - np.minimum(c + 0, a)",
    "clipped": FLOATS["clipped"],
    "bits": "return (a & b) ^ (c | 5), ~(a ^ b) | c, (a | b) & 63",
    "shifts": "return (a + 0) << b, (b + 0) >> c, (a + 0) >> 3, (c + 0) << 1, (1 << (b & 15)) + a",
    "comparisons": FLOATS["comparisons"],
    "logic": FLOATS["logic"],
    "masks read": FLOATS["masks read"],
    "choices": FLOATS["choices"],
    "several": "d = a * b\n    e = d - c\n    return d, e, d * e, (e & 3) < d",
    "many": FLOATS["many"],
    "numbers": "return (" + " + ".join(f"(a * {k} - b * {k + 3})" for k in range(20)) + ") * c",
}
HALVES = {
    **{name: program for name, program in FLOATS.items() if name != "signs"},
    "signs": "return -a * np.abs(b - 1) - np.fabs(a * b), np.absolute(c * b), -(a + 0)",
}
BOOLS = {
    "logic": "return (a & b) | ~c, (a | c) & m",
    "functions": "return np.logical_not(np.logical_and(a, b)) | np.logical_or(c, m), np.bitwise_or(a, c) & m",
    "several": "d = a & b\n    e = d | c\n    return d, e, ~d | e, ~e & m",
}
PROGRAMS: dict[str, dict[str, str]] = {
    **dict.fromkeys(("float32", "float64"), FLOATS),
    "float16": HALVES,
    **dict.fromkeys(("int32", "int64", "uint32", "uint64"), INTEGERS),
    **dict.fromkeys(
        ("int8", "uint8", "int16", "uint16"), {name: INTEGERS[name] for name in INTEGERS if name != "shifts"}
    ),
    "bool": BOOLS,
}
NUMBERS = [dtype for dtype in PROGRAMS if dtype not in ("bool", "float16")]
CASES = [(dtype, name) for dtype, programs in PROGRAMS.items() for name in programs]


def special(dtype: str) -> np.ndarray:
    """Numbers that instructions treat in different ways."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([0, 1, 2, 3, 128, 255], np.uint8).view(bool)  # NumPy makes 0 and 1 only
    if kind.kind != "f":
        limits = np.iinfo(kind)
        chosen = [
            int(limits.min),
            limits.min + 1,
            int(limits.max),
            limits.max - 1,
            0,
            1,
            2,
            3,
            7,
            31,
            32,
            63,
            64,
            100,
        ]
        return np.array([*chosen, *(-number for number in chosen[4:] if limits.min)], kind)
    limits = np.finfo(kind)
    tiny, smallest = float(limits.tiny), float(limits.smallest_subnormal)
    numbers = [0.0, -0.0, np.inf, -np.inf, smallest, -smallest, tiny, -tiny / 2, float(limits.max), -1.0, 1.0]
    bits = np.dtype(f"u{kind.itemsize}")
    quiet = np.array([np.nan], kind).view(bits)[0]
    sign = bits.type(1) << bits.type(8 * kind.itemsize - 1)
    fraction = bits.type(1) << bits.type(limits.nmant - 1)
    # Quiet NaNs of both signs with payloads, and signalling ones.
    nans = [
        quiet,
        quiet | bits.type(0x123),
        quiet | sign | bits.type(0x45),
        (quiet ^ fraction) | bits.type(5),
    ]
    return np.concatenate([np.array(numbers, kind), np.array(nans, bits).view(kind)])


def numbers(dtype: str, shape: Any, *, extreme: float = 0.0) -> np.ndarray:
    """Ordinary numbers, a part of which is replaced by extreme ones."""
    kind = np.dtype(dtype)
    made = (RANDOM.uniform(-2.0, 2.0, shape) if kind.kind == "f" else RANDOM.integers(0, 100, shape)).astype(
        kind
    )
    if extreme:
        are_extreme = RANDOM.uniform(size=shape) < extreme
        made[are_extreme] = RANDOM.choice(special(dtype), int(are_extreme.sum()))
    return made


def operands(dtype: str, shape: Any, extreme: float = 0.0) -> list[np.ndarray]:
    made = [numbers(dtype, shape, extreme=extreme) for _ in range(3)]
    flat = [array.reshape(-1) for array in made]
    flat[1][::5] = flat[0][::5]  # equal elements
    return [*made, RANDOM.integers(0, 2, shape).astype(bool)]


def traced_program(dtype: str, name: str) -> tuple[Any, Any]:
    """The program, eager and traced; its fusion group is nothing but vector code."""
    eager, traced = both(f"def f(a, b, c, m):\n    {PROGRAMS[dtype][name]}\n")
    for _ in range(WARM_UP):
        traced(*operands(dtype, 300))
    kernels = kernels_of(eager, lambda: operands(dtype, 300))
    assert "vector kernel" in kernels and "NumPy's loop" not in kernels, kernels
    return eager, traced


def kernels_of(function: Any, make: Callable[[], list[np.ndarray]]) -> str:
    return "\n".join(dumps_of(function, lambda: (tuple(make()), {}))["kernels"])


def again(made: list[np.ndarray]) -> Callable[[], list[np.ndarray]]:
    return lambda: [array.copy("K") for array in made]


@pytest.mark.parametrize(("dtype", "name"), CASES)
def test_lengths(dtype: str, name: str) -> None:
    eager, traced = traced_program(dtype, name)
    for length in LENGTHS:
        ran = groups_run()
        check(eager, traced, again(operands(dtype, length)), {"all": "ignore"})
        assert groups_run() > ran, tagalong.explain(traced)
    for length, extreme, errstate in itertools.product(FEW_LENGTHS, (0.02, 0.3, 1.0), ERRSTATES):
        check(eager, traced, again(operands(dtype, length, extreme)), errstate)


@pytest.mark.parametrize(("dtype", "name"), CASES)
def test_each_special_number_in_each_lane(dtype: str, name: str) -> None:
    """Also where equal numbers meet: zeros of both signs, NaNs from either operand."""
    eager, traced = traced_program(dtype, name)
    chosen = special(dtype)
    for place in range(0, 21, 4):
        for one, other in itertools.product(range(len(chosen)), repeat=2):
            made = operands(dtype, 21)
            made[0][place : place + 1] = chosen[one : one + 1]
            made[1][place : place + 1] = chosen[other : other + 1]
            check(eager, traced, again(made), {"all": "ignore"})


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": lambda array: array,
    "Fortran": np.asfortranarray,
    "transposed": lambda array: np.ascontiguousarray(array.T).T,
    "every other column": lambda array: np.repeat(array, 2, axis=1)[:, ::2],
    "backwards": lambda array: array[:, ::-1],
    "part of rows": lambda array: np.pad(array, ((0, 0), (2, 3)))[:, 2:-3],
    "row": lambda array: array[:1],
    "one row": lambda array: array[0],
    "column": lambda array: np.ascontiguousarray(array[:, :1]),
    "scalar": lambda array: array[0, 0],
    "no axes": lambda array: np.array(array[0, 0]),
    "unaligned": misaligned,
}


@pytest.mark.parametrize(("dtype", "name"), CASES)
def test_layouts(dtype: str, name: str) -> None:
    eager, traced = traced_program(dtype, name)
    for shape, extreme in itertools.product(((3, 17), (40, 31), (5, 1030), (70, 9)), (0.0, 0.02)):
        for first, second in itertools.product(
            LAYOUTS.values(), ("contiguous", "column", "part of rows", "Fortran")
        ):
            made = operands(dtype, shape, extreme)
            made[0], made[1] = first(made[0]), LAYOUTS[second](made[1])
            for errstate in ({"all": "ignore"}, {"all": "warn"}):
                check(eager, traced, lambda made=made: list(made), errstate)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_into_arrays(dtype: str) -> None:
    eager, traced = both(
        "def f(a, b, c, m):\n    c[:] = a * b - 1\n    c += b * 2\n    return (a - b) * 2 + c\n"
    )
    for length, extreme in itertools.product((300, *FEW_LENGTHS, 20_000, 100_001), (0.0, 0.05)):
        for errstate in ERRSTATES:
            check(eager, traced, again(operands(dtype, length, extreme)), errstate)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_stores_past_the_caches(dtype: str) -> None:
    _core.set_option("min_non_temporal", 1)
    eager, traced = both("def f(a, b, c, m):\n    return a * b - c, np.maximum(a + 0, c), a < b + 0\n")
    before = _core.counter("non_temporal_blocks")
    for length, extreme in itertools.product((3000, 3000, 3000, 1025, 4103, 24_596, 100_003), (0.0, 0.001)):
        check(eager, traced, again(operands(dtype, length, extreme)))
    # Bytes are computed slower than memory takes them.
    assert _core.counter("non_temporal_blocks") > before or np.dtype(dtype).itemsize == 1
    for shape in ((60, 70), (33, 1031)):  # rows that begin at all addresses
        made = [np.pad(array, ((0, 0), (1, 2)))[:, 1:-2] for array in operands(dtype, shape)]
        check(eager, traced, lambda made=made: list(made))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_reductions(dtype: str) -> None:
    """Sums, extremes and their places read what vector code has stored."""
    eager, traced = both(
        "def f(a, b, c, m):\n    d = a * b + c\n    return d.sum(), d.max(), (d - c).min(), np.argmax(d), d * 2\n"
    )
    for length, extreme in itertools.product((300, *FEW_LENGTHS, 8193, 50_000), (0.0, 0.01)):
        check(eager, traced, again(operands(dtype, length, extreme)))
    eager, traced = both(
        "def f(a, b, c, m):\n    return (a * b + c).sum(axis=1), (a - b).argmin(axis=1), (a * c).max(0)\n"
    )
    for shape in ((20, 30), (8, 4), (300, 7), (3, 5000)):
        check(eager, traced, again(operands(dtype, shape)))


@pytest.mark.parametrize(
    "codes", ["qf", "ld", "if", "Qd", "Il", "qb", "iq", "Bb", "hB", "bd", "Bf", "Hh", "bB"]
)
def test_integers_and_others(codes: str) -> None:
    """a has the first dtype, b and c have the second one; the masks of one select numbers of the other."""
    eager, traced = both(
        "def f(a, b, c, m):\n    d = (a * 2 > a) & (b + c > c)\n    e = np.where(d, a, a * 3)\n"
        "    return e, np.where(d | m, b - c, c), (e + 1).astype(np.float64) * 0.5, d\n"
    )
    for length, extreme in itertools.product((300, 300, 300, *FEW_LENGTHS, 9000), (0.0, 0.05, 1.0)):
        made = [numbers(dtype, length, extreme=extreme) for dtype in (codes[0], codes[1], codes[1])]
        made.append(RANDOM.integers(0, 2, length).astype(bool))
        for errstate in ERRSTATES:
            check(eager, traced, again(made), errstate)


CASTS = (
    *itertools.product(("bool", "uint8", "int16"), ("float32", "float64", "int32", "int64")),
    ("int8", "int16"),
    ("int8", "float32"),
    ("uint16", "float64"),
    ("uint16", "uint32"),
    ("bool", "uint8"),
    ("float32", "float64"),
    ("int32", "float64"),
    ("int32", "int64"),
    ("uint32", "int64"),
    ("uint32", "float64"),
    ("int64", "float64"),
)


@pytest.mark.parametrize(("narrow", "wide"), CASTS)
def test_casts(narrow: str, wide: str) -> None:
    """Loads that convert: a and f have the shorter dtype, b and c the longer one."""
    eager, traced = both(
        "def f(a, b, c, f):\n    d = a.astype(np.{0})\n"
        "    return d, d * b - c, (a + b) * f + (b > c) * c, np.where(a > f, a, b), a * b * b\n".format(wide)
    )

    def make(shape: Any, extreme: float = 0.0) -> list[np.ndarray]:
        return [numbers(dtype, shape, extreme=extreme) for dtype in (narrow, wide, wide, narrow)]

    for length, extreme in itertools.product(
        (300, 300, 300, *FEW_LENGTHS, 127, 9000, 20_000), (0.0, 0.02, 1.0)
    ):
        for errstate in ERRSTATES:
            check(eager, traced, again(make(length, extreme)), errstate)
    for length in range(1, 150):
        check(eager, traced, again(make(length)))
    for shape, (first, second) in itertools.product(
        ((3, 17), (40, 31), (5, 1030)), itertools.product(LAYOUTS, LAYOUTS)
    ):
        # NumPy compares bools that it has not made in several ways, which depend on the layout.
        made = make(shape, 0.0 if narrow == "bool" else 0.01)
        made[0], made[1] = LAYOUTS[first](made[0]), LAYOUTS[second](made[1])
        check(eager, traced, lambda made=made: list(made), {"all": "ignore"})
    if (narrow, wide) not in (("int64", "float64"), ("uint32", "float64")):
        simple, _ = both("def f(a, b, c, f):\n    return a * b * 2 + f, (b > c) * c\n")
        kernels = kernels_of(simple, lambda: make(300))
        assert "vector kernel" in kernels and "NumPy's loop" not in kernels, kernels


MIXED = {
    "casts between": "d = (a * f - 1).astype('f8')\n    return np.sqrt(np.abs(d * b)) + d",
    "promotion": "return a * b + f * 2 - b, a < b, f * f > a",
    "mask of doubles": "return np.where(b * 2 > c, a * f, f - 1) * 3",
    "mask of floats": "return np.where(a * 2 > f, b * c, c - 1) * 3",
    "both masks": "d = (a * 1 > f) & (b + 0 > c)\n"
    "    return np.where(d, a - f, f * 2), np.where(d, b - c, c * 2), d | (a == f)",
    "to floats": "return (b * c - 1).astype('f4') * a - f",
}


@pytest.mark.parametrize("name", MIXED)
def test_floats_and_doubles(name: str) -> None:
    """a and f are floats, b and c doubles: kernels of both sizes, with memory between them."""
    eager, traced = both(f"def f(a, b, c, f):\n    {MIXED[name]}\n")
    for length, extreme in itertools.product((300, 300, 300, *FEW_LENGTHS, 9000), (0.0, 0.05, 1.0)):
        made = [numbers(dtype, length, extreme=extreme) for dtype in ("f4", "f8", "f8", "f4")]
        for errstate in ERRSTATES:
            check(eager, traced, again(made), errstate)
    assert "[float32]" in kernels_of(
        eager, lambda: [numbers(dtype, 300) for dtype in ("f4", "f8", "f8", "f4")]
    )


def halves() -> np.ndarray:
    """Every float16 number."""
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16)


HALF_PROGRAMS = {
    "sums": "return a + b, a - b, (a + b) - a",
    "products": "return a * b, np.square(a) - b, a * 3 + b",
    "quotients": "return a / b, np.reciprocal(a) + 0, 2 / a",
    "roots": "return np.sqrt(a) * 1, np.sqrt(a + b)",
    "signs": "return -a, np.abs(a), np.fabs(b) + a, -(a * b)",
    "comparisons": "return a < b, a <= b, a == b, a != b, a > b, a >= b, np.where(a < b, a, b)",
    "extremes": "return np.maximum(a, b), np.minimum(a, b), np.clip(a, b, 2), np.fmax(a, b), np.fmin(a, b)",
    "rounded": "return np.floor(a), np.ceil(a), np.trunc(b), np.rint(a)",
    "to floats": "return a.astype(np.float32) * 2, b.astype(np.float64) - 1, a.astype(np.float32) + b",
    "from floats": "return (f * 3).astype(np.half), (d * 3).astype(np.half), (f.astype(np.half) + a) * b",
    "mixed": "return a * f, b + d, a * m, (a * b).astype(np.float32) * f - a",
    "other functions": "return np.exp(a) * b, np.log(np.abs(a)) + b, a // b, a % b, a ** 2 - b",
    "in place": "a *= b; a += 1; b[:] = a * a; return a - b",
    "chain": "return (a * b + a - b) * 3 + a",
}


def half_operands(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    size = a.size
    singles = RANDOM.integers(0, 1 << 32, size, np.uint32).view(np.float32)
    small = RANDOM.uniform(-9, 5, size)
    doubles = np.ldexp(RANDOM.uniform(-1, 1, size), RANDOM.integers(-30, 20, size))
    singles[::2] = doubles[::2]
    singles[1::5] = (np.ldexp(1.0, np.round(small).astype(int)))[1::5]
    return [a, b, singles, doubles, RANDOM.integers(0, 2, size).astype(bool)]


def ordinary_halves() -> list[np.ndarray]:
    return half_operands(*(RANDOM.uniform(0.5, 2, 300).astype(np.float16) for _ in "ab"))


def traced_half(name: str) -> tuple[Any, Any]:
    """A new one each time, since a group that had to report something waits for some calls."""
    eager, traced = both(f"def f(a, b, f, d, m):\n    {HALF_PROGRAMS[name]}\n")
    for _ in range(WARM_UP):
        traced(*ordinary_halves())
    ran = groups_run()
    check(eager, traced, again(ordinary_halves()), {"all": "ignore"})
    assert groups_run() > ran, tagalong.explain(traced)
    return eager, traced


@pytest.mark.parametrize("name", HALF_PROGRAMS)
def test_every_half(name: str) -> None:
    """Bits, flags and warnings of all numbers, and of random pairs."""
    eager, traced = traced_half(name)
    every = halves()
    # Without NaNs, infinities and results for NumPy's loops, so that vector code computes whole blocks.
    finite = every[np.isfinite(every) & (np.abs(every) >= 0.0625) & (np.abs(every) <= 128)]
    for _ in range(4):
        made = half_operands(RANDOM.permutation(finite), RANDOM.permutation(finite))
        check(eager, traced, again(made), {"all": "ignore"})
    pairs = [(every, every[::-1].copy()), (every, np.roll(every, 1)), (every, np.full_like(every, 1.5))]
    pairs += [(RANDOM.permutation(every), RANDOM.permutation(every)) for _ in range(4)]
    for (a, b), errstate in itertools.product(pairs, ({"all": "ignore"}, {"all": "warn"})):
        eager, traced = traced_half(name)
        check(eager, traced, again(half_operands(a, b)), errstate)
    # Alone in a short array each number decides the flags.
    for start in range(0, 1 << 16, 4093):
        eager, traced = traced_half(name)
        for count in (1, 2, 7, 17):
            a = every[start:][:count]
            check(eager, traced, again(half_operands(a, RANDOM.choice(every, a.size))), {"all": "warn"})


@pytest.mark.parametrize("product", [2.0**-14, 2.0**-15, 2.0**-24, 2.0**-25, 65504.0, 65520.0])
def test_flags_of_halves(product: float) -> None:
    """Overflow and underflow around the limits of normal numbers."""
    eager, traced = both("def f(a, b):\n    c = a * b\n    return c + 0, c / 1.5\n")
    for _ in range(WARM_UP):
        traced(*(np.ones(300, np.float16) for _ in "ab"))
    for exponent in range(-6, 7):
        a = np.full(40, 2.0**exponent, np.float16)
        with np.errstate(all="ignore"):
            around = np.float16(product / 2.0**exponent)
            others = [around, np.nextafter(around, np.float16(0)), np.nextafter(around, np.float16(np.inf))]
        for b in others:
            for one in (a, np.nextafter(a, np.float16(0)), np.nextafter(a, np.float16(9))):
                for errstate in ERRSTATES:
                    check(eager, traced, lambda one=one, b=b: [one, np.full(40, b)], errstate)


NARROWINGS = [
    *itertools.permutations(("int64", "int32", "int16", "int8"), 2),
    *itertools.permutations(("uint64", "uint32", "uint16", "uint8"), 2),
    ("int64", "uint8"),
    ("uint64", "int16"),
    ("int32", "uint16"),
    ("float64", "float32"),
    ("float32", "float16"),
    ("int64", "float64"),
    ("int32", "float32"),
    ("uint64", "float64"),
    ("uint32", "float32"),
    *((dtype, "bool_") for dtype in NUMBERS),
]


@pytest.mark.parametrize(("one", "other"), NARROWINGS)
def test_casts_to_any_type(one: str, other: str) -> None:
    """astype and assignments, which the stores convert."""
    eager, traced = both(
        f"def f(a, b, c, m):\n    d = (a * b).astype(np.{other})\n    e = d.astype(np.{one})\n"
        f"    c[:] = a * 2 - b\n    return d, e * b, a.astype(np.{other}), c, d.astype(np.{one}) + a, ~(d == c)\n"
    )

    def make(shape: Any, extreme: float = 0.0) -> list[np.ndarray]:
        made = [numbers(dtype, shape, extreme=extreme) for dtype in (one, one, other)]
        return [*made, RANDOM.integers(0, 2, shape).astype(bool)]

    def copies(made: list[np.ndarray]) -> Callable[[], list[np.ndarray]]:
        return lambda: [array.copy("K") for array in made]

    for _ in range(WARM_UP):
        traced(*make(300))
    for length in (*range(1, 150), 1025, 9000):
        ran = groups_run()
        check(eager, traced, copies(make(length)), {"all": "ignore"})
        assert groups_run() > ran, tagalong.explain(traced)
    for length, extreme, errstate in itertools.product((*FEW_LENGTHS, 9000), (0.02, 1.0), ERRSTATES):
        check(eager, traced, copies(make(length, extreme)), errstate)
    for shape, layout in itertools.product(((3, 17), (40, 31), (5, 1030)), LAYOUTS.values()):
        made = make(shape, 0.01)
        made[0] = layout(made[0])
        check(eager, traced, lambda made=made: list(made), {"all": "ignore"})
    simple, _ = both(f"def f(a, b, c, m):\n    return (a * b).astype(np.{other}), a + b\n")
    kernels = kernels_of(simple, lambda: make(300))
    is_there = (
        HAS_VECTORS and _core.options()["most_lanes"] == 8 if one[0] == "u" and other[0] == "f" else True
    )
    assert not is_there or np.dtype(one).itemsize < np.dtype(other).itemsize or "NumPy's loop" not in kernels


@pytest.mark.parametrize("dtype", NUMBERS)
def test_extremes_beside_nans(dtype: str) -> None:
    eager, traced = both(
        "def f(a, b, c, m):\n    return np.fmax(a, b + 0) - np.fmin(a * 1, c), np.fmin(b, 1)\n"
    )
    for _ in range(WARM_UP):
        traced(*operands(dtype, 300))
    for length in LENGTHS:
        made = operands(dtype, length)
        if made[0].dtype.kind == "f":
            made[0][::3] = np.nan
            made[1][1::3] = np.nan
        ran = groups_run()
        check(eager, traced, again(made), {"all": "ignore"})
        assert groups_run() > ran, tagalong.explain(traced)
    for length, extreme, errstate in itertools.product(FEW_LENGTHS, (0.02, 0.3, 1.0), ERRSTATES):
        check(eager, traced, again(operands(dtype, length, extreme)), errstate)
    kernels = kernels_of(eager, lambda: operands(dtype, 300))
    assert "vector kernel" in kernels and "NumPy's loop" not in kernels, kernels


def test_bools_that_differ() -> None:
    """NumPy compares bools that it has not made in several ways, so these are its own."""
    eager, traced = both(
        "def f(a, b, c, m):\n    d = (a ^ b) | (b != c)\n    return d, (a == b) & m, np.logical_xor(a, c), d == m\n"
    )

    def make(shape: Any) -> list[np.ndarray]:
        return [RANDOM.integers(0, 2, shape).astype(bool) for _ in range(4)]

    for length in (300, 300, 300, *LENGTHS, 20_000):
        check(eager, traced, lambda made=make(length): list(made))  # noqa: B008
    for shape, (first, second) in itertools.product(
        ((3, 17), (40, 31), (5, 1030)), itertools.product(LAYOUTS, LAYOUTS)
    ):
        made = make(shape)
        made[0], made[1] = LAYOUTS[first](made[0]), LAYOUTS[second](made[1])
        check(eager, traced, lambda made=made: list(made))
    kernels = kernels_of(eager, lambda: make(300))
    assert "vector kernel" in kernels and "NumPy's loop" not in kernels, kernels


@pytest.mark.parametrize(
    "text",
    [
        "float32",
        "f4",
        "f",
        "float64",
        "d",
        "int32",
        "i8",
        "q",
        "u1",
        "bool",
        "?",
        "float16",
        "e",
        "int",
        "c8",
    ],
)
def test_dtypes_by_name(text: str) -> None:
    eager, traced = both(f"def f(a, b, c, m):\n    d = a * b\n    return d.astype('{text}') * 2, d + c\n")
    for length in (300, 300, 300, 300, *FEW_LENGTHS):
        check(eager, traced, again(operands("float64", length)))
    if text not in ("int", "q", "i8") and (NUMPY_2 or text not in ("bool", "?")):
        cuts = [line for line in tagalong.explain(traced).splitlines() if "astype" in line]
        assert not cuts, cuts


@pytest.mark.parametrize("other", ["float16", "float32", "float64", "int16"])
@pytest.mark.parametrize(
    "expression",
    ["np.fmin(a, b) * 2", "np.fmax(b, a) + 1", "np.fmin(np.negative(a), b) - 1", "np.fmax(abs(a), b) * b"],
)
def test_signalling_nans_of_float16(expression: str, other: str) -> None:
    """NumPy's casts keep them signalling, and fmin and fmax give another result for them."""
    eager, traced = both(f"def f(a, b):\n    return {expression}\n")
    bits = np.array([0x7D00, 0x7C01, 0xFD00, 0x7E00, 0x3C00, 0x0001] * 5, np.uint16)
    a = bits.view(np.float16)
    b = np.arange(bits.size).astype(other)
    for _ in range(5):
        check(eager, traced, lambda: [a, b], {"all": "ignore"})
        check(eager, traced, lambda: [a, b])


@pytest.mark.parametrize("number", [65504, 65000, 64999, -65504, 64990.5, 6.1e-5, 1e5, 127, 128, 2049])
def test_large_numbers_beside_float16(number: float) -> None:
    """The value of a number may decide the dtype of the result in NumPy 1.26."""
    for made in (float(number), np.float64(number), np.float32(number), np.float16(number), int(number)):
        eager, traced = both("def f(a, b, n):\n    return (n * 1 - a / 3 + (n - b / 4)) * a\n")
        for n in (*[type(made)(3)] * 4, *[made] * 4):
            a, b = operands("float16", 300)[:2]
            check(eager, traced, lambda a=a, b=b, n=n: [a, b, n], {"all": "ignore"})
