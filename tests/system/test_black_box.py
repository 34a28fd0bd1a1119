"""A traced function looks the same as an untraced one: code objects, offsets, tracebacks, trace events."""

from __future__ import annotations

import contextlib
import copy
import dis
import gc
import inspect
import io
import marshal
import pickle
import subprocess
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tagalong
import tagalong.testing
from tagalong import _core, rewriter

Function = Callable[..., Any]
Place = tuple[str, bool, int, int]


def twin(function: types.FunctionType) -> types.FunctionType:
    """The same function with a code object of its own."""
    code = function.__code__.replace()
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def compared(function: Function, *args: Any, calls: int = 3) -> list[Any]:
    """The results of some calls, after asserting that they equal eager execution's, in recording and replay."""
    plain, traced = twin(function), tagalong.trace(twin(function))
    eager = [plain(*args) for _ in range(calls)]
    with tagalong.testing.events() as events:
        results = [traced(*args) for _ in range(calls)]
    assert events[0] == "record" and "hit" in events
    assert results == eager
    return results


def example(x: int, y: int = 2) -> Any:
    """A docstring."""
    inner = lambda z: z + x  # noqa: E731
    return inner(y) + sum(i for i in range(y))


def test_code_is_the_one_that_was_compiled() -> None:
    f = twin(example)
    code = f.__code__
    listing = io.StringIO()
    dis.dis(f, file=listing)
    before = (listing.getvalue(), hash(code), code.co_consts, inspect.getsource(f), inspect.signature(f))
    tagalong.trace(f)
    for _ in range(3):
        assert f(1) == 4
        assert f.__code__ is code
        assert f.__code__.co_consts is code.co_consts
        assert getattr(f, "__code__") is type(f).__code__.__get__(f) is code  # noqa: B009
    listing = io.StringIO()
    dis.dis(f, file=listing)
    assert before == (
        listing.getvalue(),
        hash(f.__code__),
        f.__code__.co_consts,
        inspect.getsource(f),
        inspect.signature(f),
    )
    assert _core.is_traced(f) and _core.installed_code(f) is not code
    assert rewriter.disassemble(f) != rewriter.disassemble(f.__code__)


def test_code_objects_can_be_used_in_every_way() -> None:
    f = tagalong.trace(twin(example))
    f(1), f(2)
    g = types.FunctionType(f.__code__, globals(), "g", f.__defaults__)
    assert g(3) == f(3) and not _core.is_traced(g)
    assert marshal.loads(marshal.dumps(f.__code__)) == f.__code__
    assert f.__code__.replace(co_name="other").co_name == "other"
    assert f.__code__.replace() == f.__code__ and {f.__code__: 1}[f.__code__.replace()] == 1
    assert copy.copy(f) is f and copy.deepcopy(f) is f and copy.deepcopy(f.__code__) is f.__code__
    assert pickle.loads(pickle.dumps(tagalong.trace(module_level))) is module_level
    tagalong.untrace(module_level)


def module_level(x: int) -> int:
    return x + 1


def test_assigning_code_makes_a_plain_function() -> None:
    def f(x: int) -> int:
        return x + 1

    def g(x: int) -> int:
        return x + 10

    tagalong.trace(f), tagalong.trace(g)
    assert [f(1), f(2), g(1), g(2)] == [2, 3, 11, 12]
    code = f.__code__
    f.__code__ = f.__code__
    assert f.__code__ is code and f(5) == 6 and not _core.is_traced(f)
    f.__code__ = g.__code__
    assert f.__code__ is g.__code__ and f(5) == 15
    tagalong.trace(f)
    with tagalong.testing.assert_events("hit"):  # like g
        assert f(5) == 15


def place(depth: int = 1) -> Place:
    """What a callee sees of its caller's frame."""
    frame = sys._getframe(depth)
    return (
        frame.f_code.co_name,
        frame.f_code is frame.f_code,
        started(frame.f_code, frame.f_lasti),
        frame.f_lineno,
    )


