"""In a program that is traced as a whole, memory that eager operations free is used by the next ones."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from subprocesses import run

PROGRAM = """
import json, resource
import numpy as np

def seen(x):
    return x + 1.0

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

for _ in range(3):
    seen(np.ones(8))
image = np.arange(300_000.0)
before = faults()
same = True
for _ in range(20):  # NumPy's own code, and arrays that only it sees
    longer = [np.insert(image, place, 0.0) for place in range(6)]
    same = same and np.delete(longer[5], 5).tobytes() == image.tobytes()
    del longer
print(json.dumps([faults() - before, same]))
"""
OF_ALLOCATOR = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES")


pytestmark = [
    pytest.mark.skipif(
        "glibc" not in (os.confstr("CS_GNU_LIBC_VERSION") or "")
        or any(name in os.environ for name in OF_ALLOCATOR),
        reason="of glibc's malloc, as it is by itself",
    ),
    pytest.mark.not_sanitized("their allocator is another one"),
]


def faults(folder: Path, **variables: str) -> int:
    file = folder / "program.py"
    file.write_text(PROGRAM)
    done = run(str(file), variables=variables)
    assert done.returncode == 0 and not done.stderr
    number, is_same = json.loads(done.stdout)
    assert is_same
    return number


def test_the_next_array_finds_memory(tmp_path: Path) -> None:
    plain = faults(tmp_path, TAGALONG="0")
    assert plain > 10_000  # otherwise there is nothing to gain
    assert faults(tmp_path, TAGALONG="1") < plain / 8


def test_allocator_settings_of_the_environment_hold(tmp_path: Path) -> None:
    settings = {"MALLOC_TRIM_THRESHOLD_": "131072", "MALLOC_MMAP_THRESHOLD_": "131072"}
    plain = faults(tmp_path, TAGALONG="0", **settings)
    assert faults(tmp_path, TAGALONG="1", **settings) > 0.8 * plain
