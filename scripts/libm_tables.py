"""Computes the tables of exp, log, power, sin, cos and arcsin in the C++ code; compares them with those in the sources.

The vector steps have the bits of glibc's and SVML's functions only if their tables have the same bits, too. Each table
below has a function that computes it, and its docstring has the formula of each column. Everything is computed with
60 decimal digits and then rounded to the nearest double, but for two kinds of input data:

* Points that the authors of a library found by a search. They are offsets from the middle of an interval.
* Steps: by how many doubles a number of the library lies above (or below, if negative) the double that is nearest to
  the formula. The authors computed with less precision, so the last bits of some numbers are theirs alone.

In the sources only the numbers are compared and written. The layout, the names and the comments of a file stay.

Not computed here: the polynomials for whole ranges in libm_constants.h, libm_steps.inc and vector_constants.cpp.
"""

from __future__ import annotations

import argparse
import math
import re
import struct
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIGITS = 60
NUMBER = re.compile(r"-?\b0x[0-9a-f]\.[0-9a-f]+p[+-]\d+|-?\b\d+\.\d+")

LOG_BITS = 43
POWER_FIRST = 0x3FE6955500000000
# For each part: the logarithm of the chosen point less that of the middle (rounded), in units of 2^-43.
LOG_OFFSETS = """
31163 78062 319128 170725 -26227 170770 697802 -479470 330219 -81265 -730817 344598 -122486 -41435 -412844
-500495 100486 511009 133721 692112 -427779 737655 -569511 -72143 648036 401224 -519269 -695932 -240549
-702225 -380047 665910 347458 154844 330569 594099 559539 831190 -788409 -344177 -709162 -25703 -737413 699727
-123115 -870697 -862324 -142872 -565926 -260811 -652764 -344192 -374461 605753 -626340 -380635 407801 234636
-385037 834612 600528 -699027 728472 -468154 -877722 -636989 -237680 -404092 302283 -552779 443631 130988
-177583 519399 -175665 -55680 -498738 -746562 469174 -133332 -378760 -404036 -64776 121267 -191563 32995 51262
-159246 360447 -155624 418958 454915 -114825 540641 -230684 -334893 364136 101486 -7497 -308227 581133 570469
-557565 324509 -124316 -36250 343418 485089 -178268 129597 -272606 -560374 553962 604589 -630184 -615231
-422323 -665393 580983 399109 469477 544892 -470914 -406655 581092 91528 703911 -580257
"""

# Row: steps of the low part of the sine, of the cosine.
SINE_STEPS = {
    2: -1,
    10: -1,
    23: -39,
    27: -1,
    33: -1,
    34: -1,
    36: 1,
    40: -2,
    75: -1,
    85: -1,
    90: -2,
    94: 1,
    107: 1,
}
COSINE_STEPS = {26: 1, 44: -1, 70: 1, 75: 2, 79: 1}

