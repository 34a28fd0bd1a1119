"""Whether the core is ours alone.

Two processors that two systems see can be one core (simultaneous multithreading; Tullsen, Eggers, Levy, 1995), as on
machines that are rented. What one waits for takes as long as ever then, what keeps the units busy up to twice as long:
programs that compute lose more than those that wait for memory, so it does not cancel in their ratio. On one machine
of this kind it came and went within tenths of seconds.
"""

from __future__ import annotations

import time

import numpy as np

ELEMENTS = 1536  # doubles: operand and result fill most of the innermost cache
CALLS = 25
OURS = 1.2  # times the least; 1.02 where nobody else computes, 1.4 to 2 where somebody does


class Core:
    """Knows how long some work takes that keeps the units for floating-point numbers busy."""

    def __init__(self) -> None:
        self._operand = np.ones(ELEMENTS)
        self._result = np.empty(ELEMENTS)
        self._least = float("inf")

    def work(self) -> float:
        """Seconds of it now."""
        self._multiply(CALLS // 5)  # fetches the operand
        start = time.perf_counter()
        self._multiply(CALLS)
        taken = time.perf_counter() - start
        self._least = min(self._least, taken)
        return taken

    def was_ours(self, taken: float) -> bool:
        """Whether the work that took so long had the core for itself, by all that is known now."""
        return taken < OURS * self._least

    def _multiply(self, calls: int) -> None:
        multiply, operand, result = np.multiply, self._operand, self._result
        for _ in range(calls):
            multiply(operand, operand, result)
