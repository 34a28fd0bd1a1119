"""Numbers that programs can read: references to constants, and objects that the collector tracks."""

from __future__ import annotations

import collections
import gc
import sys
from pathlib import Path

import pytest

import tagalong
from subprocesses import run

SWITCHES = """
import greenlet, sys
def call():
    args = ("a", "b", "c!")
    counts = [sys.getrefcount(args)]
    task = greenlet.greenlet(lambda *args: greenlet.getcurrent().parent.switch(*args))
    for _ in range(4):
        task.switch(*args)
        counts.append(sys.getrefcount(args) - counts[0])
    return counts[1:]
print(call())
"""


@pytest.mark.parametrize("stress", ["0", "1"])
def test_constants_in_a_recorded_call(stress: str, tmp_path: Path) -> None:
    """The recording ends in the middle of the call, and its code dies."""
    path = tmp_path / "program.py"
    path.write_text(SWITCHES)
    plain = run(str(path), variables={"TAGALONG": "0"})
    traced = run(str(path), variables={"TAGALONG": "1", "TAGALONG_STRESS": stress})
    assert plain.returncode == traced.returncode == 0, plain.stderr + traced.stderr
    assert traced.stdout == plain.stdout


def test_derived_code_does_not_count_constants() -> None:
    def work(x: object) -> object:
        text = "a constant of work()"
        pair = ("a", "b", "c!")
        return [x, text, pair]

    constants = [each for each in work.__code__.co_consts if each is not None]
    before = [sys.getrefcount(each) for each in constants]
    tagalong.trace(work)
    made = [work(1.0) for _ in range(10)]
    stats = tagalong.stats(work)
    assert (stats.records, stats.hits) == (1, 9)
    del made
    # A reference of the graph counts once.
    assert [sys.getrefcount(each) for each in constants] == [each + 1 for each in before]


def kinds() -> collections.Counter[str]:
    return collections.Counter(type(each).__name__ for each in gc.get_objects())


def test_the_collector_shows_no_objects_of_ours() -> None:
    """Programs that look for leaks count objects before and after."""

    class Watched:
        def __init__(self, x: float) -> None:
            self.x = x

        def twice(self) -> float:
            return self.x * 2

    def work(n: int) -> float:
        return sum([Watched(i).twice() for i in range(n)])

    def warm_up(n: int) -> float:
        return sum([float(i) for i in range(n)])

    tagalong.trace(warm_up)
    for _ in range(100):
        warm_up(10)
        work(3)
    tagalong.stats(warm_up)
    kinds()
    gc.collect()
    before = kinds()
    for function in (work, Watched.twice, Watched.__init__):
        tagalong.trace(function)
    for _ in range(100):
        work(10)
    gc.collect()
    more = kinds() - before
    assert (
        all(tagalong.stats(each).records for each in (work, Watched.twice)) and tagalong.stats(work).hits > 50
    )
    assert not {"ReferenceType", "tuple", "code", "PyCapsule"} & more.keys(), more


def test_derived_constants_outlive_their_code() -> None:
    """Derived code shares constants with the original; a program that has got its tuple keeps them alive."""

    def work(x: float) -> object:
        return (x, "a constant of this function only", ("a", "tuple", 7.25))

    recording = tagalong.record(work, 1.0)
    expected = work.__code__.co_consts
    derived = [recording.recording_code.co_consts, recording.replay_code.co_consts]
    del recording, work
    gc.collect()
    for constants in derived:
        assert constants[: len(expected)] == expected
    expected = eval(repr(expected))
    gc.collect()
    for constants in derived:
        assert repr(constants[: len(expected)]) == repr(expected)
