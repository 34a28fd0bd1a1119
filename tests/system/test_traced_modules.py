"""CPython's own tests have the same verdicts when all their functions and those of the tested module are traced.

Each suite runs three times in one process: functions that are called once per run are recorded in the first one and
replayed in the others.
"""

from pathlib import Path
from typing import Any

import pytest

from subprocesses import summary

RUNNER = Path(__file__).with_name("traced_modules_runner.py")

# test module: the library modules that are traced with it, and the minimum number of hits
MODULES: dict[str, tuple[list[str], int]] = {
    "builtin": ([], 1_000),
    "code": ([], 1_000),
    "collections": (["collections", "collections.abc"], 100_000),
    "contextlib": (["contextlib"], 3_000),  # its longest loop is one hit
    "compile": ([], 10_000),
    "coroutines": ([], 200),
    "dataclasses": (["dataclasses"], 10_000),
    "descr": ([], 10_000),
    "dis": ([], 5_000),
    "enum": (["enum"], 100_000),
    "except_star": ([], 500),
    "exceptions": ([], 200),
    "extcall": ([], 2),
    "functools": (["functools"], 10_000),
    "fractions": (["fractions"], 1_000),
    "frame": ([], 20),
    "funcattrs": ([], 50),
    "generators": ([], 500),
    "inspect.test_inspect": (["inspect"], 10_000),
    "json": (["json.decoder", "json.encoder", "json.scanner"], 100),
    "patma": ([], 500),
    "re": (["re", "re._compiler", "re._parser"], 100_000),
    "scope": ([], 200),
    "super": ([], 50),
    "sys_setprofile": ([], 200),
    "sys_settrace": ([], 10_000),
    "traceback": (["traceback"], 10_000),
    "weakref": ([], 100_000),
    "with": ([], 200),
}

# Tests that must differ, or are known to; all others must agree.
DIFFERENT = {
    "test_descr.ClassPropertiesAndMethods.test_slots": "counts the collector's objects, also those of a recording",
    "test_coroutines.CoroutineTest.test_for_2": "counts the references to a constant, which a graph has, too",
    **dict.fromkeys(
        (
            f"test_dis.{case}.test_{name}"
            for case in ("DisTests", "DisWithFileTests")
            for name in ("loop_quicken", "show_caches", "super_instructions")
        ),
        "shows how far the interpreter has specialised code that it does not run any more",
    ),
}


def run(module: str, mode: str, rounds: int, also: list[str]) -> dict[str, Any]:
    """The summary of one run in a process of its own."""
    words = [f"test.test_{module}", mode, "--rounds", str(rounds), *(f"--also={name}" for name in also)]
    return summary(RUNNER, *words)


@pytest.mark.parametrize("module", MODULES)
def test_verdicts_are_those_of_plain_python(module: str) -> None:
    also, least_hits = MODULES[module]
    plain = run(module, "plain", 2, [])
    traced = run(module, "traced", 3, also)
    stats = traced["stats"]
    print(f"test_{module}: {len(traced['rounds'][0])} tests, {stats}")
    assert stats["records"] > 0
    assert stats["hits"] >= least_hits
    assert "internal" not in stats["stops"]
    different = {}
    for number, verdicts in enumerate(traced["rounds"]):
        expected = plain["rounds"][min(number, 1)]
        assert len(verdicts) > 0
        assert verdicts.keys() == expected.keys()
        for name, verdict in verdicts.items():
            if verdict != expected[name] and name.removeprefix("test.") not in DIFFERENT:
                text = traced["texts"][number].get(name, "")
                different.setdefault(
                    name, f"{name}, round {number}: {expected[name]}, traced {verdict}\n{text}"
                )
    assert not different, "\n".join(different.values())
