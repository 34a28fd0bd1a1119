"""Specialised functions (PEP 510): which one is called, in which order, and when they are removed."""

from __future__ import annotations

import traceback
import types
from collections.abc import Callable
from typing import Any

import pytest

import tagalong
from specialize_support import Error, Says, fast, new
from tagalong import _core, guards


def test_the_first_example_of_the_pep(replaced_chr: Callable[[], None]) -> None:
    def func() -> str:
        return chr(65)

    def fast_func() -> str:
        return "A"

    assert tagalong.specialize(func, fast_func.__code__, [guards.Builtins("chr")]) == 0
    assert func() == "A" and len(tagalong.get_specialized(func)) == 1
    code, its_guards = tagalong.get_specialized(func)[0]
    assert isinstance(code, types.CodeType) and code.co_code == fast_func.__code__.co_code
    assert (code.co_name, code.co_qualname, code.co_firstlineno) == (
        func.__code__.co_name,
        func.__code__.co_qualname,
        func.__code__.co_firstlineno,
    )
    assert [type(guard) for guard in its_guards] == [guards.Builtins]
    replaced_chr()
    assert func() == "mock" and tagalong.get_specialized(func) == []


def test_the_second_example_of_the_pep(replaced_chr: Callable[[], None]) -> None:
    def func(arg: int) -> str:
        return chr(arg)

    assert tagalong.specialize(func, chr, [guards.Builtins("chr")]) == 0
    assert (func(65), func(arg=66)) == ("A", "B")
    assert tagalong.get_specialized(func)[0][0] is chr
    with pytest.raises(TypeError) as raised:
        func("a")
    assert [frame.name for frame in traceback.extract_tb(raised.tb)] == ["test_the_second_example_of_the_pep"]
    replaced_chr()
    assert func(65) == "mock" and tagalong.get_specialized(func) == []


@pytest.mark.parametrize(
    "code", [fast, fast.__code__, lambda x: ("fast", x), types.MethodType(fast, 1).__func__]
)
def test_code_and_functions(code: Any) -> None:
    f = new()
    assert tagalong.specialize(f, code, [guards.ArgType(0, int)]) == 0
    assert (f(1), f(x=2), f("s"), f(True)) == (("fast", 1), ("fast", 2), ("slow", "s"), ("slow", True))


def test_any_callable() -> None:
    class Callable_:
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return args, kwargs

    def function(a: Any, b: Any = 2, /, c: Any = 3, *rest: Any, d: Any, e: Any = 5, **more: Any) -> Any:
        return "slow"

    f = new(function)
    tagalong.specialize(f, Callable_(), [Says()])
    assert f(1, d=4) == ((1, 2, 3), {"d": 4, "e": 5})
    assert f(1, 2, c=7, d=4, e=6, z=9) == ((1, 2, 7), {"d": 4, "e": 6, "z": 9})
    assert f(1, 2, 3, 4, 5, d=0, b=8) == ((1, 2, 3, 4, 5), {"d": 0, "e": 5, "b": 8})
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'd'"):
        f(1)


@pytest.mark.parametrize(
    "what", [fast, fast.__code__, len, dict, print, types.SimpleNamespace, [].append, range(3).__getitem__]
)
def test_the_listing_shows_what_was_given(what: Any) -> None:
    f = new()
    guard = Says(0)
    tagalong.specialize(f, what, [guard, guard])
    ((code, its),) = tagalong.get_specialized(f)
    assert its == [guard, guard] and guard.function is f
    if not isinstance(what, (types.FunctionType, types.CodeType)):
        assert code == what


def test_guards_are_called_in_order() -> None:
    f = new()
    one, two, three = Says(0), Says(1), Says(1)
    tagalong.specialize(f, lambda x: 1, [one])
    tagalong.specialize(f, lambda x: 2, [two, three])
    tagalong.specialize(f, lambda x: 3, [Says(1)])
    assert f(0) == 2 and [len(guard.asked) for guard in (one, two, three)] == [1, 1, 1]
    three.answer = 0
    assert f(0) == 3
    two.answer = 0
    assert f(0) == 3 and len(three.asked) == 2
    one.answer = 1
    assert f(0) == 1 and len(two.asked) == 3


