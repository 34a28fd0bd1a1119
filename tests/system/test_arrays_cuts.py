"""Fusion groups end where an operation reads what they have written, and where they are full. Both parts are groups."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from random import Random
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tagalong
from chains_support import FusionRuns, both, check, groups_run
from tagalong import _core

WARM_UP = 3


@pytest.fixture(autouse=True)
def fusion() -> None:
    """Enables the engine's option, which is off."""
    FusionRuns.begin()


def line(*shape: int) -> np.ndarray:
    return np.linspace(1, 2, int(np.prod(shape))).reshape(shape)


def groups_of_a_call(body: str, make: Callable[[], list[Any]]) -> int:
    """Compares some calls with eager execution; the groups that a later call runs."""
    eager, traced = both(f"def f(a, b):\n    {body}\n")
    for _ in range(WARM_UP):
        check(eager, traced, make)
    before = groups_run()
    check(eager, traced, make)
    assert tagalong.stats(traced).hits >= 1
    return groups_run() - before


# body, number of fusion groups
OVERLAPS: dict[str, tuple[str, int]] = {
    "two stencils in turn": (
        "b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) * 0.5\n    a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) * 0.5",
        2,
    ),
    "three times": (
        "b[1:-1] = (a[:-2] + a[2:]) * 0.5\n    a[1:-1] = (b[:-2] + b[2:]) * 0.5\n"
        "    b[1:-1] = (a[:-2] + a[2:]) * 0.25",
        3,
    ),
    "every other element": ("a[::2] = b[::2] * 2.0 + 1.0\n    b[::2] = a[1::2] * 3.0 - 1.0", 1),
    "halves": ("a[:30] = b[:30] * 2.0 + 1.0\n    b[30:] = a[30:] * 3.0 - b[:30]", 1),
    "red and black": (
        "a[1:-1:2] = (a[:-2:2] + a[2::2]) * 0.5\n    a[2:-1:2] = (a[1:-2:2] + a[3::2]) * 0.5",
        2,
    ),
    "written, then read": ("a[1:-1] = b[1:-1] * 2.0 + b[2:]\n    b[1:-1] = a[1:-1] * 3.0 - b[:-2]", 1),
    "written twice": ("a[1:-1] = b[1:-1] * 2.0 + b[2:]\n    a[1:-1] = a[1:-1] * 3.0 - b[:-2]", 1),
    "read, written, read": (
        "t = a[1:-1] * b[:-2] + 1.0\n    a[1:-1] = t * t - b[2:]\n    b[1:-1] = a[1:-1] * t + t\n    return t",
        1,
    ),
    "in place": ("a[1:-1] += b[1:-1] * 2.0 - b[2:]\n    b[1:-1] *= a[1:-1] + 1.0", 1),
    "moved to a part": ("a[1:-1] += b[1:-1] * 2.0\n    b[1:-1] = a[1:-1]", 1),
    "the whole array": ("a += b * 2.0 + 1.0\n    b[1:] = a[1:] * 2.0 + a[:-1]", 2),
    "a part, then the whole array": ("a[1:] = b[1:] * 2.0 + 1.0\n    b += a * 2.0 - 1.0", 2),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_overlaps(name: str) -> None:
    body, groups = OVERLAPS[name]
    assert groups_of_a_call(body, lambda: [line(60), line(60) + 1]) == groups
    assert groups_of_a_call(body, lambda: [line(20_000)[:60], line(120)[::-2]]) == groups


COLUMNS: dict[str, tuple[str, int]] = {
    "beside each other": ("a[:, 1] = a[:, 0] * 2.0 + b[:, 0]\n    a[:, 3] = a[:, 2] * a[:, 1] - 1.0", 1),
    "one after another": (
        "for i in range(1, 4):\n        a[1:-1, i] = -1.0 / (b[1:-1, i] * a[1:-1, i - 1] + 2.0)",
        1,
    ),
    "downwards": (
        "for i in range(1, 4):\n"
        "        c = b[:, i] * 0.5 + 1.0\n"
        "        a[:, i] = c * a[:, i]\n"
        "        d = 1.0 / (c - a[:, i - 1] * c)\n"
        "        a[:, i] = a[:, i] * d\n"
        "        b[:, i] = (b[:, i] - b[:, i - 1] * c) * d",
        1,
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_beside_each_other(name: str) -> None:
    body, groups = COLUMNS[name]
    assert groups_of_a_call(body, lambda: [line(30, 4), line(30, 4) + 1]) == groups
    assert groups_of_a_call(body, lambda: [line(30, 4).T.copy().T, line(30, 4)[::-1, ::-1]]) == groups


def test_arrays_that_overlap_later_or_no_longer() -> None:
    """The longer plan does not fit where they overlap; the shorter one always does."""
    eager, traced = both("def f(a, b, c):\n    a[:] = b * 2.0 + c\n    c *= b + 1.0\n    return c * b\n")
    memory = line(100)

    def apart() -> list[Any]:
        return [memory[:20].copy(), line(20), line(20) + 1]

    def overlapping() -> list[Any]:
        moved = memory.copy()
        return [moved[:20], line(20), moved[10:30]]

    def interleaved() -> list[Any]:
        moved = memory.copy()
        return [moved[:40:2], line(20), moved[1:41:2]]

    for make in (apart, overlapping, interleaved, apart, overlapping) * 2:
        for _ in range(WARM_UP):
            check(eager, traced, make)
        before = groups_run()
        check(eager, traced, make)
        assert groups_run() - before in {(2 if make is overlapping else 1), 2}, make.__name__


def test_the_end_of_a_group_is_explained() -> None:
    eager, traced = both("def f(a, b):\n    b[1:] = a[:-1] * 2.0 + a[1:]\n    a[1:] = b[:-1] * 2.0 + b[1:]\n")
    for _ in range(WARM_UP):
        check(eager, traced, lambda: [line(60), line(60)])
    assert "then: an array that is written overlaps" in tagalong.explain(traced)


@pytest.mark.parametrize("errstate", ["ignore", "warn", "call", "raise"])
def test_errors_in_the_second_part(errstate: str) -> None:
    """What the first part has written stays."""
    eager, traced = both(
        "def f(a, b):\n    b[1:-1] = a[2:] * 2.0 + a[:-2]\n    a[1:-1] = 1.0 / (b[2:] - b[:-2])\n"
    )
    for first in (1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0):
        make = lambda first=first: [line(30) * first, line(30) * first]  # noqa: E731
        check(eager, traced, make, {"all": errstate})


PARTS_OF_A_ROW = (
    "[:9]",
    "[9:18]",
    "[18:]",
    "[::3]",
    "[1::3]",
    "[2::3]",
    "[1:10]",
    "[8::-1]",
    "[26:17:-1]",
    "[3:21:2]",
)
PARTS_OF_A_MATRIX = ("[:, 0]", "[:, 1]", "[:, 2]", "[0]", "[i]", "[:, i]", "[::-1, 1]", "[2, ::-1]", "[-1]")


def statements(random: Random, count: int, parts: tuple[str, ...]) -> list[str]:
    """Random statements that read and write parts and whole arrays, some of them in a loop."""
    lines = []
    names = ["x", "y"]

    def operand() -> str:
        if random.random() < 0.3:
            return random.choice(names)
        return random.choice(("a", "b")) + random.choice(parts)

    def expression() -> str:
        text = operand()
        for _ in range(random.randint(1, 3)):
            other = operand() if random.random() < 0.8 else "0.5"
            text = f"({text} {random.choice('+-*')} {other})"
        return text

    for number in range(count):
        kind = random.random()
        if kind < 0.35:
            lines.append(f"t{number} = {expression()}")
            names.append(f"t{number}")
        else:
            sign = random.choice(("=", "=", "=", "+=", "*=", "-="))
            lines.append(f"{random.choice(('a', 'b'))}{random.choice(parts)} {sign} {expression()}")
    return lines


@pytest.mark.parametrize("seed", range(40))
def test_random_statements(seed: int) -> None:
    random = Random(f"cuts {seed}")
    is_matrix = seed % 2 == 1
    is_loop = seed % 4 > 1
    for _ in range(6):
        body = statements(random, random.randint(2, 9), PARTS_OF_A_MATRIX if is_matrix else PARTS_OF_A_ROW)
        names = [text.split(" = ")[0] for text in body if text.startswith("t")]
        indent = " " * (8 if is_loop else 4)
        source = "\n".join(
            [
                "def f(a, b, x, y):",
                "    i = 2",
                *(["    for i in range(3):"] if is_loop else []),
                *(indent + text for text in body),
                f"    return {', '.join(['x', *random.sample(names, len(names) // 2)])}",
                "",
            ]
        )
        eager, traced = both(source)
        for call in range(6):
            shape = (9, 9) if is_matrix else (27,)
            values = np.random.default_rng(call)
            given = [
                values.normal(size=shape),
                values.normal(size=shape),
                values.normal(size=9),
                values.normal(size=9),
            ]
            if call == 4:
                given[1] = given[0][::-1]  # one array is the other one
            check(eager, traced, lambda given=given: copies(given), {"all": "ignore"})
    assert groups_run() > 10


def copies(given: list[np.ndarray]) -> list[np.ndarray]:
    """Copies of the arrays, of which the second one stays a view of the first one."""
    copied = [one.copy() for one in given]
    if given[1].base is not None:
        copied[1] = copied[0][::-1]
    return copied


def chain(random: Random, operations: int, living: int) -> str:
    """A function with so many operations and named temporaries, all of which are used at the end."""
    lines = ["def f(x, y, n):"]
    done = 0
    names: list[str] = []
    while done < operations - living or len(names) < living:
        name = f"v{len(names) % living}"
        one = random.choice(names) if names else "x"
        other = random.choice((*names[-3:], "x", "y", "n", "1.5"))
        sign = random.choice("+-" if other in names else "+-*")  # without squares, so that nothing overflows
        lines.append(f"    {name} = {one} {sign} {other} * y - x * {len(names) % 7}.25")
        names.append(name)
        done += 4
    alive = [f"v{number}" for number in range(living)]
    lines.append(f"    return {' + '.join(alive)}, {alive[-1]}")
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("operations", [1, 20, 60, 120, 160, 400, 1200])
@pytest.mark.parametrize("living", [1, 7, 9, 40, 150])
def test_many_temporaries(operations: int, living: int) -> None:
    eager, traced = both(chain(Random(f"{operations} {living}"), operations, living))
    for size in (8, 8, 8, 8, 3000, 3000, 40_000):
        check(eager, traced, lambda size=size: [line(size), line(size) - 1, 0.5], {"all": "ignore"})
        check(eager, traced, lambda: [line(4, 50).T, line(50, 4), 0.5], {"all": "ignore"})
    before = groups_run()
    check(eager, traced, lambda: [line(8), line(8) - 1, 0.5], {"all": "ignore"})
    groups = groups_run() - before
    count = max(operations, 4 * living) + living
    assert 1 <= groups <= 1 + count // 50, groups
    text = tagalong.explain(traced)
    assert ("then: a fusion group holds no more operations" in text) == (count > 400)


def test_few_groups_are_planned_where_a_long_one_is_refused() -> None:
    """Not one at each operation of the group: planning would take much longer than the operations."""
    lines = [f"    r = (r + y) * x - {number}.5" for number in range(100)]
    eager, traced = both("\n".join(["def f(x, y):", "    r = y / x", *lines, "    return r", ""]))
    most = 0
    for _ in range(12):
        before = _core.counter("groups_planned")
        check(eager, traced, lambda: [line(50) * 0.0, line(50)], {"all": "call"})
        most = max(most, _core.counter("groups_planned") - before)
    assert 0 < most < 30, most
    before = groups_run()
    check(eager, traced, lambda: [line(50), line(50)], {"all": "ignore"})
    assert groups_run() > before


def mixed_chain(random: Random, operations: int, living: int) -> str:
    """As `chain`, with functions between the operations, some of which have no vector code."""
    lines = ["def f(x, y):"]
    names = ["x", "y"]
    for number in range(operations):
        one, other = (random.choice(names[-living:]) for _ in range(2))
        lines.append(
            f"    v{number} = "
            + random.choice(
                (
                    f"{one} {random.choice('+-')} {other}",
                    f"{one} * 0.5",
                    f"np.arctan2({one}, {other}) + y",
                    f"np.where({one} > {other}, {one}, y)",
                    f"np.minimum({one}, {other}) - x",
                    f"np.sqrt(np.abs({one}))",
                    f"np.sin({one})",
                    f"({one} > x) & ({other} < y)" if number % 7 == 0 else f"np.floor({one}) + {other}",
                )
            )
        )
        if " & " in lines[-1]:
            lines[-1] = lines[-1].replace("= (", "= np.where((") + f", {one}, 1.0)"
        names.append(f"v{number}")
    alive = random.sample(names[-living:], min(living, 12))
    lines.append(f"    return {', '.join(alive)}")
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("seed", range(12))
def test_kernels_and_loops_share_blocks(seed: int) -> None:
    """No block is written while a later kernel, or a later operation, still reads it."""
    random = Random(f"blocks {seed}")
    living = random.choice((3, 8, 20, 60))
    eager, traced = both(mixed_chain(random, random.choice((12, 40, 100, 250)), living))
    for size in (5, 5, 5, 70, 1500, 9000):
        for special in (None, None, np.nan, np.inf, None):
            values = [line(size) - 1.5, line(size)[::-1] * 0.3]
            if special is not None:
                values[0][random.randrange(size)] = special
            check(eager, traced, lambda values=values: values, {"all": "ignore"})
        check(eager, traced, lambda: [line(40, 9).T - 1.5, line(9, 40)], {"all": "ignore"})
    assert groups_run() > 4


@pytest.mark.parametrize("living", [5, 30, 100])
def test_names_that_a_loop_leaves(living: int) -> None:
    """Results stay visible after the loop, however many there are."""
    lines = [f"        v{number} = x * {number}.5 - v{number - 1} * i" for number in range(1, living)]
    source = "\n".join(
        [
            "def f(x, y):",
            "    for i in range(40):",
            "        v0 = x + y * i",
            *lines,
            f"    return {', '.join(f'v{number}' for number in range(0, living, 3))}",
            "",
        ]
    )
    eager, traced = both(source)
    for _ in range(4):
        check(eager, traced, lambda: [line(30), line(30)])
    before = groups_run()
    check(eager, traced, lambda: [line(30), line(30)])
    assert groups_run() - before >= 30


@pytest.mark.parametrize("count", [20, 30, 70, 200])
def test_many_operands_and_numbers(count: int) -> None:
    """Arrays, numbers and names beyond what one group can have."""
    names = {f"g{number}": float(number) for number in range(count)}
    lines = [f"    r = r * g{number} + n[{number}] - (k + {number}) * m[{number}]" for number in range(count)]
    source = "\n".join(["def f(x, n, m, k):", "    r = x + 1.0", *lines, "    return r", ""])
    eager, traced = both(source, **names)
    for _ in range(5):
        make = lambda: [line(20), [line(20) + number for number in range(count)], [0.5] * count, 2]  # noqa: E731
        check(eager, traced, make)
    before = groups_run()
    check(eager, traced, make)
    assert groups_run() > before
    assert _core.counter("groups_run") > 0


# A call of a Python function behind C code makes the frame of `g` real.
ACROSS_RETURNS: dict[str, tuple[str, int]] = {
    "a real frame": (
        "def g(a, b):\n    m = np.median(a)\n    t = a * m + b\n    return t - a\n"
        "def f(a, b):\n    x = g(a, b) * 2.0 + 1.0\n    return x - b\n",
        1,
    ),
    "two real frames": (
        "def h(a, b):\n    m = np.median(a)\n    return a * m + b\n"
        "def g(a, b):\n    t = h(a, b) * 0.5\n    return t - a\n"
        "def f(a, b):\n    x = g(a, b) * 2.0 + 1.0\n    return x - b\n",
        1,
    ),
    "in a loop": (
        "def g(a, b):\n    m = np.median(a)\n    t = a * m + b\n    return t - a\n"
        "def f(a, b):\n    for _ in range(3):\n        b = g(a, b) * 0.5 + 1.0\n    return b\n",
        3,
    ),
    "an object that has one other reference": (
        "def g(a, b):\n    model = models[0]\n    t = a * model.rate + b\n    return t - a\n"
        "def f(a, b):\n    x = g(a, b) * 2.0 + 1.0\n    return x - b\n",
        1,
    ),
    "a list of arrays that ends": (
        "def g(a, b):\n    parts = [a, b]\n    t = parts[0] * 2.0 + parts[1]\n    return t - a\n"
        "def f(a, b):\n    x = g(a, b) * 2.0 + 1.0\n    return x - b\n",
        1,
    ),
}


class Model:
    rate = 0.5


@pytest.mark.parametrize("name", ACROSS_RETURNS)
def test_groups_go_on_behind_the_return_of_a_function(name: str) -> None:
    source, groups = ACROSS_RETURNS[name]
    eager, traced = both(source, models=[Model()])
    for size in (60, 3000):
        for _ in range(WARM_UP):
            check(eager, traced, lambda size=size: [line(size), line(size) + 1])
    before = groups_run()
    check(eager, traced, lambda: [line(60), line(60) + 1])
    assert groups_run() - before == groups
    assert tagalong.stats(traced).hits >= 1


SEEN_ENDS: dict[str, str] = {
    "a finaliser": "n = Noisy(log)",
    "an item of a list": "n = [1, Noisy(log)]",
    "two lists with one object": "o = Noisy(log)\n    n = [[o], [o], (o, o)]\n    o = None",
    "a bound method": "n = Noisy(log).see",
    "a frame": "log.append(sys._getframe())\n    n = 1",
    "a weak reference": "n = a * 1.0\n    refs.append(weakref.ref(n, lambda _: log.append(sys._getframe(1).f_lineno)))",
}


class Noisy:
    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def see(self) -> None:
        pass

    def __del__(self) -> None:
        frame = sys._getframe(1)
        self.log.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))


@pytest.mark.parametrize("name", SEEN_ENDS)
@pytest.mark.parametrize("opaque", ["", "    m = np.median(a)\n"])
def test_the_end_of_what_a_returning_frame_holds(name: str, opaque: str) -> None:
    source = (
        f"def g(a, b):\n    {SEEN_ENDS[name]}\n{opaque}    t = a * 2.0 + b\n    t = t - a\n    return t * 3.0\n"
        "def f(a, b):\n    x = g(a, b) * 2.0 + 1.0\n    return x - b\n"
    )
    logs: list[list[Any]] = [[], []]
    names = [{"log": log, "refs": [], "Noisy": Noisy, "sys": sys, "weakref": weakref} for log in logs]
    eager, traced = both(source, **names[0])[0], both(source, **names[1])[1]
    for _ in range(3 * WARM_UP):
        results = [function(line(60), line(60) + 1) for function in (eager, traced)]
        assert results[0].tobytes() == results[1].tobytes()
        seen = [[described_end(each) for each in log] for log in logs]
        assert seen[0] == seen[1]


def described_end(seen: Any) -> Any:
    """Of a frame: its line and its variables."""
    if not isinstance(seen, FrameType):
        return ("f", *seen[1:]) if isinstance(seen, tuple) and seen[0] == "eager" else seen
    values = {name: value.tobytes() for name, value in seen.f_locals.items() if isinstance(value, np.ndarray)}
    return seen.f_lineno, values


def test_explain_says_what_ends_a_group() -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        x = a * 2.0 + b
        c.rate = np.cumsum(x)
        y = x * 3.0 - b
        for each in [y, y + 1.0]:
            y = y + each * 0.5
        return y

    traced = tagalong.trace(f)
    for _ in range(WARM_UP + 2):
        traced(line(50), line(50), Model())
    text = tagalong.explain(traced)
    first = f.__code__.co_firstlineno
    assert f"line {first + 2}: a call of `cumsum` follows" in text
    assert f"line {first + 4}: the beginning of a loop follows" in text


# Each saves one new array for each target.
IN_PLACE: dict[str, str] = {
    "a part of two axes": "a[2:, 1:] -= b[2:, :1] * a[1, 1:]",
    "two parts": "a[:, 1:] += b[:, :-1] * 0.5\n    a[:, :-1] += b[:, 1:] * 0.5",
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_groups_that_write_small_parts_in_place(name: str) -> None:
    _core.set_option("fusion", 1)
    eager, traced = both(f"def f(a, b):\n    {IN_PLACE[name]}\n    return a\n")
    for _ in range(2 * WARM_UP):
        check(eager, traced, lambda: [line(30, 20), line(30, 20) + 1])
    before = groups_run()
    check(eager, traced, lambda: [line(30, 20), line(30, 20) + 1])
    assert groups_run() > before


def test_operations_on_one_short_row_run_one_by_one() -> None:
    """A group would take longer than the array that it saves."""
    _core.set_option("fusion", 1)
    eager, traced = both("def f(a, b):\n    a[1] -= b[2] * a[2]\n    return a\n")
    for _ in range(2 * WARM_UP):
        before = groups_run()
        check(eager, traced, lambda: [line(30, 20), line(30, 20) + 1])
        assert groups_run() == before
