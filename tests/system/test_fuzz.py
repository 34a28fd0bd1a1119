"""A representative part of the random programs (tests/fuzz): fixed seeds, eagerly and traced."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import tagalong

ROOT = Path(__file__).resolve().parents[2]
COUNT = 500


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with the generator and the package under test."""
    package = str(Path(tagalong.__file__).parents[1])
    path = os.pathsep.join((package, str(ROOT / "tests"), str(ROOT / "tests" / "system")))
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("TAGALONG", "PYTHON"))}
    return subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        env=kept | {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def run_fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The generator's command line."""
    return run("-m", "fuzz", *arguments)


def test_random_programs_do_the_same_traced() -> None:
    result = run_fuzz("--count", str(COUNT), "--seed", "1", "--no-shrink", "--finds", "3", "--time", "200")
    assert result.returncode == 0, f"{result.stdout[-6000:]}\n{result.stderr[-2000:]}"
    # A long run reports its progress in the same words.
    programs = int(re.findall(r"^(\d+) programs in", result.stdout, re.M)[-1])
    recorded, hits, exits, with_record, with_hit = map(
        int,
        re.search(
            r"functions recorded (\d+), hits (\d+), misses \d+, exits (\d+), bridges \d+, stitches \d+; "
            r"programs that recorded (\d+), that hit (\d+)",
            result.stdout,
        ).groups(),
    )
    assert programs >= 0.9 * COUNT
    assert "too long eagerly" not in result.stdout
    # The test says nothing if little was traced.
    assert with_record >= 0.97 * programs
    assert with_hit >= 0.97 * programs
    assert recorded >= 3 * programs
    assert hits >= 20 * programs
    assert exits >= 2 * programs


def test_a_seed_is_a_program() -> None:
    one, two, other = (run_fuzz("--show", "--seed", seed) for seed in ("7", "7", "8"))
    assert one.stdout == two.stdout
    assert one.stdout != other.stdout
    assert "same" in one.stdout.splitlines()


def test_finds_are_shrunk_and_paste_ready(tmp_path: Path) -> None:
    """The traced run returns wrong results on purpose."""
    script = tmp_path / "lie.py"
    script.write_text(
        "from fuzz import oracle, pool, shrink\n"
        "from fuzz.assembly import generate\n"
        "pool.ready()\n"
        "honest = oracle.traced\n"
        "def lying(program, code):\n"
        "    seen = honest(program, code)\n"
        "    if 'while' in program.source:\n"
        "        seen[0].output += 'lie'\n"
        "    return seen\n"
        "oracle.traced = lying\n"
        "generated = next(g for g in map(generate, range(1, 99)) if 'while' in g.source)\n"
        "result = pool.outcome_of(generated, ())\n"
        "assert result.status == 'differs', result\n"
        "small = shrink.shrunk(generated, result, 60.0)\n"
        "print(shrink.paste_ready(*small))\n"
    )
    result = run(str(script))
    assert result.returncode == 0, result.stderr
    source = [line for line in result.stdout.splitlines() if line and not line.startswith("#")]
    assert any("while" in line for line in source)
    assert len(source) <= 6, result.stdout
    assert result.stdout.startswith("# program: fuzz_")
    assert "# trace: all" in result.stdout


def test_differences_that_eager_execution_shows_too_are_counted(tmp_path: Path) -> None:
    """Operands that die in another order once the call is specialised; the sign of a NaN. Neither hides a fault."""
    script = tmp_path / "excused.py"
    script.write_text(
        "from fuzz import oracle, pool\n"
        "from fuzz.assembly import Call, Generated\n"
        "pool.ready()\n"
        "dying = ('class K:\\n    def __init__(self, n): self.n = n\\n    def __del__(self): print(self.n)\\n'\n"
        "         'def f():\\n    {K(1): 1}.get(K(0))\\n')\n"
        "unbound = ('def f():\\n    try:\\n        x = 1\\n        y\\n    finally:\\n        x = 2\\n        z\\n'\n"
        "           '    y = z = 1\\n')\n"
        "nan = 'def f():\\n    return float(\"nan\")\\n'\n"
        "honest = oracle.traced\n"
        "def signed(program, code):\n"
        "    seen = honest(program, code)\n"
        "    kind, number = seen[0].outcome[1]\n"
        "    seen[0].outcome = ('returned', (kind, type(number).of(number[:-1] + b'\\xff', number.code)))\n"
        "    return seen\n"
        "def lying(program, code):\n"
        "    seen = honest(program, code)\n"
        "    seen[9].output += 'lie'\n"
        "    return seen\n"
        "def woven(program, code, lie=0):\n"
        "    seen = honest(program, code)\n"
        "    told = [kind(program, code)[9].outcome[1] for kind in (oracle.eager, oracle.cold)]\n"
        "    place, context = (k for k, two in enumerate(zip(*told)) if two[0] != two[1])\n"
        "    parts = list(told[0])\n"
        "    parts[context] = told[1][context]\n"
        "    parts[0] = (*parts[0], 'lie') if lie else parts[0]\n"
        "    seen[9].outcome = ('raised', tuple(parts))\n"
        "    return seen\n"
        "def woven_lie(program, code):\n"
        "    return woven(program, code, 1)\n"
        "for source, oracle.traced in (\n"
        "    (dying, honest), (dying, lying), (nan, signed), (nan, lying), (unbound, woven), (unbound, woven_lie)\n"
        "):\n"
        "    verdict = oracle.judge(Generated(1, source, (Call('f()', 12),)), ())\n"
        "    print(verdict.excused or '-', len(verdict.found))\n"
    )
    result = run(str(script))
    assert result.stdout.splitlines() == [
        "specialised instruction 0", "- 1", "sign of nan 0", "- 1", "specialised instruction 0", "- 1"
    ], result.stderr  # fmt: skip
