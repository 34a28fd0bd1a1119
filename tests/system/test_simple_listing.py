"""The example of paddle-symbolic-trace's issue 39: the second and the third code object of `simple`."""

from __future__ import annotations

import dis
from dataclasses import dataclass
from types import CodeType

import numpy as np  # noqa: F401  # where NumPy is imported, operators have hooks

import tagalong
import tagalong.testing


def simple(x):
    ret = 2 * x
    return ret


HOOK = ["PUSH_NULL", "LOAD_CONST", "LOAD_CONST", "PRECALL", "CALL", "POP_TOP"]
ORIGINAL = ["RESUME", "LOAD_CONST", "LOAD_FAST", "BINARY_OP", "STORE_FAST", "LOAD_FAST", "RETURN_VALUE"]


@dataclass(frozen=True)
class Hook:
    """The six instructions of a hook."""

    when: str
    recorder: object
    index: int


def instructions(code: CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


def body(code: CodeType) -> list[dis.Instruction]:
    """The instructions up to RETURN_VALUE; behind it is code for exceptions and redirects."""
    listing = instructions(code)
    return listing[: [i.opname for i in listing].index("RETURN_VALUE") + 1]


def in_parts(listing: list[dis.Instruction]) -> list[dis.Instruction | Hook]:
    """The original instructions; in the place of each hook's six instructions a `Hook`.

    A hook's number is twice the index of its instruction, plus one where it comes after it. A build with checks has
    hooks before every instruction, a release build before operators and calls, where operands may be replaced by
    proxies (recorder/deferred/array_proxy.h), and where names are bound behind those; they are left out, but none
    may be missing.
    """
    names = [instruction.opname for instruction in listing]
    parts: list[dis.Instruction | Hook] = []
    position = 0
    while position < len(listing):
        if names[position : position + len(HOOK)] == HOOK:
            _, recorder, number, precall, call, _ = listing[position : position + len(HOOK)]
            assert precall.arg == call.arg == 1
            parts.append(
                Hook("after" if number.argval & 1 else "before", recorder.argval, number.argval >> 1)
            )
            position += len(HOOK)
        else:
            parts.append(listing[position])
            position += 1
    last = ORIGINAL.index("RETURN_VALUE")
    checks = [
        part for part in parts if isinstance(part, Hook) and part.when == "before" and part.index != last
    ]
    operators = [index for index, name in enumerate(ORIGINAL) if name in ("BINARY_OP", "COMPARE_OP", "CALL")]
    names_bound = [index for index in range(operators[0], last) if ORIGINAL[index] == "STORE_FAST"]
    assert [check.index for check in checks] in (sorted(operators + names_bound), list(range(1, last)))
    return [part for part in parts if part not in checks]


def test_result_is_that_of_the_eager_run() -> None:
    with tagalong.testing.assert_events("record"):
        recording = tagalong.record(simple, 21)
    assert recording.result == 42
    assert recording.stop_reason is None


def test_recording_code_without_its_hooks_is_the_original() -> None:
    recording = tagalong.record(simple, 21)
    original = instructions(recording.original_code)
    assert [i.opname for i in original] == ORIGINAL
    left = [part for part in in_parts(body(recording.recording_code)) if isinstance(part, dis.Instruction)]
    assert [(i.opname, i.argrepr) for i in left] == [(i.opname, i.argrepr) for i in original]


def test_recording_code_reads_as_printed() -> None:
    # Each instruction is followed by "load recorder, load index, call, pop"; RETURN_VALUE is preceded by the call.
    recording = tagalong.record(simple, 21)
    parts = in_parts(body(recording.recording_code))
    shape = [part.opname if isinstance(part, dis.Instruction) else (part.when, part.index) for part in parts]
    assert shape == [
        "RESUME",
        "LOAD_CONST",
        ("after", 1),
        "LOAD_FAST",
        ("after", 2),
        "BINARY_OP",
        ("after", 3),
        "STORE_FAST",
        ("after", 4),
        "LOAD_FAST",
        ("after", 5),
        ("before", 6),
        "RETURN_VALUE",
    ]
    recorder, *others = [part.recorder for part in parts if isinstance(part, Hook)]
    assert callable(recorder)
    assert all(other is recorder for other in others)


def test_hooks_have_the_line_of_their_instruction() -> None:
    recording = tagalong.record(simple, 21)
    code = recording.recording_code
    lines = [positions[0] for positions in code.co_positions()]
    body_lines = [lines[i.offset // 2] for i in body(code)]
    first = simple.__code__.co_firstlineno
    assert body_lines == sorted(body_lines)
    assert set(body_lines) == {first, first + 1, first + 2}


def test_recording_code_has_room_for_the_hooks() -> None:
    recording = tagalong.record(simple, 21)
    assert recording.recording_code.co_stacksize >= recording.original_code.co_stacksize + 3


def test_replay_code_reads_as_printed() -> None:
    # "Load the graph, load x, build a tuple, call, return"; behind it the original instructions, for side exits.
    recording = tagalong.record(simple, 21)
    null, graph, x, build, precall, call, ret, *rest = instructions(recording.replay_code)
    assert [i.opname for i in (null, graph, x, build, precall, call, ret)] == [
        "PUSH_NULL",
        "LOAD_CONST",
        "LOAD_FAST",
        "BUILD_TUPLE",
        "PRECALL",
        "CALL",
        "RETURN_VALUE",
    ]
    assert callable(graph.argval)
    assert "graph" in repr(graph.argval)
    assert x.argval == "x"
    assert (build.arg, precall.arg, call.arg) == (1, 1, 1)
    original = instructions(recording.original_code)
    assert [(i.opname, i.argrepr) for i in rest] == [(i.opname, i.argrepr) for i in original]


def test_the_graph_in_the_replay_code_can_be_called() -> None:
    recording = tagalong.record(simple, 21)
    graph = instructions(recording.replay_code)[1].argval
    assert graph((8,)) == 16


def test_the_listings_can_be_printed() -> None:
    recording = tagalong.record(simple, 21)
    for which in ("original", "recording", "replay"):
        assert "RETURN_VALUE" in recording.listing(which)
    assert recording.listing("recording").count("recorder") >= 6


def test_replay_runs_the_graph() -> None:
    recording = tagalong.record(simple, 21)
    assert recording.replay(4) == 8
    assert tagalong.replay(recording, -3) == -6


def test_the_three_code_objects_are_three() -> None:
    recording = tagalong.record(simple, 21)
    codes = {recording.original_code, recording.recording_code, recording.replay_code}
    assert len(codes) == 3
    assert recording.original_code is simple.__code__