def test_duplicates_are_kept() -> None:
    f, guard = new(), Says(1)
    for _ in range(2):
        assert tagalong.specialize(f, fast, [guard]) == 0
    assert len(tagalong.get_specialized(f)) == 2
    tagalong.remove_specialized(f, 0)
    assert len(tagalong.get_specialized(f)) == 1 and f(1) == ("fast", 1)


def test_guards_see_arguments_as_they_are_bound() -> None:
    def function(a: Any, b: Any = 2, *rest: Any, key: Any = 3, **more: Any) -> Any:
        return "slow"

    f, guard = new(function), Says(0)
    tagalong.specialize(f, function, [guard])
    f(1), f(b=1, a=2), f(1, 2, 3, key=4, z=5)
    assert guard.asked == [
        ((1, 2), {"key": 3}),
        ((2, 1), {"key": 3}),
        ((1, 2, 3), {"key": 4, "z": 5}),
    ]


@pytest.mark.parametrize("error", [Error("x"), StopIteration(3), KeyboardInterrupt(), GeneratorExit()])
def test_errors_in_guards_propagate(error: BaseException) -> None:
    f = new()
    tagalong.specialize(f, fast, [guards.ArgType(0, int), Says(error)])
    assert f("s") == ("slow", "s")
    for _ in range(3):
        with pytest.raises(type(error)) as raised:
            f(1)
        assert raised.value is error
        names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
        assert "slow" not in names and names[0] == "test_errors_in_guards_propagate"
    assert len(tagalong.get_specialized(f)) == 1


@pytest.mark.parametrize("error", [Error("x"), StopIteration(3), StopAsyncIteration()])
def test_errors_of_callables_propagate(error: BaseException) -> None:
    class Raises:
        def __call__(self, x: Any) -> Any:
            raise error

    f = new()
    tagalong.specialize(f, Raises(), [Says()])
    with pytest.raises(type(error)) as raised:
        f(1)
    assert raised.value is error

    g = new()
    tagalong.specialize(g, iter([5]).__next__, [guards.ArgType(0, int)])
    with pytest.raises(TypeError):
        g(1)

    def following(iterator: Any) -> Any:
        return "slow"

    tagalong.specialize(following, next, [Says()])
    with pytest.raises(StopIteration):
        following(iter(()))
    assert following(iter([3])) == 3


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (None, TypeError),
        ("1", TypeError),
        (1.0, TypeError),
        (2, ValueError),
        (-2, ValueError),
        (10**30, ValueError),
    ],
)
def test_invalid_results_of_guards(answer: Any, error: type[Exception]) -> None:
    f = new()
    tagalong.specialize(f, fast, [Says(answer)])
    with pytest.raises(error, match=r"check\(\) of a guard must return"):
        f(1)
    with pytest.raises(error, match=r"init\(\) of a guard must return"):
        tagalong.specialize(f, fast, [Says(first=answer if answer is not None else 1.5)])


def test_answers_of_init() -> None:
    f = new()
    assert tagalong.specialize(f, fast, [Says(), Says(first=guards.Answer.NEVER)]) == 1
    assert tagalong.get_specialized(f) == [] and f(1) == ("slow", 1)
    with pytest.raises(Error):
        tagalong.specialize(f, fast, [Says(first=Error())])
    with pytest.raises(ValueError):
        tagalong.specialize(f, fast, [Says(first=1)])
    assert tagalong.specialize(f, fast, [Says(True, False)]) == 0 and f(1) == ("fast", 1)