ARCSINE_FIRST = 32  # the first 256th that has a row
ARCSINE_ROWS = 216
ARCSINE_BITS = 51
# The first row with a polynomial of each degree: x = 1/8, 1/2, 3/4, 59/64, 61/64.
ARCSINE_DEGREES = {0: 6, 96: 7, 160: 8, 204: 9, 212: 10}
TAYLOR_TERMS = 40
# Column (the power of r; 0 is the low part): runs of rows, each with its first row and the steps.
ARCSINE_STEPS: dict[int, dict[int, str]] = {
    0: {
        16: "-14 0 -1 0 0 0 -1 0 -1 0 -1 0 -1 0 0 -1",
        37: "-1",
        45: "-1 0 0 -1 0 -1 0 0 0 -1 0 0 -1 0 -1 0 0 0 -1 0 0 0 -1 -1 -2 0 -1",
        79: "-2 0 0 0 -1",
        88: "-1 0 0 -1 -1 0 -1 0 0 -1 0 -1 0 0 0 -1 0 0 0 -1",
        112: "-1",
        117: "-1 -1 -1 -1 0 -1 -9 -1 0 0 0 -42 0 -1",
        135: "-1 -1 0 -6 0 0 -1 -1 -1 0 0 -1 0 -4 0 -1 -1",
        157: "-1 -1 -1 -3 0 -1 -1 -5 0 -1 -1 -1 -1 -1 -1 -1 0 -1 0 0 -24 -1 -2",
        187: "-1 -1 0 -2 0 0 -1 0 0 -1 -2",
        203: "-1 0 0 0 -70 -1 -3 -1 -1 0 0 -2",
    },
    5: {
        100: "1",
        108: "-1",
        130: "-1",
    },
    6: {
        0: """
            -18 -5 -16 -15 -21 -14 -21 -9 -11 -11 -6 -2 -4 -7 2 -2 -7 -3 0 -7 -5 0 0 -4 -3 -1 2 -1 -7 -4 -5
            -2 0 1 1 -2 -3 -1 0 0 -2 -2 0 -3 3 -3 0 -3 -1 4 1 1 0 -1 -1 -1 -1 0 0 0 1 0 1 -1 0 2 0 0 2 0 1
            -1 -2 -2 -3 -5 -4 -3 0 -1 -3 0 -1 -2 0 -7 -6 -1 -6 1 0 -5 1 -9 -4 -1 -5 -6 -6 -3 -2 -6 -5 -5 -8
            -4 -1 -3 -4 -2 -1 -2 -2 -5 -1 -2 -4 -4 -3 0 -1 -1 -1 -1 -1 -1 -2 -2 -2 -1 -1 -1 0 -1 -1 0 -1 -1
            -1 -1 -1 0 -1 0 0 -1""",
        157: "-1 0 0 2 2 1 1 1 1 0 1 1",
        180: "1",
    },
    7: {
        96: """
            -72 281 39 2162 -1827 3035 641 1086 912 4292 4086 2077 923 1061 2360 1190 1629 2114 -238 1933
            2788 2212 1373 1193 501 797 834 1494 527 1029 1336 1042 758 615 1105 73 530 617 274 603 195 454
            514 322 180 224 315 199 185 415 341 151 199 162 106 121 167 205 148 194 41 38 60 35 60 66 84 24
            27 26 26 41 27 9 13 17 14 10 16 8 6 11 13 7 5 4 3 4 2 3 2 2 1 1 1 1 1 1 0 1 0 0 1""",
    },
    8: {
        160: """
            -19765 -22317 -11137 -22467 -7544 -4894 -5490 -9001 -8228 -8078 -1957 -2607 -3095 -1201 -3352
            -1502 -2077 -2551 -656 -422 -615 -1297 -88 -645 -328 -608 -102 -213 -158 -154 -143 -80 -76 -87
            -89 -53 -39 -36 -21 -10 -11 -7 -2 -2 -2 -1 -1 0 -1""",
        213: "1",
    },
    9: {
        204: "275 84 160 61 46 22 9 2 1 2 1",
    },
    10: {
        212: "-94 -101 -44 -8",
    },
}


# --- Numbers


def near(value: Decimal, bits: int) -> float:
    """The multiple of 2^-bits that is nearest to `value`."""
    return float((value * 2**bits).to_integral_value() / 2**bits)


def moved(number: float, steps: int) -> float:
    """The double that lies `steps` doubles above `number`."""
    if steps == 0:
        return number
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(number)))
    return math.copysign(
        struct.unpack("<d", struct.pack("<q", bits + (steps if number > 0 else -steps)))[0], number
    )


def sine_and_cosine(x: Decimal) -> tuple[Decimal, Decimal]:
    """By their series, for x up to 4."""
    sums = [Decimal(0), Decimal(0)]
    term = Decimal(1)
    for power in range(80):
        sums[power % 2] += term if power % 4 < 2 else -term
        term *= x / (power + 1)
    return sums[1], sums[0]


def arcsine(x: Decimal) -> Decimal:
    """As an arctangent of a part of the angle, by its series, for x from 0 to below 1."""
    tangent = x / (1 - x * x).sqrt()
    halvings = 0
    while tangent > Decimal("0.01"):
        tangent /= 1 + (1 + tangent * tangent).sqrt()
        halvings += 1
    sums = [Decimal(0), Decimal(0)]
    for i in range(20):
        sums[i % 2] += tangent ** (2 * i + 1) / (2 * i + 1)
    return (sums[0] - sums[1]) * Decimal(2) ** halvings


# --- exp


def powers(parts: int) -> tuple[list[float], list[float]]:
    """High: 2^(j/parts), rounded to nearest. Low: the error of that, divided by the rounded number."""
    exact = [(Decimal(2).ln() * j / parts).exp() for j in range(parts)]
    high = [float(each) for each in exact]
    low = [float((each - Decimal(about)) / Decimal(about)) for each, about in zip(exact, high, strict=True)]
    return high, low


