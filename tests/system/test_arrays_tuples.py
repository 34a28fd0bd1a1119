"""Functions with several results: they are one fusion group, including the tuple.

Values that only local variables hold are not in memory.
"""

from __future__ import annotations

import gc
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from arrays_support import ERRSTATES, described
from chains_support import both, check
from tagalong import _core

WARM_UP = 6
CONSTANT = 2.5


@pytest.fixture(autouse=True)
def fusion() -> None:
    _core.set_option("fusion", 2)
    _core.set_option("retire_after", 0)


def arrays(size: int = 7) -> list[np.ndarray]:
    return [np.linspace(1.0, 2.0, size), np.linspace(2.0, 3.0, size)]


WHOLE = (
    "a = x * y\n    b = a + x\n    return a, b",
    "a = x * y\n    b = a + x\n    return b, b",
    "a = x * y\n    b = a + x\n    return b, x",
    "a = x * y\n    b = a + x\n    return x, y, b, x",
    "a = x * y\n    b = a + x\n    return (b,)",
    "a = x * y\n    b = a + x\n    r = b, a\n    return r",
    "return x * y - x, x * y + x, y - x * 2.0",
    "a = x * y - x\n    return a, 1, None, 'text', (1, 2)",
    "a = x * y - x\n    return a, np.pi, CONSTANT, np",
    "t = n + 1\n    u = s * 2.0\n    return x * t - y * u, t, u, n, s, t * u",
    "a = x * y - x\n    return a.sum(), a, a.max()",
    "y += x * 2.0 - x\n    return y, x * y",
    "a = x * y - x\n    x = None\n    return a, x",
    "a = np.where(x < y, x, y) * 2.0\n    b = np.clip(a, 1.0, 3.0) - x\n    return b, a < b",
)
OTHERWISE = (
    "a = x * y - x\n    return a, (a + y, 1)",
    "a = x * y - x\n    return [a, a + y]",
    "a = x * y - x\n    return a[1:], a + y",
    "a = x * y - x\n    return a, x[1:]",
    "a = x * y - x\n    return a, a.shape",
    "a = x * y - x\n    return a, np.argsort(a * 2.0)",
    "a = x * y - x\n    return a, (lambda: a)()",
    "a = x * y - x\n    return a, locals()",
    "a = x * y - x\n    return a, sorted(vars())",
    "a = x * y - x\n    return ()",
    "e = np.exp(x - np.max(x))\n    return e / np.sum(e), e, x * 2.0 - y",
    "d = x - x.mean()\n    return (d * d).mean(), d / 3.0",
    "a, b = x * y - x, x + y * 2.0\n    return a * b, b - a",
    "a, b = g(x, y)\n    return a * b, b - a",
    "for i in range(3):\n        x, y = x * y - y, x + y * 2.0\n    return x, y",
    "try:\n        return x * y - x, x / y\n    finally:\n        x = y",
)


def function(body: str) -> tuple[Any, Any]:
    source = f"def g(x, y):\n    a = x * y\n    return a + y, a - x\ndef f(x, y, n, s):\n    {body}\n"
    return both(source, CONSTANT=CONSTANT)


@pytest.mark.parametrize("body", [*WHOLE, *OTHERWISE])
@pytest.mark.parametrize("errstate", ERRSTATES, ids=str)
def test_returned_together(body: str, errstate: dict[str, Any]) -> None:
    eager, traced = function(body)
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [*arrays(), 3, 1.5], errstate)
    for size in (10, 1000, 3000, 1):
        before = _core.counter("whole_groups")
        check(eager, traced, lambda size=size: [*arrays(size), 3, 1.5], errstate)
        may_differ = body not in WHOLE or (size == 1 and "+=" in body)
        assert _core.counter("whole_groups") > before or may_differ, tagalong.explain(traced)
    others: list[list[Any]] = [
        [np.full(5, -1.0), np.zeros(5)],
        [np.full(5, 1e300), np.full(5, 1e300)],
        [np.full(5, np.nan), np.ones(5)],
        [np.ones((2, 3)), np.ones(3)],
        [np.ones((2, 3)).T, np.ones((3, 2))],
        [np.ones(5, "f4"), np.ones(5)],
        [np.arange(5), np.arange(5)],
        [np.ones(5), 3.0],
        [np.ones(5)[::2], np.ones(6)[::-2]],
        [np.ones(0), np.ones(0)],
    ]
    for other in [*others, *others]:
        for n, s in ((3, 1.5), (True, 1), (3.5, None)):
            check(
                eager,
                traced,
                lambda other=other, n=n, s=s: [*(v.copy() if hasattr(v, "copy") else v for v in other), n, s],
                errstate,
            )


def kilobytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not tell")
def test_hidden_values_have_no_memory() -> None:
    size = 4_000_000
    eager, traced = both(
        "def f(x, y):\n    a = x * y\n    b = a + x\n    c = b < y\n    return np.where(c, a, b), a - b\n"
    )
    for _ in range(WARM_UP):
        check(eager, traced, arrays)
    operands = arrays(size)
    before = kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    traced(*operands)
    assert kilobytes("VmHWM") - before < 2 * 8 * size // 1000 + 10_000


