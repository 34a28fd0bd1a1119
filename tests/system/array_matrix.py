"""Every ufunc of NumPy with every pair of dtypes in every layout, inside fusion groups, against eager NumPy.

A cell of the matrix is one ufunc and the dtypes of its operands. In each layout a cell runs as several small functions:
two operations beside each other, one behind the other, and one in place. Each function is recorded once and replayed on
ordinary numbers, on extreme ones and on random bits. Results, warnings, calls for floating point errors and exceptions
must be those of eager execution. The script `scripts/array-matrix` runs all cells, tests run a part of them.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import arrays_support
from arrays_support import ERRSTATES, misaligned, sample, ufuncs
from chains_support import both, check
from tagalong import _core

DTYPES = "?bBhHiIlLefdFD"
KINDS = ("ordinary", "extreme", "bits")
ROWS, COLUMNS = 5, 13

Array = np.ndarray
Layout = Callable[[Array], Any]

# What becomes of an operand of shape (ROWS, COLUMNS).
LAYOUTS: dict[str, Layout] = {
    "flat": lambda x: x,
    "one element": lambda x: x[:1, :1],
    "every other": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[:, ::-1],
    "Fortran": np.asfortranarray,
    "part": lambda x: np.pad(x, ((1, 1), (2, 3)))[1:-1, 2:-3],
    "row": lambda x: x[0].copy(),
    "column": lambda x: x[:, :1].copy(),
    "spread": lambda x: np.broadcast_to(x[:1], x.shape),
    "misaligned": misaligned,
    "swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "no axes": lambda x: x[0, 0, None][0:1].reshape(()),
    "scalar": lambda x: x[0, 0],
    "number": lambda x: x[0, 0].item(),
}
PAIRS = [
    *((name, name) for name in LAYOUTS if name not in ("no axes", "scalar", "number")),
    *(("flat", name) for name in LAYOUTS if name != "flat"),
    *((name, "flat") for name in ("row", "column", "every other", "scalar", "number")),
    ("row", "column"),
    ("overlapping", "overlapping"),
]

FORMS = {
    1: {
        "beside": "def f(x):\n    return U(x), U(x)\n",
        "behind": "def f(x):\n    return U(U(x))\n",
        "in place": "def f(x):\n    t = U(x)\n    U(t, out=t)\n    return t\n",
        "into an operand": "def f(x):\n    t = U(x)\n    U(t, out=x)\n    return t, x\n",
    },
    2: {
        "beside": "def f(x, y):\n    return U(x, y), U(y, x)\n",
        "behind": "def f(x, y):\n    return U(U(x, y), y)\n",
        "in place": "def f(x, y):\n    t = U(x, y)\n    U(t, y, out=t)\n    return t\n",
        "into an operand": "def f(x, y):\n    t = U(x, y)\n    U(x, y, out=x)\n    return t, x\n",
    },
}


@dataclass
class Found:
    """The outcome of some cells."""

    cells: int = 0
    calls: int = 0
    in_groups: Counter[str] = field(default_factory=Counter)  # by ufunc: calls in which a fusion group ran
    by_ufunc: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        self.cells += other.cells
        self.calls += other.calls
        self.in_groups += other.in_groups
        self.by_ufunc += other.by_ufunc
        self.differences += other.differences


def cells() -> Iterator[tuple[np.ufunc, str]]:
    """The ufuncs of one and two operands with each choice of dtypes that eager NumPy accepts."""
    for ufunc in ufuncs():
        if ufunc.nin not in FORMS:
            continue
        for dtypes in itertools.product(DTYPES, repeat=ufunc.nin):
            if is_accepted(ufunc, dtypes):
                yield ufunc, "".join(dtypes)


def is_accepted(ufunc: np.ufunc, dtypes: Sequence[str]) -> bool:
    try:
        with np.errstate(all="ignore"):
            ufunc(*(np.ones(1, code) for code in dtypes))
    except TypeError:
        return False
    return True


def is_defined(source: str, ufunc: np.ufunc, operands: list[Any]) -> bool:
    """Whether eager NumPy computes the form at all: a result may have a dtype that the ufunc does not take."""
    space: dict[str, Any] = {"np": np, "U": ufunc}
    exec(source, space)  # noqa: S102 - a form
    try:
        with np.errstate(all="ignore"):
            space["f"](*operands)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def operands_of(dtypes: str, layout: tuple[str, ...], kind: str) -> list[Any]:
    if layout[0] == "overlapping":
        memory = sample(dtypes[0], (ROWS, COLUMNS + 1), kind)
        return [memory[:, :-1], memory[:, 1:]][: len(dtypes)]
    with np.errstate(all="ignore"):
        return [
            LAYOUTS[name](sample(code, (ROWS, COLUMNS), kind))
            for code, name in zip(dtypes, layout, strict=True)
        ]


def seeded_operands(ufunc: np.ufunc, dtypes: str, layout: tuple[str, ...], kind: str, call: int) -> list[Any]:
    """The same operands each time: a form may write into them."""
    seed = zlib.crc32(f"{ufunc.__name__} {dtypes} {layout} {call}".encode())
    arrays_support.RNG = np.random.default_rng(seed)
    return operands_of(dtypes, layout, kind)


def layouts_of(dtypes: str) -> Iterator[tuple[str, ...]]:
    if len(dtypes) == 1:
        yield from ((name,) for name in LAYOUTS if name not in ("scalar", "number"))
        return
    for pair in PAIRS:
        if pair[0] != "overlapping" or len(set(dtypes)) == 1:
            yield pair


def run_cell(ufunc: np.ufunc, dtypes: str, found: Found) -> None:
    found.cells += 1
    for number, layout in enumerate(layouts_of(dtypes)):
        # One form a layout: the next cell of the ufunc takes another one there.
        forms = list(FORMS[ufunc.nin].items())
        name, source = forms[(number + zlib.crc32(dtypes.encode())) % len(forms)]
        run_form(ufunc, dtypes, layout, name, source, found)


def run_form(
    ufunc: np.ufunc, dtypes: str, layout: tuple[str, ...], name: str, source: str, found: Found
) -> None:
    if not is_defined(source, ufunc, operands_of(dtypes, layout, "ordinary")):
        return
    eager, traced = both(source, U=ufunc)
    before = _core.counter("groups_run")
    for call, kind in enumerate((KINDS[0], *KINDS)):

        def make(kind: str = kind, call: int = call) -> list[Any]:
            return seeded_operands(ufunc, dtypes, layout, kind, call)

        errstate = ERRSTATES[(call + found.calls) % len(ERRSTATES)]
        found.calls += 1
        found.by_ufunc[ufunc.__name__] += 1
        try:
            check(eager, traced, make, errstate)
        except AssertionError as error:
            found.differences.append(f"{ufunc.__name__} {dtypes} {layout} {name} {kind} {errstate}\n{error}")
            return
    found.in_groups[ufunc.__name__] += min(_core.counter("groups_run") - before, 1 + len(KINDS))


def prepare() -> None:
    _core.set_option("fusion", 2)
    _core.set_option("retire_after", 0)


def run(chosen: Sequence[tuple[np.ufunc, str]]) -> Found:
    prepare()
    found = Found()
    for number, (ufunc, dtypes) in enumerate(chosen):
        _core.set_option("most_lanes", 4 if number % 2 else 8)
        run_cell(ufunc, dtypes, found)
    return found


def _run_part(names: tuple[str, int, int]) -> Found:
    name, part, parts = names
    return run([cell for cell in cells() if cell[0].__name__ == name][part::parts])


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/array-matrix", description=__doc__)
    parser.add_argument("ufunc", nargs="*", metavar="UFUNC", help="names of ufuncs (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at the same time (default: 2)")
    options = parser.parse_args()
    names = options.ufunc or sorted({ufunc.__name__ for ufunc, _ in cells()})
    begin, total = time.monotonic(), Found()
    with multiprocessing.get_context("fork").Pool(options.jobs, maxtasksperchild=1) as pool:
        for found in pool.imap(_run_part, [(name, 0, 1) for name in names]):
            total.add(found)
            for name in found.by_ufunc:
                share = found.in_groups[name] / found.by_ufunc[name]
                print(
                    f"{name:16} {found.cells:4} cells, {found.calls:6} calls, {share:4.0%} in fusion groups",
                    flush=True,
                )
            for difference in found.differences[:3]:
                print(difference, flush=True)
    seconds = time.monotonic() - begin
    print(
        f"NumPy {np.__version__}: {total.cells} cells, {total.calls} calls, "
        f"{total.in_groups.total()} in fusion groups, {len(total.differences)} differences, {seconds:.0f} s"
    )
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main())
