"""A part of the matrix of ufuncs, dtypes and layouts; `scripts/array-matrix` runs all of it."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import array_matrix

PART = 12  # one cell of so many is run
ALWAYS = ("dd", "ff", "ll", "BB", "??", "DD", "df", "d?", "Bf", "d", "f", "l", "?", "D")
CELLS = list(array_matrix.cells())
NAMES = sorted({ufunc.__name__ for ufunc, _ in CELLS})


def part_of(name: str) -> list[tuple[np.ufunc, str]]:
    return [
        (ufunc, dtypes)
        for ufunc, dtypes in CELLS
        if ufunc.__name__ == name
        and (dtypes in ALWAYS or zlib.crc32(f"{name} {dtypes}".encode()) % PART == 0)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_cells(name: str) -> None:
    found = array_matrix.run(part_of(name))
    assert not found.differences, "\n".join(found.differences)
    assert found.calls > 0


@pytest.mark.parametrize("name", ["add", "multiply", "less", "maximum", "absolute", "logical_and"])
@pytest.mark.parametrize("code", ["d", "f"])
def test_cells_run_in_fusion_groups(name: str, code: str) -> None:
    chosen = [cell for cell in CELLS if cell[0].__name__ == name and set(cell[1]) == {code}]
    found = array_matrix.run(chosen)
    assert not found.differences
    assert found.in_groups[name] > found.calls / 10