def started(code: types.CodeType, offset: int) -> int:
    """The instruction of an offset; PRECALL and CALL count as one, because CPython merges them."""
    start = 0
    for instruction in dis.get_instructions(code):
        if instruction.offset <= offset and instruction.opname != "CALL":
            start = instruction.offset
    return start


def places(_: Any = None) -> list[Place]:
    return [place(2), place(3)]


def test_frames_show_code_and_offsets_of_the_original() -> None:
    def callee(x: float) -> Any:
        here = places(), list(map(places, "x"))
        return x * 2, here

    def f(x: float) -> Any:
        y = x + 1
        first = place()
        return first, callee(y), list(map(lambda _: place(2), "x")), place()

    compared(f, 1.0)

    def root(x: float) -> Any:
        return sys._getframe().f_code, x

    traced = tagalong.trace(twin(root))
    code = traced.__code__
    with tagalong.testing.assert_events("record", "hit"):
        assert all(traced(1.0)[0] is code for _ in range(2))


def test_frames_after_an_exit() -> None:
    def f(x: float, up: bool) -> Any:
        y = x + 1
        if up:
            return place(), y
        first = place()
        return first, y, place()

    traced, plain = tagalong.trace(twin(f)), twin(f)
    with tagalong.testing.events() as events:
        got = [traced(1.0, up) for up in (True, True, False, False, True)]
    assert got == [plain(1.0, up) for up in (True, True, False, False, True)]
    assert events == ["record", *["hit", "exit"] * 4]


def failing(x: int) -> Any:
    y = x + 1
    return (y, 1 // (x - 1),
            y)  # fmt: skip


def catching(x: int) -> Any:
    try:
        return failing(x)
    except ZeroDivisionError as error:
        tb = error.__traceback__
        texts = ["".join(traceback.format_exception(error)), c_traceback(error)]
        found = []
        while tb is not None:
            code = tb.tb_frame.f_code
            found.append((code.co_name, started(code, tb.tb_lasti), tb.tb_lineno, tb.tb_frame.f_lineno))
            tb = tb.tb_next
        return texts, found


def c_traceback(error: BaseException) -> str:
    """The text that the interpreter's C code prints."""
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        sys.__excepthook__(type(error), error, error.__traceback__)
    return stream.getvalue()


def test_tracebacks_are_in_offsets_of_the_original() -> None:
    texts, found = compared(catching, 1)[0]
    assert texts[0] == texts[1] and "~~^^~~" in texts[0]
    assert [name for name, *_ in found] == ["catching", "failing"]


def test_a_traceback_made_by_hand_keeps_its_offset() -> None:
    def f(x: int) -> Any:
        frame = sys._getframe()
        made = []
        for offset in (*range(-3, 40), 10_000, 10_001, 2**30 - 1):
            tb = types.TracebackType(None, frame, offset, -1)
            made.append((tb.tb_lasti, tb.tb_lineno))
        return x, made

    for x, made in compared(f, 1):
        assert x == 1
        assert [offset for offset, _ in made] == [*range(-3, 40), 10_000, 10_001, 2**30 - 1]


