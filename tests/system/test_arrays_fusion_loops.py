"""Array operations in loops run as fusion groups, interpreted and in machine code.

Results, warnings and what frames show are those of eager execution.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import tagalong
import tagalong.testing
from chains_support import both, check, compare_program
from tagalong import _core

# Counts rounds, and links traces, from the first round on.
SETTINGS: dict[str, dict[str, int]] = {
    "interpreted": {"native_after": 0, "grow_after": 0},
    "grown": {"native_after": 0, "grow_after": 2},
    "native": {"native_after": 1, "grow_after": 0},
    "grown and native": {"native_after": 1, "grow_after": 2},
}


@pytest.fixture(autouse=True, params=SETTINGS.values(), ids=SETTINGS)
def with_fusion(request: pytest.FixtureRequest) -> None:
    for name, value in {"fusion": 2, "loops": 1, "heat": 2, **request.param}.items():
        _core.set_option(name, value)


def lines() -> list[Any]:
    return [np.linspace(-0.1, 0.1, 50), np.linspace(0, 0.2, 50), 30]


def plate() -> list[Any]:
    return [np.arange(400.0).reshape(20, 20) % 7, 0.1, 30]


PROGRAMS: dict[str, tuple[str, Callable[[], list[Any]]]] = {
    "values that go round": (
        """
        def f(z, c, n):
            for i in range(n):
                z = z * z + c
                z = z - c * 0.5
            return z
        """,
        lines,
    ),
    "in place": (
        """
        def f(z, c, n):
            for i in range(n):
                z *= c
                z += c
                z -= 1.0
            return z
        """,
        lines,
    ),
    "stencil": (
        """
        def f(u, k, n):
            for i in range(n):
                u[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (
                    u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
            return u
        """,
        plate,
    ),
    "two plates": (
        """
        def f(u, k, n):
            v = np.zeros_like(u)
            for i in range(n):
                v[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (
                    u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
                u, v = v, u
            return u, v
        """,
        plate,
    ),
    "numbers between arrays": (
        """
        def f(z, c, n):
            t = 0.0
            k = 1
            for i in range(n):
                z = z * c + i
                t = t + 0.5 * i
                k = k * 3 % 1000 + i // 2 - (-i)
                z = z / (t + 1.0) - t * 2
                z = z[k % 3:] - z[:z.shape[0] - k % 3] + i * 3
                z = np.append(z, z[:50 - z.shape[0]])
            return z, t, k
        """,
        lines,
    ),
    "functions": (
        """
        def f(z, c, n):
            for i in range(n):
                z = np.sin(z) * np.cos(c) + np.exp(-z)
                m = np.where(z > c, z, c).sum()
                z = z / m
            return z, m
        """,
        lines,
    ),
    "calls": (
        """
        def g(x, y):
            t = x * y
            return t + x
        def f(z, c, n):
            for i in range(n):
                z = g(z, c) - g(c, z) * 0.1
            return z
        """,
        lines,
    ),
    "while": (
        """
        def f(z, c, n):
            k = 0
            while k < n:
                z = z * c + k
                z = (z + 1) * (k * 0.1) - c
                k += 1
            return z
        """,
        lines,
    ),
    "two loops": (
        """
        def f(z, c, n):
            for i in range(n // 5):
                for j in range(4):
                    z = z * c + j
                z = z - c * i
            return z
        """,
        lines,
    ),
    "branches": (
        """
        def f(z, c, n):
            for i in range(n):
                if i & 1:
                    z = z * c + i
                else:
                    z = z - c * 0.25
                z = z * 0.5 + 1
            return z
        """,
        lines,
    ),
}


def dedented(source: str) -> str:
    return "\n".join(line[8:] for line in source.splitlines())


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops(name: str) -> None:
    source, make = PROGRAMS[name]
    eager, traced = both(dedented(source))
    with tagalong.testing.events() as first:
        check(eager, traced, make)
    assert first[0] == "record", first
    for _ in range(8):
        check(eager, traced, make, {"all": "ignore"})
    runs = _core.counter("groups_run")
    with tagalong.testing.events() as events:
        check(eager, traced, make, {"all": "ignore"})
    if name in {"two loops", "branches"}:
        assert events[0] == "hit" and set(events) <= {"hit", "exit", "stitch", "grow"}, events
    else:
        grown = _core.options()["grow_after"] != 0
        assert events == (["hit"] if grown else ["hit", "stitch", "exit", "stitch"]), events
    # at least one fusion group in each round
    rounds = {"two loops": 24}.get(name, 30)
    assert _core.counter("groups_run") - runs >= rounds, tagalong.explain(traced)


def test_numbers_that_overflow() -> None:
    """An int that exceeds 64 bits takes the side exit in front of its instruction, as without arrays."""
    source = """
        def f(z, c, n):
            k = 3
            for i in range(n):
                z = z * c
                k = k * 5
                z = z + 1.0
            return z, k
        """
    eager, traced = both(dedented(source))
    for _ in range(6):
        check(eager, traced, lines)


def test_numbers_that_raise() -> None:
    source = """
        def f(z, c, n, d):
            t = 1.0
            for i in range(n):
                z = z * c
                t = t / (d - i)
                z = z + t
            return z, t
        """
    eager, traced = both(dedented(source))
    for divisor in (100.5, 100.5, 100.5, 20.0, 20.0, 7.0):
        check(eager, traced, lambda divisor=divisor: [*lines(), divisor])


def test_errors_are_reported_where_they_happen() -> None:
    source = """
        def f(z, c, n):
            for i in range(n):
                z = z * c
                z = z / (c - 0.2) + i
            return z
        """
    eager, traced = both(dedented(source))
    for errors in ("ignore", "ignore", "ignore", "warn", "raise", "call", "ignore"):
        check(eager, traced, lines, {"all": errors})


def test_what_frames_show() -> None:
    """A callee that looks at its caller's variables finds those of the current round."""
    seen: list[Any] = []

    def look() -> None:
        names = sys._getframe(1).f_locals
        seen.append((names["i"], names["t"], names["z"].tobytes(), names["u"].tobytes()))

    source = """
        def f(z, c, n):
            t = 0.0
            for i in range(n):
                u = z * c
                t = t + 0.5
                z = u - t * c
                if i % 7 == 6:
                    look()
            return z
        """
    eager, traced = both(dedented(source), look=look)
    for _ in range(6):
        check(eager, traced, lines)
        half = len(seen) // 2
        assert seen[:half] == seen[half:]
        seen.clear()


def test_names_that_are_rebound_meanwhile() -> None:
    source = """
        def f(z, c, n):
            global k
            for i in range(n):
                z = z * c + k
                z = z - k
                if i == 20:
                    k = 3
            k = 2
            return z
        """
    eager, traced = both(dedented(source), k=2)
    for _ in range(6):
        check(eager, traced, lines)


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int) -> None:
    random = Random(f"loops {seed}")
    before = _core.counter("groups_run")
    for _ in range(12):
        compare_program(random, 8, loops=True)
    assert _core.counter("groups_run") - before > 50
