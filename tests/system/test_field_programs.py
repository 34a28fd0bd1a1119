"""The array programs of `scripts/bench field` give the same bytes traced as plain, at their smallest sizes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tagalong
from conftest import ROOT

BENCHMARKS = ROOT / "scripts" / "benchmarks"
FIELD = sorted((BENCHMARKS / "field").glob("*/[a-z]*.py"))
APART = sorted((BENCHMARKS / "field_apart").glob("*/[a-z]*.py"))


@pytest.fixture(autouse=True)
def scripts_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS.parent))


def test_there_are_programs() -> None:
    assert len(FIELD) >= 60 and len({path.parent for path in FIELD}) >= 10
    assert len(APART) >= 12
    assert not {path.stem for path in FIELD} & {path.stem for path in APART}


@pytest.mark.parametrize("path", FIELD + APART, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_same_bytes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.field.process import digest
    from benchmarks.interpreters import load

    monkeypatch.setitem(sys.modules, path.stem, None)  # `load` puts the program there
    plain, traced = load(path, False), load(path, True)
    size, before = plain.SIZES[0], tagalong.stats().hits
    for rounds in (1, 3):
        assert digest(traced.run(size, rounds)) == digest(plain.run(size, rounds))
    assert tagalong.stats().hits > before


def test_element_wise_work_is_measured() -> None:
    from benchmarks.field.share import Clock, clocked

    path = BENCHMARKS / "field" / "finance" / "black_scholes.py"
    clock = Clock()
    clocked(path, clock).run(1000, 2)
    assert clock.taken > 0
