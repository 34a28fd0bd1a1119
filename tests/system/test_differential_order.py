"""The programs of the differential suite recorded in other ways than they were written for.

Each topic runs in a process of its own: a crash is one failed test. No events are asserted for a single call here, only
that the runs are equal, and that there were recordings and replays at all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from subprocesses import differential, run

HERE = Path(__file__).parent
TOPICS = sorted(path.stem for path in (HERE / "differential" / "programs").glob("*.py"))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("topic", TOPICS)
def test_calls_in_random_order(topic: str, seed: int) -> None:
    """Other calls are recorded first, and all functions of the programs are traced, including callees and methods."""
    events = differential("--shuffled", str(seed), topic)
    assert events["record"] > 0
    assert events["hit"] > events["record"]


@pytest.mark.parametrize("topic", TOPICS)
def test_traces_that_end_anywhere(topic: str) -> None:
    """A recording that stops at some node makes a trace with a side exit there, in whatever frame that is."""
    events = differential("--limits", topic)
    assert events["stop:node_limit"] > 0
    assert events["exit"] > 0


@pytest.mark.parametrize(
    "words", [("--loops",), ("--loops", "--shuffled", "3")], ids=["as-written", "shuffled"]
)
@pytest.mark.parametrize("topic", TOPICS)
def test_traces_closed_by_jumps_back(topic: str, words: tuple[str, ...]) -> None:
    """When a loop iterates twice in a recording, the trace ends there and the executor runs the following rounds."""
    events = differential(*words, topic)
    assert events["record"] > 0
    assert events["hit"] > 0


def test_nesting_deeper_than_frames_of_a_run() -> None:
    """The limit `inline_depth` can exceed what one run can hold; deeper calls are opaque."""
    source = "def f0(x): return [x]\n" + "".join(f"def f{i}(x): return f{i - 1}(x)\n" for i in range(1, 61))
    program = f"""
import tagalong
names = {{}}
exec({source!r}, names)
f = tagalong.trace(names["f60"])
tagalong._core.set_option("inline_depth", 1000)
with tagalong.testing.events() as events:
    assert [f(i) for i in range(3)] == [[0], [1], [2]]
assert events == ["record", "hit", "hit"], events
"""
    result = run("-c", program)
    assert result.returncode == 0, result.stderr
