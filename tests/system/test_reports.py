"""What `explain()`, the report and the summary of a process say of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import RunPython
from subprocesses import run

FREED = """
import gc, sys, tagalong
def new():
    names = {}
    exec("def thing(x):\\n    return x + 1", names)
    return names["thing"]
print("freed" in tagalong.explain())
kept = [tagalong.trace(new()) for _ in range(int(sys.argv[1]))]
uncalled = tagalong.trace(new())
for f in kept:
    f(1), f(2)
print("freed" in tagalong.explain(), tagalong.explain().count("thing ("))
del kept, f, uncalled
gc.collect()
print(tagalong.explain(), end="")
"""


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (1, "1 function is not listed, because it has been freed since\n"),
        (3, "3 functions are not listed, because they have been freed since\n"),
    ],
)
def test_explain_says_how_many_functions_have_been_freed(number: int, told: str) -> None:
    done = run("-c", FREED, str(number))
    assert done.stdout == f"False\nFalse {number}\n{told}", (done.stdout, done.stderr)


# --- only the decorator is used

DECORATED = """
import tagalong
@tagalong.trace
def double(x):
    return 2 * x
def triple(x):
    return 3 * x
for number in range(4):
    double(number), triple(number)
"""


def test_the_report_and_the_summary_without_tagalong_1(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(DECORATED)
    summary = tmp_path / "summary"
    for variables in ({}, {"TAGALONG": "0"}):
        done = run_python("program.py", TAGALONG_REPORT="1", TAGALONG_SUMMARY=str(summary), **variables)
        first, second, *rest = done.stderr.splitlines()
        assert first.startswith("tagalong: records 1, hits 3, misses 0, ")
        assert second == "tagalong: TAGALONG is not set: only functions traced by name are traced"
        assert rest[0].startswith("double (") and "triple (" not in done.stderr
    lines = [json.loads(line) for line in summary.read_text().splitlines()]
    assert [(line["functions_recorded"], line["functions_replayed"], line["hits"]) for line in lines] == [
        (1, 1, 3)
    ] * 2


def test_they_are_not_about_the_command_line(run_python: RunPython, tmp_path: Path) -> None:
    done = run_python(
        "-m", "tagalong", "info", TAGALONG_REPORT="1", TAGALONG_SUMMARY=str(tmp_path / "summary")
    )
    assert (done.returncode, done.stderr, [*tmp_path.iterdir()]) == (0, "", [])


# --- patterns that match nothing


def test_the_report_names_patterns_that_fit_no_module(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import json.decoder\n")
    patterns = {"TAGALONG_INCLUDE": "jsn, json.*, program", "TAGALONG_EXCLUDE": "__main__,jso[mn],numpy"}
    done = run_python("program.py", TAGALONG="1", TAGALONG_REPORT="1", **patterns)
    assert done.stderr.splitlines()[1:4] == [
        "tagalong: TAGALONG_INCLUDE: no module that was imported fits 'jsn'",
        "tagalong: TAGALONG_INCLUDE: no module that was imported fits 'program'",
        "tagalong: TAGALONG_EXCLUDE: no module that was imported fits 'numpy'",
    ]
    assert "no module" not in run_python("program.py", TAGALONG="1", **patterns).stderr


# --- forked processes

FORKED = """
import multiprocessing, os, sys
def double(x): return 2 * x
def work(n):
    for number in range(n):
        double(number)
def nested(n):
    work(n)
    in_process(work, n)
def fails(n):
    work(n)
    raise KeyError(n)
def in_process(function, n):
    process = context.Process(target=function, args=(n,))
    process.start()
    process.join()
    return process.exitcode
context = multiprocessing.get_context(sys.argv[1])
if __name__ == "__main__":
    work(40)
    print(in_process(work, 40), in_process(nested, 40), in_process(fails, 40), in_process(sys.exit, 3))
    with context.Pool(1) as pool:
        pool.map(work, [40])
        pool.close()
        pool.join()
"""


@pytest.mark.parametrize("kind", ["fork", "spawn", "forkserver"])
def test_each_process_of_multiprocessing_writes_its_summary(
    run_python: RunPython, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "program.py").write_text(FORKED)
    summary = tmp_path / "summary"
    limits = "retire_after=1000000,share=100000"
    done = run_python("program.py", kind, TAGALONG="1", TAGALONG_SUMMARY=str(summary), TAGALONG_LIMITS=limits)
    assert done.stdout == "0 0 1 3\n", done.stderr
    lines = [json.loads(line) for line in summary.read_text().splitlines()]
    by_process = {line["process"]: line for line in lines}
    assert len(by_process) == len(lines) and 7 <= len(lines) <= 10  # trackers and servers
    working = [line for line in lines if line["hits"] > 0]
    assert len(working) == 6 and all(line["hits"] <= 60 for line in working), working
    if kind == "fork":  # it does not inherit the parent's counts
        assert sum(line["functions_recorded"] for line in lines) <= 6


def test_a_child_of_os_fork_writes_what_it_has_counted_itself(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os, sys\nfrom tagalong import _core\n"
        "_core.set_option('retire_after', 0)\n"  # no call runs as written to be measured
        "def double(x): return 2 * x\n"
        "def work(n): return [double(x) for x in range(n)]\n"
        "for _ in map(work, [4] * 30): pass\n"
        "child = os.fork()\n"
        "if child: os.waitpid(child, 0)\nelse: work(4), work(4)\n"
        "assert 'multiprocessing' not in sys.modules\n"
    )
    summary = tmp_path / "summary"
    run_python("program.py", TAGALONG="1", TAGALONG_SUMMARY=str(summary))
    child, parent = (json.loads(line) for line in summary.read_text().splitlines())
    assert parent["hits"] >= 29 and parent["functions_recorded"] >= 1
    assert 1 <= child["hits"] <= 10 and child["records"] == child["functions_recorded"] == 0
