"""Support of the tests of functions that NumPy takes from libm: which ones tagalong computes, and on which numbers."""

from __future__ import annotations

import math
import platform

import numpy as np

from arrays_support import HAS_CODE

FUNCTIONS = (np.sin, np.cos, np.arcsin, np.exp, np.log)
RNG = np.random.default_rng(20240811)


def suited(ufunc: np.ufunc, x: np.ndarray) -> np.ndarray:
    """Values in the function's domain: positive for logarithms, at most 1 for arcsines."""
    if ufunc is np.arcsin:
        with np.errstate(invalid="ignore"):
            return np.where(np.abs(x) > 1.0, np.modf(x)[0], x)
    return np.abs(x) if ufunc is np.log else x


def has_loops(ufunc: np.ufunc) -> bool:
    """Whether this machine has the instructions, and its NumPy takes glibc's function."""
    x = suited(ufunc, np.abs(RNG.uniform(-10, 10, 20_000)))
    libms = getattr(math, ufunc.__name__.replace("arc", "a"))
    is_libm = ufunc(x).tolist() == [libms(item) for item in x.tolist()]
    return HAS_CODE and platform.libc_ver()[0] == "glibc" and is_libm


LOOPS = {ufunc for ufunc in FUNCTIONS if has_loops(ufunc)}


def near(base: float, steps: int, count: int) -> np.ndarray:
    """Doubles a few units beside multiples, and others close to them."""
    multiples = base * RNG.integers(-steps, steps, count).astype(np.float64)
    few = (multiples.view(np.int64) + RNG.integers(-40, 40, count)).view(np.float64)
    return np.concatenate([few, multiples + np.ldexp(RNG.uniform(-1, 1, count), -RNG.integers(0, 60, count))])


COUNT = 500_000
LAST_SINE = 105_414_350.0  # for larger numbers libm uses another algorithm
LIMITS = np.array([2.0**-27, 2.0**-26, 0.126, 0.855469, 2.426265, LAST_SINE])
VALUES = {
    "one turn": lambda: RNG.uniform(-math.pi, math.pi, COUNT),
    "hundred": lambda: RNG.uniform(-100, 100, COUNT),
    "all that are computed": lambda: RNG.uniform(-LAST_SINE, LAST_SINE, COUNT),
    "magnitudes": lambda: np.ldexp(RNG.uniform(-1, 1, COUNT), RNG.integers(-28, 28, COUNT)),
    "beside the limits": lambda: RNG.choice(LIMITS, COUNT) * (RNG.uniform(-1, 1, COUNT) * 1e-9 + 1),
    "at the limits": lambda: (
        RNG.choice(LIMITS, COUNT).view(np.int64) + RNG.integers(-(2**33), 2**33, COUNT)
    ).view(np.float64),
    "where tables meet": lambda: near(1 / 256, 220, COUNT // 2),
    "entries of tables": lambda: near(1 / 128, 110, COUNT // 2),
    "parts of one": lambda: RNG.uniform(-1, 1, COUNT),
    "where parts of one meet": lambda: np.clip(near(1 / 256, 257, COUNT // 2), -1, 1),
    "below one": lambda: (
        RNG.choice([-1, 1], COUNT) * (1.0 - np.ldexp(RNG.random(COUNT), -RNG.integers(4, 53, COUNT)))
    ),
    "below an eighth": lambda: RNG.uniform(-0.127, 0.127, COUNT),
    "up to a quarter turn": lambda: RNG.uniform(-0.86, 0.86, COUNT),
    "the other function": lambda: RNG.choice([-1, 1], COUNT) * RNG.uniform(0.85, 2.43, COUNT),
    "sixteenths": lambda: near(math.pi / 16, 5_000_000, COUNT // 2),
    "quarters": lambda: near(math.pi / 2, 600_000, COUNT // 2),
    "all quarters": lambda: near(math.pi / 2, 67_000_000, COUNT // 2),
    "parts of two": lambda: near(math.log(2) / 128, 95_000, COUNT // 2),
    "where parts of two meet": lambda: near(math.log(2) / 256, 190_000, COUNT // 2),
    "beside one": lambda: 1.0 + np.ldexp(RNG.uniform(-1, 1, COUNT), -RNG.integers(1, 54, COUNT)),
    "where parts of a binade meet": lambda: np.ldexp(
        near(1 / 256, 352, COUNT // 2), RNG.integers(-3, 3, COUNT)
    ),
    "around one": lambda: RNG.uniform(0.9, 1.1, COUNT),
    "limits of what is beside one": lambda: np.concatenate(
        [near(15 / 16, 2, COUNT), near(4361 / 4096, 2, COUNT)]
    ),
    "powers": lambda: RNG.uniform(-745, 711, COUNT),
    "of a grid": lambda: np.linspace(-50, 50, COUNT),
    "of degrees": lambda: np.radians(np.arange(COUNT, dtype=np.float64)),
    "tiny": lambda: np.ldexp(RNG.uniform(-1, 1, COUNT // 10), -RNG.integers(20, 1074, COUNT // 10)),
    "huge": lambda: np.ldexp(RNG.uniform(-1, 1, COUNT // 10), RNG.integers(20, 1024, COUNT // 10)),
    "any bits": lambda: RNG.integers(-(2**63), 2**63 - 1, COUNT // 10).view(np.float64),
}
SPECIAL = np.array(
    [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, -1e-310, 1e300, -(2.0**27), 2.0**27, np.inf, -np.inf, np.nan, 1.0]
    + [-1.0, 1.0 - 2.0**-53, 1.0 + 2.0**-52]
)
