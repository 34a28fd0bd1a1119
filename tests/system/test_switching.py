"""Stacks that are exchanged in the middle of calls (greenlet, gevent, eventlet) behave as without tracing."""

from __future__ import annotations

import os
from pathlib import Path

import greenlet
import pytest

import tagalong
from subprocesses import run
from tagalong.options import LIMITS

PAUSES = """
import greenlet, tagalong
main = greenlet.getcurrent()
log = []
def child():
    main.switch(1)
    return "end"
@tagalong.trace
def go(g):
    o = g.switch()
    log.append("between")
    o = g.switch()
    log.append("after")
    return o
for turn in range(4):
    log.clear()
    print(go(greenlet.greenlet(child)), log)
"""

TURNS = """
import greenlet, tagalong
main = greenlet.getcurrent()
@tagalong.trace
def job(n):
    x = n * 2
    main.switch()
    x += 1
    main.switch()
    return x + n
for turn in range(50):
    tasks = [greenlet.greenlet(job) for _ in range(3)]
    for number, task in enumerate(tasks):
        task.switch(number)
    for task in tasks:
        task.switch()
    print([task.switch() for task in tasks])
"""

LOOPS = """
import greenlet
main = greenlet.getcurrent()
def child(n):
    s = 0.0
    for i in range(n):
        s += i * 0.5
        if i % 10 == 9:
            main.switch(s)
    return -s
for turn in range(30):
    tasks = [greenlet.greenlet(child) for _ in range(10)]
    out = [task.switch(50 + number) for number, task in enumerate(tasks)]
    while any(not task.dead for task in tasks):
        out = [task.switch() if not task.dead else known for task, known in zip(tasks, out)]
    print(out)
"""


CHECK = """
import os, tagalong
assert os.environ["CHECK"] == "0" or tagalong.stats().hits > 3, tagalong.stats()
"""


@pytest.mark.parametrize("program", [PAUSES, TURNS, LOOPS], ids=["pauses", "turns", "loops"])
@pytest.mark.parametrize("stress", ["0", "1"])
def test_switches_in_recordings_and_replays(program: str, stress: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(program + CHECK)
    plain = run(str(path), variables={"TAGALONG": "0", "CHECK": "0"})
    assert plain.returncode == 0, plain.stderr[-3000:]
    variables = {"TAGALONG": "1", "TAGALONG_STRESS": stress, "TAGALONG_LIMITS": "share=100000", "CHECK": "1"}
    traced = run(str(path), variables=variables)
    assert (traced.returncode, traced.stdout) == (0, plain.stdout), traced.stderr[-3000:]


def test_random_programs_that_switch() -> None:
    """Many more: `scripts/fuzz-switching`."""
    path = os.pathsep.join((str(Path(tagalong.__file__).parent.parent), str(Path(__file__).parent.parent)))
    words = ("-m", "fuzz.switching", "--count", "40", "--seed", "1")
    result = run(*words, timeout=280, variables={"PYTHONPATH": path})
    assert result.returncode == 0, result.stdout[-4000:]
    replayed = int(result.stdout.rsplit(" hits", 1)[0].rsplit(" ", 1)[1])
    assert replayed > 10_000


def test_many_stacks_in_one_function() -> None:
    """Greenlets that are suspended in a function have at most as many recordings of it as the limit allows."""

    def job() -> int:
        main.switch()
        return 1

    main = greenlet.getcurrent()
    tagalong.trace(job)
    tasks = [greenlet.greenlet(job) for _ in range(50)]
    for task in tasks:
        task.switch()
    assert tagalong.stats(job).limits["recordings"] == 50 - LIMITS["recordings"][0]
    assert [task.switch() for task in tasks] == [1] * 50
    assert tagalong.stats(job).records == LIMITS["recordings"][0]
    later = greenlet.greenlet(job)
    later.switch()
    assert later.switch() == 1
    assert tagalong.stats(job).hits == 1
