"""Checks that the sanitizers watch the module; for `scripts/test --sanitize`."""

from __future__ import annotations

import os

import pytest

from conftest import RunPython, is_sanitized

pytestmark = pytest.mark.skipif(not is_sanitized(), reason="scripts/test --sanitize")


def test_memory_that_is_kept_for_the_next_result_is_as_freed(run_python: RunPython) -> None:
    program = """
import ctypes, numpy as np, tagalong
from tagalong import _core
_core.set_option("retire_after", 0)
@tagalong.trace
def f(x):
    return x * x + 1.0
x = np.linspace(1.0, 2.0, 100_000)
for _ in range(6):
    f(x)
result = f(x)
address = result.ctypes.data
ctypes.string_at(address, 800)
print("alive", flush=True)
del result
ctypes.string_at(address, 800)
"""
    done = run_python("-c", program, ASAN_OPTIONS=f"{os.environ['ASAN_OPTIONS']}:log_path=stderr")
    assert done.stdout == "alive\n"
    assert "use-after-poison" in done.stderr