def test_a_traceback_can_be_copied_by_hand() -> None:
    def f(x: int) -> Any:
        try:
            return 1 // x
        except ZeroDivisionError as error:
            tb = error.__traceback__
            assert tb is not None
            error.__traceback__ = types.TracebackType(tb.tb_next, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
            return c_traceback(error), "".join(traceback.format_exception(error))

    traced, plain = tagalong.trace(twin(f)), twin(f)
    with tagalong.testing.events() as events:
        results = [traced(x) for x in (1, 1, 0, 0)]
    assert events[:3] == ["record", "hit", "hit"] and "exit" in events
    assert results == [plain(x) for x in (1, 1, 0, 0)]
    assert results[2][0] == results[2][1] and "~~^^~~" in results[2][0]


def test_generators_and_coroutines_show_their_own_code() -> None:
    def numbers(n: int) -> Iterator[Any]:
        yield n
        yield sys._getframe().f_code, sys._getframe().f_lasti

    async def waits(n: int) -> int:
        return n

    async def items(n: int) -> Any:
        yield n

    for function, attribute in ((numbers, "gi_code"), (waits, "cr_code"), (items, "ag_code")):
        code = function.__code__
        tagalong.trace(function)
        made = function(1)
        assert getattr(made, attribute) is code is function.__code__
        assert getattr(made, attribute.replace("code", "frame")).f_code is code
        if attribute == "cr_code":
            made.close()  # type: ignore[attr-defined]
    tagalong.untrace(numbers)
    plain = list(numbers(1))
    tagalong.trace(numbers)
    assert [list(numbers(1)) for _ in range(3)] == [plain] * 3


def test_descriptors_keep_their_identity() -> None:
    of_generators: type = (
        types.MemberDescriptorType if sys.version_info < (3, 12) else types.GetSetDescriptorType
    )
    for kind, name, descriptor in (
        (types.GeneratorType, "gi_code", of_generators),
        (types.CoroutineType, "cr_code", of_generators),
        (types.AsyncGeneratorType, "ag_code", of_generators),
        (types.TracebackType, "tb_lasti", types.MemberDescriptorType),
    ):
        assert type(vars(kind)[name]) is descriptor
    for kind, name in (
        (types.FrameType, "f_code"),
        (types.FrameType, "f_lasti"),
        (types.FunctionType, "__code__"),
    ):
        assert type(vars(kind)[name]) is types.GetSetDescriptorType
    with pytest.raises(TypeError):
        types.GeneratorType.gi_code.__get__(1)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        (i for i in ()).gi_code = 1  # type: ignore[misc]


def watched_events(function: Function, *args: Any) -> list[Any]:
    code = function.__code__
    events: list[Any] = []

    def watch(frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code is code:
            frame.f_trace_opcodes = True
            events.append((event, frame.f_lasti, frame.f_lineno))
        return watch

    old = sys.gettrace()
    sys.settrace(watch)
    try:
        function(*args)
    finally:
        sys.settrace(old)
    return events


def long_function(x: Any) -> Any:
    a = 0
    for i in range(3):
        a += i
        if a > 1:
            continue
    return a, x


def test_opcode_events_are_those_of_the_original() -> None:
    traced = tagalong.trace(twin(long_function))
    traced(1), traced(2)
    eager = watched_events(twin(long_function), 1)
    assert watched_events(traced, 1) == eager and len(eager) > 30


def test_opcode_events_in_code_with_many_constants() -> None:
    text = "def f(x):\n" + "".join(f"    x += {i}.5\n" for i in range(300)) + "    return x\n"
    made: dict[str, Any] = {}
    exec(text, made)
    traced = tagalong.trace(twin(made["f"]))
    traced(1.0), traced(2.0)
    assert watched_events(traced, 1.0) == watched_events(made["f"], 1.0)


def test_a_debugger_moves_the_line() -> None:
    def f(x: int) -> list[int]:
        out = [x]
        out.append(1)
        out.append(2)
        out.append(3)
        return out

    def jumping(function: Function) -> Any:
        first = function.__code__.co_firstlineno

        def watch(frame: types.FrameType, event: str, _: Any) -> Any:
            if frame.f_code is function.__code__:
                if event == "line" and frame.f_lineno == first + 2:
                    frame.f_lineno = first + 4
                return watch
            return None

        old = sys.gettrace()
        sys.settrace(watch)
        try:
            return function(0)
        finally:
            sys.settrace(old)

    traced = tagalong.trace(twin(f))
    traced(1), traced(2)
    assert jumping(traced) == jumping(twin(f)) == [0, 3]


def test_nested_code_of_a_traced_module(tmp_path: Path) -> None:
    (tmp_path / "inner_code.py").write_text(
        "import types\n"
        "def f(x):\n"
        "    def g(y):\n"
        "        return x + y\n"
        "    return g\n"
        "class C:\n"
        "    def method(self):\n"
        "        return lambda: self\n"
    )
    (tmp_path / "main.py").write_text(
        "import sys, marshal, types, inner_code as m\n"
        "for _ in range(4):\n"
        "    g = m.f(1)\n"
        "    assert g(2) == 3 and m.C().method()()\n"
        "    code = m.f.__code__\n"
        "    assert g.__code__ is code.co_consts[1], code.co_consts\n"
        "    inner = [c for c in m.C.method.__code__.co_consts if isinstance(c, types.CodeType)]\n"
        "    assert [m.C().method().__code__] == inner and m.C().method().__code__ is inner[0]\n"
        "    assert type(code).co_consts.__get__(code) is code.co_consts\n"
        "    assert marshal.loads(marshal.dumps(code)) == code\n"
        "main = sys._getframe().f_code\n"
        "def here(): return 1\n"
        "assert here.__code__ in main.co_consts and any(here.__code__ is c for c in main.co_consts)\n"
        "marshal.dumps(main)\n"
        "import tagalong\n"
        "print(tagalong.stats().hits > 5, tagalong.stats(m.f).hits)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tagalong", "run", str(tmp_path / "main.py")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "True 3\n", done.stderr


def test_the_three_code_objects_of_a_recording_are_different() -> None:
    recording = tagalong.record(module_level, 1)
    assert recording.original_code is module_level.__code__
    lengths = {
        len(code.co_code)
        for code in (recording.original_code, recording.recording_code, recording.replay_code)
    }
    assert len(lengths) == 3


def test_frames_look_like_themselves_during_a_recording() -> None:
    seen = []

    def f(x: int) -> int:
        seen.append(sys._getframe().f_code)
        return x

    recording = tagalong.record(f, 1)
    assert recording.result == 1
    assert seen == [f.__code__] and seen[0] is f.__code__
    recording.replay(2)
    assert seen[1] is f.__code__


def test_no_object_of_ours_is_visible_to_the_collector() -> None:
    f = tagalong.trace(twin(example))
    f(1), f(2)
    kinds = {type(found).__name__ for found in gc.get_objects() if type(found).__module__ == "tagalong._core"}
    assert not kinds - {"type"}, kinds


STRESSED = """
import marshal
text = '''
def f(x):
    def g(y):
        return x + y
    return g
class C:
    def method(self):
        return lambda: self
'''
code = compile(text, "made", "exec")
before = code.replace(), hash(code), marshal.dumps(code), code.co_consts
names = {}
for _ in range(3):
    exec(code, names)
    assert names["f"](1)(2) == 3
    assert names["C"]().method()()
assert code == before[0] and before[0] == code and hash(code) == before[1]
assert code.__eq__(before[0]) is True and code.__hash__() == before[1]
assert marshal.loads(marshal.dumps(code)) == marshal.loads(before[2]) == code
assert marshal.loads(marshal.dumps([code, {1: (code,)}])) == [code, {1: (code,)}]
assert code.co_consts is before[3] and code.replace() == code
f = names["f"]
assert f.__code__ in code.co_consts and f(1).__code__ is f.__code__.co_consts[1]
assert marshal.loads(marshal.dumps(f.__code__)) == f.__code__
import tagalong
print(tagalong.stats(f).hits)
"""


def test_nested_code_in_stress_mode(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(STRESSED)
    done = subprocess.run(
        [sys.executable, "-m", "tagalong", "run", "--stress", "1", str(tmp_path / "main.py")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert int(done.stdout) > 1, done.stderr


def test_generators_are_as_large_as_in_eager_execution() -> None:
    """Their frames have room for the hooks of recording code."""

    def numbers(n: int) -> Iterator[int]:
        yield from range(n)

    async def waits(n: int) -> int:
        return n

    async def gives(n: int) -> Any:
        yield n

    for plain in (numbers, waits, gives):
        function: Any = plain
        traced: Any = tagalong.trace(twin(function))
        one, other = function(3), traced(3)
        assert sys.getsizeof(one) == sys.getsizeof(other)
        if plain is waits:
            one.close(), other.close()
        if plain is numbers:
            assert list(one) == list(other) == [0, 1, 2]
        assert sys.getsizeof(one) == sys.getsizeof(other)
    assert sys.getsizeof([1, 2]) == sys.getsizeof([None] * 2)
