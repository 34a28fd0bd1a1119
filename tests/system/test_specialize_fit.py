"""Which code can specialise a function: parameters, defaults, cells, kinds of functions."""

from __future__ import annotations

import dis
import inspect
import sys
import types
from typing import Any

import pytest

import tagalong
from specialize_support import Says, fast, new, slow
from tagalong import _core, guards


def nothing() -> Any:
    pass


def outer(captured: Any = 1, shared: Any = 2) -> Any:
    def free() -> Any:
        return captured

    def free_of_other() -> Any:
        return shared

    return free, free_of_other


def with_cell(x: Any) -> Any:
    return lambda: x


def generator(x: Any) -> Any:
    yield x


async def coroutine(x: Any) -> Any:
    return x


async def async_generator(x: Any) -> Any:
    yield x


@types.coroutine
def old_coroutine(x: Any) -> Any:
    yield x


MISFITS = [
    (slow, nothing, "0 positional parameters, the function 1"),
    (slow, lambda x, y: 0, "2 positional parameters, the function 1"),
    (slow, lambda x, /: 0, "1 positional-only parameters, the function 0"),
    (slow, lambda x, *, y: 0, "1 keyword-only parameters, the function 0"),
    (
        lambda *, a, b: 0,
        lambda *, b, a: 0,
        r"other keyword-only parameters: \('b', 'a'\), the function \('a', 'b'\)",
    ),
    (slow, lambda x, *r: 0, r"takes \*args, the function does not"),
    (slow, lambda x, **r: 0, r"takes \*\*kwargs, the function does not"),
    (lambda x, *r: 0, slow, r"the function takes \*args, the specialised code does not"),
    (slow, with_cell, r"other cell variables: \('x',\), the function \(\)"),
    (nothing, outer()[0], r"other free variables: \('captured',\), the function \(\)"),
    (outer()[0], outer()[1], "other free variables"),
    (outer()[0], nothing, "other free variables"),
    (slow, generator, "is a generator's"),
    (generator, slow, "the function is a generator's"),
    (slow, coroutine, "is a coroutine's"),
    (slow, async_generator, "is an asynchronous generator's"),
    (generator, old_coroutine, "is an iterable coroutine's"),
    (lambda x=1: 0, lambda x=2: 0, "other default values"),
    (lambda x=1: 0, slow, "other default values"),
    (slow, lambda x=1: 0, "other default values"),
    (lambda *, x=1: 0, lambda *, x=2: 0, "other default values of keyword-only parameters"),
    (lambda *, x: 0, lambda *, x=2: 0, "other default values of keyword-only parameters"),
    (nothing, compile("1", "made", "exec"), "the code of a module or a class"),
]


@pytest.mark.parametrize(("function", "code", "sentence"), MISFITS)
def test_code_that_does_not_fit(function: Any, code: Any, sentence: str) -> None:
    f = new(function)
    guard = Says()
    with pytest.raises(ValueError, match=sentence):
        tagalong.specialize(f, code, [guard])
    assert not hasattr(guard, "function"), "a guard was asked for code that does not fit"
    assert tagalong.get_specialized(f) == [] and _core.installed_code(f) is f.__code__


def test_code_of_a_specialised_function() -> None:
    f, g = new(), new(fast)
    tagalong.specialize(g, chr, [Says()])
    with pytest.raises(ValueError, match=r"fast\(\) is specialised itself"):
        tagalong.specialize(f, g, [Says()])
    assert tagalong.specialize(f, g.__code__, [Says()]) == 0 and f(1) == ("fast", 1)


def test_defaults_are_the_functions() -> None:
    def function(x: Any = [1], *, y: Any = "y") -> Any:
        return "slow", x, y

    def same(x: Any = [1], *, y: Any = "y") -> Any:
        return "fast", x, y

    f = new(function)
    assert tagalong.specialize(f, same, [Says()]) == 0
    assert f()[1] is function.__defaults__[0] and f(y=2) == ("fast", [1], 2)


def test_cells_and_closures() -> None:
    def make(captured: Any) -> tuple[Any, Any]:
        def function(x: Any) -> Any:
            def inner() -> Any:
                nonlocal captured
                captured += 1
                return x

            return "slow", inner, captured

        def quick(x: Any) -> Any:
            def inner() -> Any:
                nonlocal captured
                captured += 10
                return x

            inner()
            local = more = captured
            return "fast", inner, local + more - captured

        return function, quick

    one, quick = make(1)
    two, _ = make(2)
    assert tagalong.specialize(one, quick, [guards.ArgType(0, int)]) == 0
    assert tagalong.specialize(two, quick, [guards.ArgType(0, int)]) == 0
    name, inner, captured = one(5)
    assert (name, inner(), captured, one("s")[2]) == ("fast", 5, 11, 21)
    assert two(5)[2] == 12 and two("s")[0] == "slow"


def test_damaged_code_is_refused() -> None:
    f = new()
    damaged = fast.__code__.replace(co_code=bytes([dis.opmap["JUMP_FORWARD"], 200]))
    with pytest.raises(ValueError):
        tagalong.specialize(f, damaged, [Says()])
    shallow = fast.__code__.replace(co_stacksize=0)
    assert tagalong.specialize(f, shallow, [Says()]) == 0 and f(1) == ("fast", 1)


def test_generators() -> None:
    def quick(x: Any) -> Any:
        more = [x] * 3
        for item in more:
            yield item, sys._getframe().f_code.co_name

    f = new(generator)
    tagalong.specialize(f, quick, [guards.ArgType(0, int)])
    made = f(1)
    assert inspect.isgenerator(made) and made.gi_code is f.__code__ and made.__name__ == "generator"
    assert list(made) == [(1, "generator")] * 3 and list(f("s")) == ["s"]
    assert tagalong.specialize(f, lambda x: (yield from [x, x]), [guards.ArgType(0, str)]) == 0
    assert list(f("s")) == ["s", "s"] and list(f(1.0)) == [1.0]

    async def quick_coroutine(x: Any) -> Any:
        return "fast", x

    c = new(coroutine)
    tagalong.specialize(c, quick_coroutine, [guards.ArgType(0, int)])
    for value, expected in ((1, ("fast", 1)), ("s", "s")):
        with pytest.raises(StopIteration) as stop:
            c(value).send(None)
        assert stop.value.value == expected