def glibc_powers() -> list[float]:
    """128 powers, then their errors."""
    high, low = powers(128)
    return high + low


# --- log


def glibc_logarithms() -> list[float]:
    """128 reciprocals c, then -log c.

    The range from 11/16 to 11/8 is divided into parts of 1/256 (below 1) and of 1/128 (from 1 on). 1/c is near the
    middle of a part, and log(1/c) is a multiple of 2^-43 within 2^-66, so that no sum with a multiple of ln 2 is
    rounded. glibc's authors searched for such points among 2^30 candidates. Here a point is the offset of its
    logarithm from that of the middle. The second column is that logarithm. The first is exp of its negative, rounded to
    nearest.
    """
    reciprocals: list[float] = []
    logarithms: list[float] = []
    for j, offset in enumerate(LOG_OFFSETS.split()):
        middle = Decimal(11) / 16 + (j + Decimal("0.5")) / 256 if j < 80 else 1 + (j - Decimal("79.5")) / 128
        logarithm = Decimal(near(middle.ln(), LOG_BITS)) + Decimal(offset) / 2**LOG_BITS
        logarithms.append(float(logarithm))
        reciprocals.append(float((-logarithm).exp()))
    return reciprocals + logarithms


def svml_logarithms() -> tuple[list[float], list[float]]:
    """For c = 16/32 to 31/32 -log c, or -log(2 c) if c is below 3/4.

    High: the nearest multiple of 2^-40. Low: the error of that, rounded to nearest.
    """
    exact = [-(Decimal(m) / (16 if m < 24 else 32)).ln() for m in range(16, 32)]
    high = [near(each, 40) for each in exact]
    return high, [float(each - Decimal(about)) for each, about in zip(exact, high, strict=True)]


def glibc_power_logarithms() -> list[float]:
    """Rows of three numbers: a reciprocal c, -log c, and the error of that.

    The range from 0x3FE6955500000000 (about 0.706) to twice that is divided into 128 parts, of equal length below 1 and
    of twice that length from 1 on. c is the reciprocal of the middle of a part, as the nearest multiple of 1/256, or of
    1/128 above 1. With so few bits, the product with a number less 1 is exact. The logarithm is the nearest multiple of
    2^-43.
    """
    numbers: list[float] = []
    for j in range(128):
        begin, end = (
            struct.unpack("<d", struct.pack("<Q", POWER_FIRST + (part << 45)))[0] for part in (j, j + 1)
        )
        reciprocal = 2 / (Decimal(begin) + Decimal(end))
        c = near(reciprocal, 7 if reciprocal > 1 else 8)
        exact = -Decimal(c).ln()
        about = near(exact, LOG_BITS)
        numbers += [c, about, float(exact - Decimal(about))]
    return numbers


# --- sin and cos


def glibc_sines() -> list[float]:
    """Rows of four numbers, for k/128: the sine rounded to nearest and the error of that, the same of the cosine.

    The errors are rounded to nearest, but for the steps: the last bits of some are different in glibc, which does not
    say how they were computed.
    """
    numbers: list[float] = []
    for k in range(110):
        for exact, steps in zip(sine_and_cosine(Decimal(k) / 128), (SINE_STEPS, COSINE_STEPS), strict=True):
            about = float(exact)
            numbers += [about, moved(float(exact - Decimal(about)), steps.get(k, 0))]
    return numbers


# --- arcsin


def taylor(x: Decimal) -> list[Decimal]:
    """The coefficients of arcsin(x + r) in powers of r.

    The derivative g has (1 - x^2) g' = x g, from which each coefficient of g follows from the two before it.
    """
    rest = 1 - x * x
    slope = [1 / rest.sqrt()]
    for k in range(TAYLOR_TERMS):
        following = (2 * k + 1) * x * slope[k]
        if k > 0:
            following += k * slope[k - 1]
        slope.append(following / ((k + 1) * rest))
    return [arcsine(x)] + [slope[k] / (k + 1) for k in range(TAYLOR_TERMS)]


def value_at(coefficients: Iterable[Decimal], x: Decimal) -> Decimal:
    total = Decimal(0)
    for each in reversed(list(coefficients)):
        total = total * x + each
    return total