def test_never_again() -> None:
    f = new()
    guard, other = Says(0), Says(0)
    tagalong.specialize(f, fast, [guard])
    tagalong.specialize(f, fast, [other])
    installed = _core.installed_code(f)
    guard.answer = guards.Answer.NEVER
    assert f(1) == ("slow", 1) and len(tagalong.get_specialized(f)) == 1
    other.answer = guards.Answer.NEVER
    assert f(1) == ("slow", 1) and tagalong.get_specialized(f) == []
    assert _core.installed_code(f) is f.__code__ is not installed
    f(1)
    assert len(guard.asked) == 1 and len(other.asked) == 2


def test_assigning_code_removes() -> None:
    f = new()
    tagalong.specialize(f, fast, [Says()])
    f.__code__ = f.__code__
    assert f(1) == ("slow", 1) and tagalong.get_specialized(f) == []
    tagalong.specialize(f, fast, [Says()])
    f.__code__ = (lambda x: "other").__code__
    assert f(1) == "other" and tagalong.get_specialized(f) == []
    tagalong.specialize(f, fast, [Says()])
    assert f(1) == ("fast", 1)


def test_removing() -> None:
    f = new()
    for number in range(4):
        tagalong.specialize(f, types.SimpleNamespace if number == 3 else fast, [Says(0)])
    tagalong.remove_specialized(f, 1)
    tagalong.remove_specialized(f, -1)
    assert len(tagalong.get_specialized(f)) == 2
    for wrong in (2, -3, 10**6):
        with pytest.raises(IndexError, match="no such specialisation"):
            tagalong.remove_specialized(f, wrong)
    tagalong.remove_specialized(f)
    tagalong.remove_specialized(f)
    assert tagalong.get_specialized(f) == [] and _core.installed_code(f) is f.__code__
    with pytest.raises(IndexError):
        tagalong.remove_specialized(f, 0)


BAD_FUNCTIONS = [len, int, 3, None, "f", type("C", (), {"__call__": lambda self: 0})()]


@pytest.mark.parametrize("thing", BAD_FUNCTIONS)
def test_only_python_functions(thing: Any) -> None:
    for call in (
        lambda: tagalong.specialize(thing, fast, [Says()]),
        lambda: tagalong.get_specialized(thing),
        lambda: tagalong.remove_specialized(thing),
        lambda: _core.specialize(thing, fast, [Says()]),
        lambda: _core.choose_specialized(thing, (), {}),
    ):
        with pytest.raises(TypeError, match="expected a Python function, got "):
            call()


@pytest.mark.parametrize(
    ("code", "its_guards", "error", "sentence"),
    [
        (3, [Says()], TypeError, "a code object or a callable, not int"),
        (None, [Says()], TypeError, "a code object or a callable, not NoneType"),
        (fast, [], ValueError, "at least one guard"),
        (fast, None, TypeError, "not iterable"),
        (fast, [3], TypeError, "a guard must be a tagalong.guards.Guard, not int"),
        (fast, [guards.Guard], TypeError, "not type"),
        (fast, [Says(), None], TypeError, "not NoneType"),
        (fast, 7, TypeError, "not iterable"),
    ],
)
def test_bad_arguments(code: Any, its_guards: Any, error: type[Exception], sentence: str) -> None:
    f = new()
    with pytest.raises(error, match=sentence):
        tagalong.specialize(f, code, its_guards)
    assert tagalong.get_specialized(f) == [] and f(1) == ("slow", 1)


def test_methods_and_wrappers() -> None:
    class C:
        def method(self, x: Any) -> Any:
            return "slow", x

        @staticmethod
        def static(x: Any) -> Any:
            return "slow", x

        @classmethod
        def of_class(cls, x: Any) -> Any:
            return "slow", x

    def quick(self: Any, x: Any) -> Any:
        return "fast", x

    tagalong.specialize(C.method, quick, [guards.ArgType(1, int)])
    tagalong.specialize(C().of_class, quick, [guards.ArgType("x", int)])
    tagalong.specialize(vars(C)["static"], fast, [guards.ArgType(0, int)])
    assert (C().method(1), C().method("s"), C.of_class(1), C.static(1)) == (
        ("fast", 1),
        ("slow", "s"),
        ("fast", 1),
        ("fast", 1),
    )
