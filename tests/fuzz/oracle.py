"""One program, eagerly and traced; what a caller can see of each of its calls must be the same.

All functions of the program are traced, nested ones too, as under `TAGALONG=1`. Some programs run under small limits,
so that recordings are cut, loops are left and callees are opaque at places of all kinds.
"""

from __future__ import annotations

import gc
import marshal
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from differential.observe import Floats
from differential.program import Program, Step
from differential.runner import Seen, differences, run

from .assembly import Generated

Limits = tuple[tuple[str, int], ...]


@dataclass
class Verdict:
    """The outcome of one program."""

    seed: int
    limits: Limits = ()
    found: list[str] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    raised: int = 0
    skipped: str = ""
    excused: str = ""  # a difference that eager execution shows, too


with_loops = False  # jumps back close traces, which are entered and linked early


def limits_of(seed: int) -> Limits:
    """The limits with which the program of this seed runs."""
    random = Random(seed * 7919 + 2)
    # functions are retired while they run, and while their callees are recorded
    retires = (
        (("retire_after", random.randrange(1, 6)), ("share", random.choice((1, 100_000_000))))
        if random.random() < 0.15
        else ()
    )
    return _limits_of_recording(seed) + retires


def _limits_of_recording(seed: int) -> Limits:
    random = Random(seed * 7919 + 1)
    limits = _small_limits(random)
    if with_loops:
        limits += (("loops", 1), ("heat", random.randrange(1, 4)), ("grow_after", random.randrange(4)))
        limits += (("native_after", random.choice((0, 1, 1, 3))),)
    return limits


def _small_limits(random: Random) -> Limits:
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
    """The program as a section of the differential suite."""
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
    """The code of the program; compiled for each run, because the interpreter specialises code in place."""
    return marshal.dumps(compile(program.source, str(program.path), "exec"))


def _collect(program: Program) -> None:
    """Collects the garbage of earlier runs, so that it does not die in this one, where the program may collect."""
    if "gc." in program.source:
        gc.collect()


def eager(program: Program, code: bytes) -> list[Seen]:
    """Runs the program without tagalong."""
    _collect(program)
    return _without_events(run(program, code=marshal.loads(code)))


def traced(program: Program, code: bytes) -> list[Seen]:
    """Runs the program traced."""
    import tagalong.testing

    _collect(program)
    events = tagalong.testing.events
    return _without_events(run(program, lambda function: function, events, code=marshal.loads(code)))


def cold(program: Program, code: bytes) -> list[Seen]:
    """Runs it eagerly with general instructions only: under a trace function none is specialised."""
    _collect(program)
    settrace = sys.settrace
    settrace(lambda *_: None)
    sys.settrace = id  # type: ignore[assignment]  # programs have trace functions that do nothing, too
    try:
        return _without_events(run(program, code=marshal.loads(code)))
    finally:
        sys.settrace = settrace
        settrace(None)


def _unsigned(value: Any) -> Any:
    """The description with every NaN the same.

    Which operand's sign and payload the NaN of two NaNs has is the C compiler's choice, and it differs between
    `float_mul` and the interpreter's specialised instruction for the same multiplication.
    """
    if isinstance(value, Floats):
        numbers = np.frombuffer(value, value.code).copy()
        numbers[np.isnan(numbers)] = np.nan
        return numbers.tobytes()
    return tuple(map(_unsigned, value)) if isinstance(value, tuple | list) else value


def _without_signs(seen: Seen) -> Seen:
    names = ("outcome", "names", "arguments")
    return replace(seen, **{name: _unsigned(getattr(seen, name)) for name in names})


def _excused(program: Program, code: bytes, plain: list[Seen], other: list[Seen]) -> tuple[list[str], str]:
    """The remaining differences, and the excuse for the others.

    The order in which operands die and the location of an unbound local also change eagerly when an instruction is
    specialised. So each step may be as with specialised instructions or as without.
    """
    plain, other = ([_without_signs(one) for one in seen] for seen in (plain, other))
    if not differences(plain, other):
        return [], "sign of nan"
    general = [_without_signs(one) for one in cold(program, code)]
    found: list[str] = []
    for warm, alternative, one in zip(plain, general, other, strict=True):
        if not differences([alternative], [one]) or _is_mixture(warm, alternative, one):
            continue
        found += differences([warm], [one])
    return found, "" if found else "specialised instruction"


def _is_woven(warm: Any, alternative: Any, one: Any) -> bool:
    """Whether each part of a description equals the part of one of two others of the same shape."""
    if isinstance(one, tuple) and isinstance(warm, tuple) and isinstance(alternative, tuple):
        parts = zip(warm, alternative, one, strict=False)
        return len(one) == len(warm) == len(alternative) and all(_is_woven(*part) for part in parts)
    return one in (warm, alternative)


def _is_mixture(warm: Seen, alternative: Seen, one: Seen) -> bool:
    """Whether eager execution has two outcomes for a step, and each part of the traced outcome is in one of them.

    Examples are lines of output in another order, or an exception whose tracebacks have locations of both: each
    instruction is specialised on its own.
    """
    rest = [replace(seen, outcome=None) for seen in (warm, one)]
    if (
        isinstance(one.outcome, tuple)
        and one.outcome[0] == "raised"
        and _is_woven(warm.outcome, alternative.outcome, one.outcome)
        and not differences(rest[:1], rest[1:])
    ):
        return True
    told = [
        replace(seen, output="\n".join(sorted(seen.output.splitlines()))) for seen in (warm, alternative, one)
    ]
    return (
        warm.output != alternative.output
        and not differences(told[:1], told[1:2])
        and not differences(told[:1], told[2:])
    )


def too_deep(seen: list[Seen]) -> bool:
    """Recursion ends at another depth when traced."""
    return any("RecursionError" in str((one.outcome, one.output)) for one in seen)


def judge(generated: Generated, limits: Limits, note: Any = lambda phase: None) -> Verdict:
    """Runs the program in this process. `note` is called before each phase, so that a crash can be located."""
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
    verdict.found = differences(plain, other)
    if verdict.found:
        note("again")
        if differences(eager(program, code), eager(program, code)):
            verdict.skipped, verdict.found = "not the same twice", []
        else:
            verdict.found, verdict.excused = _excused(program, code, plain, other)
    if not verdict.skipped:
        # No difference is visible then, but a check of the recorder has failed.
        verdict.found += [
            f"{one.text}\n  a defect of the recorder" for one in other if "stop:internal" in one.events
        ]
    return verdict