def derivative(coefficients: Sequence[Decimal]) -> list[Decimal]:
    return [power * each for power, each in enumerate(coefficients)][1:]


def solution(matrix: list[list[Decimal]]) -> list[Decimal]:
    """By Gaussian elimination; the right side is the last column."""
    size = len(matrix)
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for k in range(i + 1, size):
            factor = matrix[k][i] / matrix[i][i]
            matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i], strict=True)]
    found = [Decimal(0)] * size
    for i in reversed(range(size)):
        known = sum((matrix[i][k] * found[k] for k in range(i + 1, size)), Decimal(0))
        found[i] = (matrix[i][size] - known) / matrix[i][i]
    return found


def minimax(series: Sequence[Decimal], degree: int) -> list[Decimal]:
    """The polynomial whose largest difference from `series` is the smallest, on -1 to 1, by Remez's exchange.

    The difference has degree + 2 extrema of the same size and of alternating sign, two of them at the ends. The
    algorithm begins with those of a Chebyshev polynomial; each round solves for the polynomial and for the size, and
    then finds the extrema of that polynomial by Newton's method.
    """
    pi = 6 * arcsine(Decimal("0.5"))
    points = [sine_and_cosine(pi * k / (degree + 1))[1] for k in range(degree + 2)]
    while True:
        found = solution(
            [
                [*(x**power for power in range(degree + 1)), Decimal((-1) ** k), value_at(series, x)]
                for k, x in enumerate(points)
            ]
        )
        polynomial = found[:-1]
        difference = [a - b for a, b in zip(series, polynomial + [Decimal(0)] * len(series), strict=False)]
        slope = derivative(difference)
        bend = derivative(slope)
        largest_move = Decimal(0)
        for k in range(1, degree + 1):
            x = points[k]
            for _ in range(4):
                x -= value_at(slope, x) / value_at(bend, x)
            largest_move = max(largest_move, abs(x - points[k]))
            points[k] = x
        if largest_move < Decimal(10) ** -12:  # the size is right to the square of that
            return polynomial


def arcsine_steps() -> dict[tuple[int, int], int]:
    """The steps of a row and a column."""
    return {
        (first + i, column): int(steps)
        for column, runs in ARCSINE_STEPS.items()
        for first, run in runs.items()
        for i, steps in enumerate(run.split())
    }


def glibc_arcsine_row(row: int, all_steps: Mapping[tuple[int, int], int]) -> list[float]:
    degree = [each for first, each in ARCSINE_DEGREES.items() if first <= row][-1]
    half = Decimal(1) / 512
    series = [each * half**power for power, each in enumerate(taylor((2 * (row + ARCSINE_FIRST) + 1) * half))]
    exact = [each / half**power for power, each in enumerate(minimax(series, degree))]
    value = near(exact[0], ARCSINE_BITS)
    exact[0] -= Decimal(value)
    factors = [moved(float(each), all_steps.get((row, power), 0)) for power, each in enumerate(exact)]
    padding = 0 if degree == 6 else 10 - degree
    return [factors[1], factors[0], value, *factors[2:], *[0.0] * padding]


def glibc_arcsines() -> list[float]:
    """Rows of 8 or 12 numbers, for x = (j + 32.5)/256 + r: a polynomial in r, for r from -1/512 to 1/512.

    It is the minimax polynomial of arcsin(x), whose degree grows from 6 to 10. The order of the columns is: the factor
    of r, the low part of the constant, its high part, the factors of r^2 to r^6, and in rows of a higher degree those
    of r^7 to r^10, zero where there is none. The high part is the nearest multiple of 2^-51. The low part is the rest
    of the constant. The low part and all factors are rounded to nearest, but for the steps.

    The low part and the factors of the highest powers need steps. Because r is small, a tiny error of a polynomial is a
    large one of its highest coefficients: those of glibc have the errors of its authors' arithmetic, which is unknown.
    """
    all_steps = arcsine_steps()
    return [number for row in range(ARCSINE_ROWS) for number in glibc_arcsine_row(row, all_steps)]


def glibc_inverse_roots() -> list[float]:
    """1/sqrt(z) in the middle of the parts of 1/128 from 1/2 to 1 and of 1/64 from 1 to 2, rounded to 14 decimals."""
    middles = [Decimal(1) / 2 + Decimal(2 * j + 1) / 256 for j in range(64)]
    middles += [1 + Decimal(2 * j + 1) / 128 for j in range(64)]
    return [float((1 / z.sqrt()).quantize(Decimal("1e-14"))) for z in middles]