def test_references() -> None:
    eager, traced = both("def f(x, y):\n    a = x * y - y\n    return a, a + y, x, 12345678\n")
    operands = arrays()
    for _ in range(WARM_UP):
        check(eager, traced, lambda: operands)
    counts = [sys.getrefcount(operand) for operand in operands]
    whole = _core.counter("whole_groups")
    for _ in range(100):
        mine, expected = traced(*operands), eager(*operands)
        assert gc.is_tracked(mine) == gc.is_tracked(expected)
        assert [sys.getrefcount(one) for one in mine[:3]] == [sys.getrefcount(one) for one in expected[:3]]
        assert any(one is mine for one in gc.get_objects(generation=0))
    del mine, expected
    assert _core.counter("whole_groups") == whole + 100
    assert [sys.getrefcount(operand) for operand in operands] == counts


def test_collections() -> None:
    """A callback of a collection that the tuple triggers runs in the function's frame."""
    more = ", ".join(map(str, range(30)))  # so that no old tuple can be used again
    source = f"def f(x, y):\n    a = x * y - y\n    b = a + x\n    return a - b, b, {more}\n"
    eager, traced = both(source)
    for _ in range(WARM_UP):
        check(eager, traced, arrays)
    seen: dict[Any, set[int]] = {eager: set(), traced: set()}
    running = eager

    def look(phase: str, _: dict[str, int]) -> None:
        caller = sys._getframe(1)
        if caller.f_code.co_name == "f" and phase == "start":
            seen[running].add(caller.f_lineno)

    x, y = arrays()
    expected = eager(x, y)
    before = gc.get_threshold()
    kept: list[Any] = []
    gc.callbacks.append(look)
    try:
        gc.set_threshold(1)
        for running in (eager, traced):
            for _ in range(50):
                kept.append(running(x, y))
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(look)
    for found in kept:
        assert [described(one) for one in found] == [described(one) for one in expected]
    assert seen[traced] == seen[eager] == {4}


def test_names_rebound_by_other_threads() -> None:
    """While the fusion group computes without the GIL: a value of a name lives until the tuple has it."""
    space: dict[str, Any] = {"VALUE": object()}
    eager, traced = both("def f(x, y):\n    a = x * y - y\n    return a + x, VALUE\n", **space)
    operands = arrays(200_000)
    before = _core.counter("whole_groups")
    for _ in range(WARM_UP):
        check(eager, traced, lambda: operands)
    assert _core.counter("whole_groups") > before, tagalong.explain(traced)
    names = traced.__globals__
    is_over = threading.Event()

    def bind() -> None:
        while not is_over.is_set():
            names["VALUE"] = [object()]

    thread = threading.Thread(target=bind)
    thread.start()
    try:
        for _ in range(300):
            _, value = traced(*operands)
            assert type(value) is list or type(value) is object
            assert type(value) is object or type(value[0]) is object
    finally:
        is_over.set()
        thread.join()


PAIRS = {
    "first used": "s = y + 1\n    return x * s, s",
    "reversed": "s = y + 1\n    return s, x * s",
    "copy": "s = y.copy()\n    return x - s, s",
    "three": "s = y * 2\n    t = s - 1\n    return x * s, t, s",
    "twice": "s = y + 1\n    return s, x * s, s",
    "parameters": "return y, x * y - y, x",
    "nested": "s = y + 1\n    t = (x * s, s)\n    return t",
    "reduced": "s = x.std(axis=0) + 1e-6\n    return x / s, s",
}
USES = {
    "of all": "r = w - p[0] * p[-1]",
    "of the last": "r = w + p[-1]",
    "none": "r = w",
    "unpacked": "*r, s = p\n        r = r[0] - s",
    "swapped": "r, s = p[1], p[0]\n        r = r * s",
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
@pytest.mark.parametrize("shape", [(8,), (8, 1), (8, 8), ()], ids=str)
def test_results_of_inlined_functions_with_several_shapes(
    pair: str, use: str, shape: tuple[int, ...]
) -> None:
    """An operand of a group may come back from a tuple into the variable that it had, and is seen at side exits."""
    count = pair.splitlines()[-1].count(",") + 1 if "t = (" not in pair else 2
    names = ", ".join(f"p{i}" for i in range(count))
    source = (
        f"def g(x, y):\n    {pair}\n"
        "def f(w, v, n):\n    seen = []\n    for it in range(n):\n"
        f"        {names} = g(w, v)\n        r = w - p0 * p{count - 1}\n"
        f"        p = ({names})\n        {use}\n"
        f"        if it % 9 == 5:\n            seen.append((r, {names}))\n"
        f"    return seen, {names}, r\n"
    )
    eager, traced = both(source)
    w = np.linspace(1.0, 2.0, 64).reshape(8, 8)
    v = np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)
    for _ in range(4):
        check(eager, traced, lambda: [w.copy(), v.copy(), 40])
    single = source.replace("for it in range(n):", "for it in (n,):")
    eager, traced = both(single)
    for it in (1, 1, 1, 1, 5, 5, 1, 5):
        check(eager, traced, lambda it=it: [w.copy(), v.copy(), it])
    assert tagalong.stats(traced).hits > 0
