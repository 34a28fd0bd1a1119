"""The example of paddle-symbolic-trace's issue 39: the second and the third code object of `simple`."""

from __future__ import annotations

import dis
from types import CodeType

import tagalong
import tagalong.testing


def simple(x):
    ret = 2 * x
    return ret


HOOK = ["PUSH_NULL", "LOAD_CONST", "LOAD_CONST", "PRECALL", "CALL", "POP_TOP"]


def instructions(code: CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


def hooks_at(listing: list[dis.Instruction]) -> list[int]:
    """Where the six instructions of a hook begin."""
    names = [instruction.opname for instruction in listing]
    return [i for i in range(len(names)) if names[i : i + len(HOOK)] == HOOK]


def test_result_is_that_of_the_eager_run() -> None:
    with tagalong.testing.assert_events("record"):
        recording = tagalong.record(simple, 21)
    assert recording.result == 42
    assert recording.stop_reason is None


def test_recording_code_has_a_hook_for_each_instruction() -> None:
    recording = tagalong.record(simple, 21)
    original = instructions(recording.original_code)
    listing = instructions(recording.recording_code)
    starts = hooks_at(listing)
    hooked = {i + k for i in starts for k in range(len(HOOK))}
    assert [i.opname for i in original] == ["RESUME", "LOAD_CONST", "LOAD_FAST", "BINARY_OP", "STORE_FAST",
                                            "LOAD_FAST", "RETURN_VALUE"]  # fmt: skip
    # Without the hooks the original instructions are left, with their arguments.
    left = [listing[i] for i in range(len(listing)) if i not in hooked]
    assert [(i.opname, i.argrepr) for i in left] == [(i.opname, i.argrepr) for i in original]
    # After each instruction that makes or takes a value comes one hook, and before RETURN_VALUE there is one.
    shape = []
    position = 0
    while position < len(listing):
        if position in starts:
            shape.append("hook")
            position += len(HOOK)
        else:
            shape.append(listing[position].opname)
            position += 1
    assert shape == ["RESUME", "LOAD_CONST", "hook", "LOAD_FAST", "hook", "BINARY_OP", "hook", "STORE_FAST", "hook",
                     "LOAD_FAST", "hook", "hook", "RETURN_VALUE"]  # fmt: skip


def test_hooks_call_the_recorder_with_the_index_of_the_instruction() -> None:
    recording = tagalong.record(simple, 21)
    listing = instructions(recording.recording_code)
    original = instructions(recording.original_code)
    recorders, indices = [], []
    for start in hooks_at(listing):
        recorders.append(listing[start + 1].argval)
        indices.append(listing[start + 2].argval)
        assert listing[start + 3].arg == listing[start + 4].arg == 1
    assert len({id(recorder) for recorder in recorders}) == 1
    assert callable(recorders[0])
    assert all(isinstance(index, int) for index in indices)
    # Each hooked instruction is named, in program order; the last is RETURN_VALUE.
    numbers = [index >> 1 if index > len(original) else index for index in indices]
    assert numbers == sorted(numbers)
    assert len(set(indices)) == len(indices)


def test_recording_code_has_room_for_the_hooks() -> None:
    recording = tagalong.record(simple, 21)
    assert recording.recording_code.co_stacksize >= recording.original_code.co_stacksize + 3


def test_replay_code_reads_as_printed() -> None:
    recording = tagalong.record(simple, 21)
    listing = [i for i in instructions(recording.replay_code) if i.opname not in ("RESUME", "PUSH_NULL")]
    assert [i.opname for i in listing] == [
        "LOAD_CONST",
        "LOAD_FAST",
        "BUILD_TUPLE",
        "PRECALL",
        "CALL",
        "RETURN_VALUE",
    ]
    graph, x, build, precall, call, _ = listing
    assert callable(graph.argval)
    assert x.argval == "x"
    assert (build.arg, precall.arg, call.arg) == (1, 1, 1)


def test_the_listings_can_be_printed() -> None:
    recording = tagalong.record(simple, 21)
    for which in ("original", "recording", "replay"):
        text = recording.listing(which)
        assert "RETURN_VALUE" in text
    assert recording.listing("recording").count("PRECALL") == len(
        hooks_at(instructions(recording.recording_code))
    )


def test_replay_runs_the_graph() -> None:
    recording = tagalong.record(simple, 21)
    assert recording.replay(4) == 8
    assert tagalong.replay(recording, -3) == -6


def test_the_three_code_objects_are_three() -> None:
    recording = tagalong.record(simple, 21)
    codes = {recording.original_code, recording.recording_code, recording.replay_code}
    assert len(codes) == 3
    assert recording.original_code is simple.__code__
