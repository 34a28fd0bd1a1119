"""One program, eagerly and traced; what a caller can see of each of its calls must be the same.

All functions of the program are traced, nested ones too, as under `TAGALONG=1`. Some programs run under small limits,
so that recordings are cut, loops are left and callees are opaque at places of all kinds.
"""

from __future__ import annotations

import gc
import marshal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from differential.program import Program, Step
from differential.runner import Seen, differences, run

from .assembly import Generated

Limits = tuple[tuple[str, int], ...]


@dataclass
class Verdict:
    """What came of one program."""

    seed: int
    limits: Limits = ()
    found: list[str] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    raised: int = 0
    skipped: str = ""


def limits_of(seed: int) -> Limits:
    """The limits under which the program of this seed runs."""
    random = Random(seed * 7919 + 1)
    choice = random.random()
    if choice < 0.45:
        return ()
    if choice < 0.65:
        return (("nodes", random.randrange(2, 80)),)
    if choice < 0.75:
        return (("unroll", random.randrange(1, 5)),)
    if choice < 0.85:
        return (("inline_depth", random.randrange(1, 4)),)
    if choice < 0.9:
        return (("entries_per_anchor", random.randrange(1, 3)), ("retries", 1))
    return (("nodes", random.randrange(20, 300)), ("unroll", random.randrange(1, 9)))


def as_program(generated: Generated, limits: Limits) -> Program:
    """In the form of the differential suite."""
    steps = tuple(
        Step(call.text, number + 1, None if call.is_statement else ((),) * call.times)
        for number, call in enumerate(generated.calls)
    )
    path = Path(f"/fuzz/{generated.seed}.py")
    return Program(f"fuzz_{generated.seed}", path, 1, generated.source, ("all",), steps, limits)


def _without_events(seen: list[Seen]) -> list[Seen]:
    for one in seen:
        one.expected = None
    return seen


def compiled(program: Program) -> bytes:
    """The code of the program, to be loaded for each run: the interpreter specialises code in place."""
    return marshal.dumps(compile(program.source, str(program.path), "exec"))


def _collect(program: Program) -> None:
    """What earlier runs have left for the collector must not die in this one, where the program may call it."""
    if "gc." in program.source:
        gc.collect()


def eager(program: Program, code: bytes) -> list[Seen]:
    """What the program does without us."""
    _collect(program)
    return _without_events(run(program, code=marshal.loads(code)))


def traced(program: Program, code: bytes) -> list[Seen]:
    """What it does traced."""
    import tagalong.testing

    _collect(program)
    events = tagalong.testing.events
    return _without_events(run(program, lambda function: function, events, code=marshal.loads(code)))


def _comparable(value: Any) -> Any:
    """Where an unbound local was read, CPython itself names the first half of a superinstruction: without that."""
    if isinstance(value, tuple | list):
        if len(value) > 4 and value[0] == "UnboundLocalError":
            return value[:3]
        return tuple(map(_comparable, value))
    return value


def _compared(one: list[Seen], two: list[Seen]) -> list[str]:
    found = differences(one, two)
    if found and any("UnboundLocalError" in str((seen.outcome, seen.names)) for seen in one):
        for seen in (*one, *two):
            seen.outcome, seen.names = _comparable(seen.outcome), _comparable(seen.names)
            seen.arguments = _comparable(seen.arguments)
        found = differences(one, two)
    return found


def too_deep(seen: list[Seen]) -> bool:
    """How deep a recursion can go is not the same when traced."""
    return any("RecursionError" in str((one.outcome, one.output)) for one in seen)


def judge(generated: Generated, limits: Limits, note: Any = lambda phase: None) -> Verdict:
    """Runs the program in this process. `note` is told before each phase, for whoever looks after a crash."""
    verdict = Verdict(generated.seed, limits)
    program = as_program(generated, limits)
    code = compiled(program)
    note("eager")
    plain = eager(program, code)
    if too_deep(plain):
        verdict.skipped = "recursion"
        return verdict
    note("traced")
    other = traced(program, code)
    verdict.events = Counter(event for one in other for event in one.events)
    calls = [one for one in plain if isinstance(one.outcome, tuple)]
    verdict.calls = len(calls)
    verdict.raised = sum(one.outcome[0] == "raised" for one in calls)
    verdict.found = _compared(plain, other)
    if verdict.found:
        note("again")
        if _compared(eager(program, code), eager(program, code)):
            verdict.skipped, verdict.found = "not the same twice", []
    return verdict
