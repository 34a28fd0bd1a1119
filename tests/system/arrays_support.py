"""What the tests of the array kernels share: one case run eagerly and through a site, and values to run it on."""

from __future__ import annotations

import operator
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tagalong._core import _UfuncSite

# Whether the machine has the instructions for our own loops.
_FLAGS = set(Path("/proc/cpuinfo").read_text("ascii").split())
HAS_CODE = {"avx2", "fma"} <= _FLAGS  # machine code, for vectors of four doubles at least
HAS_VECTORS = {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= _FLAGS  # of eight
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


def at_once(count: int, work: Callable[[int], None]) -> None:
    """Runs the work in this many threads, each with its number, and joins them."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def with_room(length: int) -> list[Any]:
    """A list that has grown by one item, and has room for more in most cases."""
    items: list[Any] = [None] * length
    items.append(None)
    return items


def misaligned(array: np.ndarray) -> np.ndarray:
    """A copy with equal contents, one byte behind an aligned address."""
    moved = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def described(value: Any) -> tuple[Any, ...]:
    """All visible properties of a result."""
    if not isinstance(value, np.ndarray):
        raw = significant_bytes(np.asarray(value)) if isinstance(value, np.generic) else repr(value)
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
    """The bytes of the elements without the padding of extended precision; for objects their values."""
    if value.dtype.hasobject:
        return repr(value.tolist()).encode()
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
        """The parts that must be equal."""
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
    """Runs both; they must be equal, or the site must have left the call to NumPy.

    Returns the site with its counters.
    """
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
    # The second run, because NumPy 1.26 itself crashes for some operands (float128 & 2**70) that are left to it anyway.
    expected = Seen(eager, errstate)
    assert actual.comparable() == expected.comparable(), f"{label} {errstate}"
    return site


RNG = np.random.default_rng(20240607)


def sample(code: str, shape: tuple[int, ...], kind: str) -> np.ndarray:
    """Values of one dtype: ordinary ones, extremes, or random bits."""
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


def eval_binary(symbol: str, make_left: Any, left: Any, make_right: Any, right: Any) -> Any:
    """Evaluates `left op right` in the interpreter, so that NumPy recognises temporaries on the value stack."""
    left_text = "make_left()" if make_left else "left"
    right_text = "make_right()" if make_right else "right"
    names = {"make_left": make_left, "left": left, "make_right": make_right, "right": right}
    return eval(f"{left_text} {symbol} {right_text}", names)  # noqa: S307


def ufuncs() -> list[np.ufunc]:
    """All ufuncs of NumPy with one output and no core dimensions."""
    found = {f.__name__: f for f in vars(np).values() if isinstance(f, np.ufunc)}
    return [f for _, f in sorted(found.items()) if f.nout == 1 and f.signature is None]


# ufuncs on an array with one axis of 40,000 elements.
FLAT_IN_LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "every other": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1],
    "misaligned": misaligned,
    "swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "two axes": lambda x: x.reshape(200, 200),
    "Fortran": lambda x: np.asfortranarray(x.reshape(200, 200)),
    "transposed": lambda x: x.reshape(100, 400).reshape(400, 100).T.reshape(200, 200),
    "column": lambda x: x.reshape(-1, 1),
    "subclass": lambda x: x.view(np.matrix),
    "masked": np.ma.array,
    "of another size": lambda x: x[1:],
}