# --- The sources

ARCSINE_FILE = "replay/arrays/libm/arcsine_tables.h"
LIBM_FILE = "replay/arrays/libm/libm_tables.h"
SVML_FILE = "replay/codegen/vector/vector_constants.cpp"


def short_text(number: float) -> str:
    """Without zeros at the end; small integers in decimal."""
    return str(number) if number in (0, 1) else re.sub(r"0+p", "p", number.hex())


def long_text(number: float) -> str:
    """With all 13 digits, but 0.0 and 1.0."""
    return str(number) if number in (0, 1) else number.hex()


@dataclass(frozen=True)
class Table:
    file: str
    name: str
    numbers: Callable[[], list[float]]
    text: Callable[[float], str]


TABLES = (
    Table(LIBM_FILE, "kPowersOfTwo", glibc_powers, long_text),
    Table(LIBM_FILE, "kLogarithms", glibc_logarithms, long_text),
    Table(LIBM_FILE, "kPowerLogarithms", glibc_power_logarithms, short_text),
    Table(LIBM_FILE, "kSines", glibc_sines, short_text),
    Table(ARCSINE_FILE, "kArcsines", glibc_arcsines, short_text),
    Table(ARCSINE_FILE, "kInverseRoots", glibc_inverse_roots, short_text),
    Table(SVML_FILE, "kPowers", lambda: powers(16)[0][:8], float.hex),
    Table(SVML_FILE, "kPowersEnd", lambda: powers(16)[0][8:], float.hex),
    Table(SVML_FILE, "kPowersLow", lambda: powers(16)[1][:8], float.hex),
    Table(SVML_FILE, "kPowersLowEnd", lambda: powers(16)[1][8:], float.hex),
    Table(SVML_FILE, "kLogs", lambda: svml_logarithms()[0][:8], float.hex),
    Table(SVML_FILE, "kLogsEnd", lambda: svml_logarithms()[0][8:], float.hex),
    Table(SVML_FILE, "kLogsLow", lambda: svml_logarithms()[1][:8], float.hex),
    Table(SVML_FILE, "kLogsLowEnd", lambda: svml_logarithms()[1][8:], float.hex),
)


def texts(table: Table) -> list[str]:
    with localcontext() as context:
        context.prec = DIGITS
        return [table.text(number) for number in table.numbers()]


def rewritten(source: str, table: Table, numbers: Sequence[str]) -> tuple[str, list[str]]:
    """The source with these numbers in the definition of the table, and the differences."""
    definition = re.search(rf"\bconstexpr\b[^;={{]*\b{table.name}\b[^;]*;", source)
    if definition is None:
        raise SystemExit(f"{table.file} has no table {table.name}")
    head = definition.start() + definition[0].index(table.name)
    body = source[head : definition.end()]
    found = NUMBER.findall(body)
    if len(found) != len(numbers):
        raise SystemExit(
            f"{table.file}: {table.name} has {len(found)} numbers, and {len(numbers)} are computed"
        )
    differences = [
        f"{table.name}, number {i}: {old}, computed {new}"
        for i, (old, new) in enumerate(zip(found, numbers, strict=True))
        if old != new
    ]
    following = iter(numbers)
    return source[:head] + NUMBER.sub(lambda _: next(following), body) + source[
        definition.end() :
    ], differences


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/libm-tables",
        description="Computes the tables of exp, log, power, sin, cos and arcsin in the C++ code from their formulas.",
        epilog="Without an option it prints the tables, a number a line.",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--check", action="store_true", help="compare with the sources; fails if a number differs"
    )
    what.add_argument("--update", action="store_true", help="write the numbers into the sources")
    options = parser.parse_args()

    failed = False
    for table in TABLES:
        numbers = texts(table)
        if not (options.check or options.update):
            print(f"{table.file}: {table.name}", *numbers, sep="\n")
            continue
        path = ROOT / table.file
        source, differences = rewritten(path.read_text(), table, numbers)
        print(f"{table.file}: {table.name}: {len(numbers)} numbers, {len(differences)} differ")
        if options.update and differences:
            path.write_text(source)
        elif differences:
            failed = True
            print(*differences, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
