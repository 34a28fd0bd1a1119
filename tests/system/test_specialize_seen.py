"""Programs cannot see that a function is specialised: frames, tracebacks, watchers, recursion."""

from __future__ import annotations

import copy
import cProfile
import dis
import functools
import gc
import inspect
import io
import marshal
import pickle
import pstats
import subprocess
import sys
import traceback
import types
from typing import Any
from unittest import mock

import cloudpickle
import pytest

import tagalong
from specialize_support import Says, fast, new
from tagalong import guards


def module_level(x: int) -> str:
    return chr(x)


def test_the_function_looks_like_itself() -> None:
    original = module_level.__code__
    text = "".join(instruction.opname for instruction in dis.get_instructions(module_level))
    size = sys.getsizeof(module_level)
    before = vars(module_level).copy()
    tagalong.specialize(module_level, chr, [Says()])
    try:
        assert module_level.__code__ is original
        assert "".join(instruction.opname for instruction in dis.get_instructions(module_level)) == text
        assert vars(module_level) == before and sys.getsizeof(module_level) == size
        assert inspect.signature(module_level).parameters.keys() == {"x"}
        assert inspect.getsource(module_level).startswith("def module_level")
        assert pickle.loads(pickle.dumps(module_level)) is module_level
        assert copy.deepcopy(module_level) is module_level
        assert not any(type(found).__name__ == "Dispatcher" for found in gc.get_referents(module_level))
        twin = types.FunctionType(module_level.__code__, globals())
        assert tagalong.get_specialized(twin) == []
    finally:
        tagalong.remove_specialized(module_level)


def where() -> list[str]:
    frame, names = sys._getframe(1), []
    for _ in range(3):
        names.append(frame.f_code.co_name)
        frame = frame.f_back  # type: ignore[assignment]
    return names


def test_frames_are_those_of_the_specialised_code() -> None:
    def function(x: Any) -> Any:
        return x + 1

    def quick(x: Any) -> Any:
        place = sys._getframe()
        return where(), place.f_code, sorted(place.f_locals)

    f = new(function)
    tagalong.specialize(f, quick, [Says()])
    names, code, variables = f(1)
    assert names[:2] == ["function", "test_frames_are_those_of_the_specialised_code"]
    assert code is tagalong.get_specialized(f)[0][0]
    assert variables == ["place", "x"]


def test_tracebacks_go_through_specialised_code_only() -> None:
    def failing(x: Any) -> Any:
        y = x
        return 1 // y

    f = new()
    tagalong.specialize(f, failing, [Says()])
    with pytest.raises(ZeroDivisionError) as raised:
        f(0)
    frames = traceback.extract_tb(raised.tb)
    assert [frame.name for frame in frames] == ["test_tracebacks_go_through_specialised_code_only", "slow"]
    assert frames[1].lineno == f.__code__.co_firstlineno + 2


def test_watchers_see_the_original() -> None:
    f = new()
    tagalong.specialize(f, fast, [Says()])
    events = []

    def watch(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code is f.__code__:
            events.append((event, frame.f_lineno - f.__code__.co_firstlineno))
        return watch

    old = sys.gettrace()
    sys.settrace(watch)
    try:
        assert f(1) == ("slow", 1)
    finally:
        sys.settrace(old)
    assert events == [("call", 0), ("line", 1), ("return", 1)]
    assert f(1) == ("fast", 1)


@pytest.mark.parametrize("code", [fast, lambda x: "constant", chr])
@pytest.mark.parametrize("begin", [sys.settrace, sys.setprofile])
def test_a_guard_begins_to_watch(code: Any, begin: Any) -> None:
    f = new()

    class Begins(guards.Guard):
        def check(self, args: Any, kwargs: Any) -> int:
            begin(lambda *event: None)
            return 1

    tagalong.specialize(f, code, [Begins()])
    old = sys.gettrace() if begin is sys.settrace else sys.getprofile()
    try:
        assert f(65) in (("slow", 65), "constant", "A")
    finally:
        begin(old)


def test_the_same_recursion_depth() -> None:
    program = """
import sys, tagalong
from tagalong import guards
def depth(n):
    return 1 + depth(n - 1) if n else 0  # a comparison would take a level, unless it is specialised by the interpreter
def quick(n):
    if not n:
        return 0
    return 1 + depth(n - 1)
def deepest():
    low = 0
    for n in range(100, 2000):
        try:
            depth(n)
        except RecursionError:
            return n
plain = deepest()
tagalong.specialize(depth, quick, [guards.ArgType(0, int)])
print(plain - deepest())
sys.setrecursionlimit(200_000)
print(depth(150_000))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split() == ["0", "150000"], done.stdout + done.stderr


def test_copies_and_wrappers() -> None:
    """Copies, wrappers, mocks and pickles are made of the original function."""
    f = new()
    original = f.__code__
    tagalong.specialize(f, fast, [guards.ArgType(0, int)])
    assert f(1) == ("fast", 1)

    wrapper = functools.wraps(f)(lambda *args: f(*args))
    assert wrapper.__wrapped__ is f and wrapper(1) == ("fast", 1)  # type: ignore[attr-defined]
    twin = types.FunctionType(f.__code__, f.__globals__)
    sent = pickle.loads(cloudpickle.dumps(f))
    for made in (twin, sent):
        assert made(1) == ("slow", 1) and tagalong.get_specialized(made) == []
    assert marshal.dumps(f.__code__) == marshal.dumps(original)
    with mock.patch.object(f, "attribute", 1, create=True):
        assert f(1) == ("fast", 1)
    assert mock.create_autospec(f, return_value=3)(x=1) == 3
    text = io.StringIO()
    dis.dis(f, file=text)
    assert "FOR_ITER" not in text.getvalue()


def test_profiles_and_coverage_are_those_of_the_original() -> None:
    f = new()
    tagalong.specialize(f, fast, [guards.ArgType(0, int)])
    profile = cProfile.Profile()
    assert profile.runcall(f, 1) == ("slow", 1)
    names = {key[2] for key in pstats.Stats(profile).stats}  # type: ignore[attr-defined]
    assert "slow" in names and "fast" not in names and not any("tagalong" in name for name in names)
    assert f(1) == ("fast", 1)
