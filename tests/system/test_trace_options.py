"""`tagalong.trace` of a named function, and the settings that it takes for this function alone."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import _core
from tagalong.options import LIMITS


@pytest.fixture(autouse=True)
def as_a_process_begins() -> None:
    """Enables retirement, which the tests of the package disable."""
    for name in ("retire_after", "retries", "heat", "share"):
        _core.set_option(name, LIMITS[name][0])
    _core.set_option("loops", 1)
    _core.set_option("measuring", 0)  # estimates are equal each time


def fresh(function: types.FunctionType) -> Any:
    return types.FunctionType(function.__code__.replace(), function.__globals__, function.__name__)


def short(x: Any) -> Any:
    return x.bit_length()


class Node:
    def __init__(self, value: int, left: Node | None, right: Node | None) -> None:
        self.sum = value + (left.sum + right.sum if left and right else 0)


def new_tree() -> Any:
    """Its recursive calls are not inlined, and its replay is slower: TAGALONG=1 attaches no graph."""

    def tree(depth: int, value: int) -> Node:
        if depth == 0:
            return Node(value, None, None)
        return Node(value, tree(depth - 1, 2 * value), tree(depth - 1, 2 * value + 1))

    tree.__code__ = tree.__code__.replace()
    return tree


def counted(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


def test_a_named_function_is_replayed_from_its_second_call_whether_it_pays_or_not() -> None:
    f = tagalong.trace(fresh(short))
    with tagalong.testing.assert_events("record", *["hit"] * 199):
        for number in range(200):
            assert f(number) == number.bit_length()
    assert tagalong.stats(f).retired == 0 and "retire_after" not in tagalong.stats(f).limits
    assert _core.installed_code(f) is not f.__code__


def test_a_named_function_is_recorded_even_if_its_recording_would_be_refused() -> None:
    retiring, kept = tagalong.trace(new_tree(), retire=True), tagalong.trace(new_tree())
    expected = new_tree()(6, 1).sum
    assert [f(6, 1).sum for f in [retiring, kept] * 3] == [expected] * 6
    assert tagalong.stats(retiring).hits == 0 and tagalong.stats(kept).hits >= 2
    before = tagalong.stats(kept).hits
    assert kept(6, 1).sum == expected and tagalong.stats(kept).hits > before


def test_retire_removes_functions_that_do_not_pay() -> None:
    f = tagalong.trace(fresh(short), retire=True)
    for number in range(200):
        assert f(number) == number.bit_length()
    assert tagalong.stats(f).retired == 1 and tagalong.stats(f).hits == LIMITS["retire_after"][0]
    tagalong.trace(f)  # named without options, it is never retired
    with tagalong.testing.assert_events("record", *["hit"] * 99):
        for number in range(100):
            f(number)


def test_naming_a_function_traces_it_again() -> None:
    f = tagalong.trace(new_tree(), retire=True)
    for _ in range(3):
        f(6, 1)
    assert "left as written" in tagalong.explain(f)
    tagalong.trace(f)
    f(6, 1), f(6, 1)
    assert "left as written" not in tagalong.explain(f) and tagalong.stats(f).hits > 0


def test_a_recording_by_hand_can_be_replayed_whether_it_pays_or_not() -> None:
    recording = tagalong.record(new_tree(), 6, 1)
    assert recording.replay(6, 1).sum == recording.result.sum


def test_limits_of_one_function() -> None:
    few, other = (
        tagalong.trace(fresh(counted), limits={"heat": 999, "nodes": 5}),
        tagalong.trace(fresh(counted)),
    )
    for n in (50, 60, 70):
        assert few(n) == other(n) == sum(range(n))
    assert tagalong.stats(few).stops["node_limit"] >= 1 and "node_limit" not in tagalong.stats(other).stops
    assert tagalong.stats(other).hits > 0
    assert "not recorded any more" in tagalong.explain(tagalong.trace(few, limits={"retries": 1, "nodes": 5}))
    tagalong.trace(few)  # again like all other functions
    few(50), few(50)
    assert tagalong.stats(few).hits > 0


def test_how_long_a_function_is_tried() -> None:
    f = tagalong.trace(retire=True, limits={"retire_after": 5})(fresh(short))
    for number in range(20):
        f(number)
    assert tagalong.stats(f).hits == 5 and tagalong.stats(f).limits["retire_after"] == 1
    assert "limit `retire_after` (5)" in tagalong.explain(f)


@pytest.mark.parametrize("of_process", [0, 1])
def test_loops_of_one_function(of_process: int) -> None:
    _core.set_option("loops", of_process)
    f = fresh(counted)
    for loops in (False, True, False, None):
        tagalong.trace(f, loops=loops)
        assert [f(40) for _ in range(4)] == [sum(range(40))] * 4
        goes_round = loops if loops is not None else bool(of_process)
        assert (tagalong.stats(f).bridges + tagalong.stats(f).limits.get("heat", 0) > 0) == goes_round
        assert tagalong.stats(f).hits >= 3


@pytest.mark.parametrize("of_process", [0, 1])
def test_fusion_of_one_function(of_process: int) -> None:
    def chain(x: np.ndarray) -> np.ndarray:
        return (x * 2.0 + 1.0) * x - 3.0

    _core.set_option("fusion", of_process)
    x = np.arange(10_000.0)
    expected = chain(x).tobytes()
    for fusion in (False, True, False, None):
        f = tagalong.trace(fresh(chain), fusion=fusion)
        before = _core.counter("groups_run")
        for _ in range(8):
            assert f(x).tobytes() == expected
        assert tagalong.stats(f).hits == 7
        wanted = fusion if fusion is not None else bool(of_process)
        assert (_core.counter("groups_run") > before) == wanted
        tagalong.trace(f, fusion=not wanted)  # existing recordings are replayed with the new setting
        before = _core.counter("groups_run")
        for _ in range(8):
            assert f(x).tobytes() == expected
        assert (_core.counter("groups_run") > before) != wanted


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (
            {"limits": {"node": 1}},
            "limits: 'node': 1 is not allowed; allowed: a dict of numbers from 1 to 999999999 "
            "(inline_depth: at most 23) by",
        ),
        ({"limits": {"nodes": 0}}, "limits: 'nodes': 0 is not allowed"),
        ({"limits": {"nodes": True}}, "limits: 'nodes': True is not allowed"),
        ({"limits": {"nodes": 10**9}}, "limits: 'nodes': 1000000000 is not allowed"),
        ({"limits": {"inline_depth": 24}}, "limits: 'inline_depth': 24 is not allowed"),
        ({"limits": {"share": 5}}, "limits: 'share' is not a limit of one function: "),
        (
            {"limits": {"retire_after": 5}},
            "limits: 'retire_after' says when a function is given up: give retire",
        ),
        ({"limits": "nodes=5"}, "limits: 'nodes=5' is not allowed; allowed: a dict of numbers"),
        ({"retire": None}, "retire=None is not allowed; allowed: True, False"),
        ({"fusion": 1}, "fusion=1 is not allowed; allowed: True, False, None (as the process has it)"),
        ({"loops": "0"}, "loops='0' is not allowed; allowed: True, False"),
    ],
)
def test_what_is_not_allowed(given: dict[str, Any], shown: str) -> None:
    f = fresh(short)
    with pytest.raises(tagalong.OptionError) as raised:
        tagalong.trace(f, **given)
    assert str(raised.value).startswith(f"tagalong.trace: {shown}")
    assert not _core.is_traced(f)


def test_names_of_limits_are_told() -> None:
    with pytest.raises(tagalong.OptionError) as raised:
        tagalong.trace(limits={"x": 1})
    assert all((name in str(raised.value)) == (name != "share") for name in LIMITS)


def test_c_stack_of_one_function() -> None:
    f, other = tagalong.trace(fresh(short), limits={"stack": 1_000_000}), tagalong.trace(fresh(short))
    for number in range(5):
        assert f(number) == other(number) == number.bit_length()
    assert (tagalong.stats(f).hits, tagalong.stats(f).limits) == (0, {"stack": 5})
    assert tagalong.stats(other).hits == 4


def test_the_old_name_of_fusion() -> None:
    """It works for one release, with a warning."""

    def chain(x: np.ndarray) -> np.ndarray:
        return (x * 2.0 + 1.0) * x - 3.0

    with pytest.warns(FutureWarning, match="regions is called fusion now"):
        f = tagalong.trace(chain, regions=False)  # type: ignore[call-overload]
    before = _core.counter("groups_run")
    for _ in range(8):
        f(np.arange(10_000.0))
    assert tagalong.stats(f).hits == 7
    assert _core.counter("groups_run") == before
