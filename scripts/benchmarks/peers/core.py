"""Whether the core is used by this process alone.

Two processors of two virtual machines can share one core (simultaneous multithreading; Tullsen, Eggers, Levy, 1995), as
on rented machines. Then work that waits for memory takes as long as before, and work that keeps the units busy up to
twice as long, so the effect does not cancel in the ratio of two programs. Such sharing comes and goes within tenths of
seconds.
"""

from __future__ import annotations

import time

import numpy as np

ELEMENTS = 1536  # doubles: operand and result fill most of the innermost cache
CALLS = 25
OURS = 1.2  # factor over the minimum; 1.02 if no other program computes, 1.4 to 2 if one does


class Core:
    """Knows how long a piece of work takes that keeps the floating point units busy."""

    def __init__(self) -> None:
        self._operand = np.ones(ELEMENTS)
        self._result = np.empty(ELEMENTS)
        self._least = float("inf")

    def work(self) -> float:
        """Seconds that the work takes now."""
        self._multiply(CALLS // 5)  # loads the operand into the cache
        start = time.perf_counter()
        self._multiply(CALLS)
        taken = time.perf_counter() - start
        self._least = min(self._least, taken)
        return taken

    def was_ours(self, taken: float) -> bool:
        """Whether work of this duration had the core for itself, according to all measurements so far."""
        return taken < OURS * self._least

    def _multiply(self, calls: int) -> None:
        multiply, operand, result = np.multiply, self._operand, self._result
        for _ in range(calls):
            multiply(operand, operand, result)
