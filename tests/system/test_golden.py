"""The dumps of some small programs have not changed. `scripts/golden --update` writes them again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import golden_support
from arrays_support import HAS_CODE, HAS_VECTORS, NUMPY_2
from conftest import clean_environment

PROGRAMS = golden_support.programs()
# A process of its own: where another thread runs Python code while a call is recorded, the graph has a guard more, and
# pytest-xdist has such threads.
RUN = """
import json, sys, threading
sys.path[:0] = sys.argv[1:2]
from conftest import keep_what_does_not_pay
import golden_support
from tagalong import _core
keep_what_does_not_pay.__wrapped__()
if sys.argv[2] != "0":
    _core.set_option("most_lanes", int(sys.argv[2]))
def run():
    print(json.dumps({name: golden_support.text_of(name) for name in sys.argv[3:]}))
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


def texts(names: list[str], *, lanes: int = 0, **variables: str) -> dict[str, str]:
    """The texts of these programs, by their names; with vectors of at most so many doubles, or of any size."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(Path(__file__).parent), str(lanes), *names],
        capture_output=True,
        text=True,
        env=clean_environment(**variables),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def texts_now() -> dict[str, str]:
    return texts(PROGRAMS)


@pytest.fixture(scope="module")
def texts_of_narrow_vectors() -> dict[str, str]:
    return texts(PROGRAMS, lanes=4)


def compare(name: str, text: str) -> None:
    found, expected = (
        golden_support.comparable(text) for text in (text, golden_support.file_of(name).read_text())
    )
    assert found == expected, "\n".join(golden_support.differences(expected, found))


@pytest.mark.parametrize("name", PROGRAMS)
def test_texts_are_golden(name: str, texts_now: dict[str, str], request: pytest.FixtureRequest) -> None:
    if golden_support.has_arrays(name) and not (HAS_CODE and NUMPY_2):
        pytest.skip("the golden texts are those of a machine with vector code, and of NumPy 2")
    if request.config.getoption("--update-golden"):
        golden_support.file_of(name).write_text(texts_now[name])
    compare(name, texts_now[name])


@pytest.mark.skipif(not HAS_VECTORS, reason="there is one width of vectors on this machine")
@pytest.mark.parametrize("name", [name for name in PROGRAMS if golden_support.has_arrays(name)])
def test_texts_are_the_same_for_narrow_vectors(name: str, texts_of_narrow_vectors: dict[str, str]) -> None:
    compare(name, texts_of_narrow_vectors[name])


def test_texts_do_not_depend_on_the_hash_seed() -> None:
    names = ["strings_and_dicts", "attributes", "exceptions", "closures"]
    for seed in ("1", "2"):
        for name, text in texts(names, PYTHONHASHSEED=seed).items():
            compare(name, text)


def test_there_are_programs_and_a_text_for_each() -> None:
    assert len(PROGRAMS) >= 20
    assert [path.stem for path in sorted(golden_support.FOLDER.glob("*.txt"))] == PROGRAMS
