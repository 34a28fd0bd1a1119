"""The tables of exp, log, power, sin, cos and arcsin in the C++ code are those that scripts/libm_tables.py computes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "libm_tables.py"


def run(script: Path, option: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(script), option], capture_output=True, text=True, check=False)


def test_tables_are_the_computed_ones() -> None:
    result = run(SCRIPT, "--check")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "2208 numbers, 0 differ" in result.stdout


def test_wrong_digit_is_found_and_corrected(tmp_path: Path) -> None:
    tables = "replay/arrays/libm/arcsine_tables.h"
    others = ("replay/arrays/libm/libm_tables.h", "replay/codegen/vector/vector_constants.cpp")
    for name in ("scripts/libm_tables.py", tables, *others):
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text((ROOT / name).read_text())
    right = (ROOT / tables).read_text()
    digit = "0x1.0216988994424p+0"
    assert right.count(digit) == 1
    wrong = right.replace(digit, "0x1.0216988994425p+0")
    (tmp_path / tables).write_text(wrong)

    script = tmp_path / "scripts" / "libm_tables.py"
    result = run(script, "--check")
    assert result.returncode == 1
    assert f"kArcsines, number 0: 0x1.0216988994425p+0, computed {digit}" in result.stdout
    assert (tmp_path / tables).read_text() == wrong
    assert run(script, "--update").returncode == 0
    assert (tmp_path / tables).read_text() == right
