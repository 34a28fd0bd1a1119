"""Specialised functions (PEP 510): what is used, what fits, what is removed when, and that nobody sees it."""

from __future__ import annotations

import builtins
import copy
import dis
import gc
import inspect
import pickle
import subprocess
import sys
import threading
import traceback
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagalong
from tagalong import _core, guards
from test_leaks import assert_no_growth

Function = Callable[..., Any]


class Says(guards.Guard):
    """Answers what it is told, and keeps what it was asked."""

    def __init__(self, answer: Any = 1, first: Any = 0) -> None:
        self.answer, self.first = answer, first
        self.asked: list[Any] = []

    def init(self, function: Any) -> int:
        self.function = function
        if isinstance(self.first, BaseException):
            raise self.first
        return self.first

    def check(self, args: tuple[Any, ...] = (), kwargs: Any = None) -> int:
        self.asked.append((args, kwargs))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer() if callable(self.answer) else self.answer


def slow(x: Any) -> Any:
    return "slow", x


def fast(x: Any) -> Any:
    return "fast", x


def new(function: Any = slow) -> Any:
    made = types.FunctionType(
        function.__code__.replace(), globals(), function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def module_level(x: int) -> str:
    return chr(x)


@pytest.fixture
def replaced_chr() -> Iterator[Callable[[], None]]:
    original = builtins.chr

    def replace() -> None:
        builtins.chr = lambda x: "mock"  # type: ignore[assignment,misc]

    yield replace
    builtins.chr = original


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
def test_what_is_listed_is_what_was_given(what: Any) -> None:
    f = new()
    guard = Says(0)
    tagalong.specialize(f, what, [guard, guard])
    ((code, its),) = tagalong.get_specialized(f)
    assert its == [guard, guard] and guard.function is f
    if not isinstance(what, (types.FunctionType, types.CodeType)):
        assert code == what


def test_asked_in_order() -> None:
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
    tagalong.specialize(f, f, [guard])
    f(1), f(b=1, a=2), f(1, 2, 3, key=4, z=5)
    assert guard.asked == [
        ((1, 2), {"key": 3}),
        ((2, 1), {"key": 3}),
        ((1, 2, 3), {"key": 4, "z": 5}),
    ]


class Error(Exception):
    pass


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
def test_answers_that_are_none(answer: Any, error: type[Exception]) -> None:
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


# --- what fits


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


def test_damaged_code_is_refused() -> None:
    f = new()
    damaged = fast.__code__.replace(co_code=bytes([dis.opmap["JUMP_FORWARD"], 200]))
    with pytest.raises(ValueError):
        tagalong.specialize(f, damaged, [Says()])
    shallow = fast.__code__.replace(co_stacksize=0)
    assert tagalong.specialize(f, shallow, [Says()]) == 0 and f(1) == ("fast", 1)


# --- generators and coroutines


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


def test_the_code_of_a_generator_function_is_replaced_by_its_guard() -> None:
    class Replaces(guards.Guard):
        def check(self, args: Any, kwargs: Any) -> int:
            f.__code__ = slow.__code__
            return self.answer

    def quick(x: Any) -> Any:
        a = b = c = d = e = g = h = x
        yield [a, b, c, d, e, g, h, *range(50)][0]

    for answer in (0, 1, -1):
        f = new(generator)
        guard = Replaces()
        guard.answer = answer
        tagalong.specialize(f, quick, [guard])
        assert list(f(1)) == [1]
        assert f(1) == ("slow", 1) and tagalong.get_specialized(f) == []


# --- nobody sees it


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


def test_whoever_watches_sees_the_original() -> None:
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


# --- what changes in the middle of a call


def test_what_changes_in_the_middle_is_seen(replaced_chr: Callable[[], None]) -> None:
    """The call that has begun with specialised code ends with it; what it reads, asks or calls is as it is by then."""
    guard = guards.Builtins("chr")
    namespace = {"guard": guard, "__builtins__": builtins}
    f = types.FunctionType(
        compile(
            "def function(n, change):\n    change()\n"
            "    return ['slow', chr(65), function(n - 1, int) if n else None]\n",
            "made",
            "exec",
        ).co_consts[0],
        namespace,
    )
    quick = types.FunctionType(
        compile(
            "def function(n, change):\n    change()\n"
            "    return ['fast', chr(65), guard.check(), function(n - 1, int) if n else None]\n",
            "made",
            "exec",
        ).co_consts[0],
        namespace,
    )
    namespace["function"] = f
    assert tagalong.specialize(f, quick, [guard]) == 0
    assert f(1, int) == ["fast", "A", 1, ["fast", "A", 1, None]]
    assert f(1, replaced_chr) == ["fast", "mock", -1, ["slow", "mock", None]]
    assert tagalong.get_specialized(f) == []


def test_a_guard_that_runs_code_changes_what_others_have_answered(replaced_chr: Callable[[], None]) -> None:
    def function() -> str:
        return chr(65)

    class Replaces(guards.Guard):
        def check(self, args: Any, kwargs: Any) -> int:
            replaced_chr()
            return 1

    f = new(function)
    tagalong.specialize(f, lambda: "A", [guards.Builtins("chr"), Replaces()])
    assert f() == "mock" and tagalong.get_specialized(f) == []


@pytest.mark.parametrize("answer", [1, 0, -1])
@pytest.mark.parametrize(
    "action", ["specialize", "remove", "untrace", "trace", "assign", "forget", "collect", "call"]
)
def test_a_guard_does_something_to_its_function(action: str, answer: int) -> None:
    f = new()
    depth = 0

    class Acts(guards.Guard):
        def check(self, args: Any, kwargs: Any) -> int:
            nonlocal f, depth
            if action == "specialize":
                for _ in range(20):
                    tagalong.specialize(f, lambda x: [x, x, x, x, x, x, x, x, x, x, x], [Says(0)])
            elif action == "remove":
                tagalong.remove_specialized(f)
            elif action == "untrace":
                tagalong.untrace(f)
            elif action == "trace":
                tagalong.trace(f)
            elif action == "assign":
                f.__code__ = (lambda x: "assigned").__code__
            elif action == "forget":
                del f
            elif action == "collect":
                gc.collect()
            elif depth < 5:
                depth += 1
                f(args[0])
            return answer

    tagalong.specialize(f, fast, [Acts()])
    called = f
    if action == "forget":
        alive = weakref.ref(f)
        del called
        result = f(1)
        gc.collect()
        assert alive() is None
    else:
        result = called(1)
        gc.collect()
        called(2), called(3)
    used = answer == 1 and action not in ("remove", "assign", "forget")
    if action in ("assign", "forget"):
        assert result in (("slow", 1), ("fast", 1))
    else:
        assert result == (("fast", 1) if used else ("slow", 1))


# --- owners


def test_specialisations_are_collected_with_their_function() -> None:
    class Keeps(guards.Guard):
        def init(self, function: Any) -> int:
            self.function = function
            return 0

        def check(self, args: Any, kwargs: Any) -> int:
            return 1

    class Calls:
        def __init__(self, function: Any) -> None:
            self.function = function

        def __call__(self, x: Any) -> Any:
            return x

    f = new()
    guard, callable_ = Keeps(), Calls(f)
    tagalong.specialize(
        f, callable_, [guard, guards.Identity(0, f), guards.Func(f), guards.Dict({"f": f}, "f")]
    )
    tagalong.specialize(f, fast, [guard])
    alive = [weakref.ref(thing) for thing in (f, guard, callable_)]
    gc.collect()
    assert all(reference() is not None for reference in alive) and f(1) == ("fast", 1)
    del f, guard, callable_
    gc.collect()
    assert [reference() for reference in alive] == [None] * 3


def test_the_collector_finds_nothing_wrong_while_a_call_is_under_way() -> None:
    class Collects(guards.Guard):
        def check(self, args: Any, kwargs: Any) -> int:
            gc.collect()
            return 1

    def make() -> Any:
        f = new()
        f.self = f
        tagalong.specialize(f, lambda x: (gc.collect(), x)[1], [Collects()])
        return f

    assert make()(7) == 7
    f = make()
    assert [f(n) for n in range(3)] == [0, 1, 2]


def test_nothing_is_kept() -> None:
    def one_round(i: int) -> None:
        f = new()
        guard = Says()
        tagalong.specialize(f, fast, [guards.ArgType(0, int), guards.Builtins("chr"), guard])
        tagalong.specialize(f, chr, [guards.ArgType(0, float)])
        assert f(i) == ("fast", i) and f("s") == ("slow", "s")
        guard.answer = Error()
        with pytest.raises(Error):
            f(1)
        guard.answer = -1
        f(1)
        with pytest.raises(TypeError):
            f(1.5)
        if i % 2:
            tagalong.remove_specialized(f)
        guard.asked.clear()

    assert_no_growth(one_round, 3000)


def test_reference_counts_of_arguments() -> None:
    f = new()

    class Holds(guards.Guard):
        def check(self, args: Any, kwargs: Any) -> int:
            return 1

    tagalong.specialize(f, lambda x: sys.getrefcount(x), [guards.Identity(0, None)])
    tagalong.specialize(f, lambda x: sys.getrefcount(x), [Holds()])

    def plain(x: Any) -> int:
        return sys.getrefcount(x)

    thing = object()
    assert f(thing) == plain(thing)
    assert f(object()) == plain(object())
    before = sys.getrefcount(thing)
    for _ in range(100):
        f(thing)
    assert sys.getrefcount(thing) == before


def test_many() -> None:
    f = new()
    assert tagalong.specialize(f, fast, [guards.ArgType(0, int)] * 100_000) == 0
    assert f(1) == ("fast", 1) and f("s") == ("slow", "s")
    for number in range(1000):
        assert tagalong.specialize(f, chr, [guards.Value(0, str(number))]) == 0
    assert len(tagalong.get_specialized(f)) == 1001
    with pytest.raises(TypeError):
        f("999")
    assert f("x") == ("slow", "x")
    tagalong.remove_specialized(f)
    assert f(1) == ("slow", 1)


def test_functions_with_many_constants_and_jumps() -> None:
    text = (
        "def f(x):\n"
        + "".join(f"    x += {i}.5\n    if x < 0: x = {i}\n" for i in range(300))
        + "    return x\n"
    )
    made: dict[str, Any] = {}
    exec(text, made)
    f = made["f"]
    expected = f(1.0)
    plain = new(f)
    tagalong.specialize(f, plain, [guards.ArgType(0, float)])
    assert (f(1.0), f(1)) == (expected, plain(1))


def test_threads() -> None:
    f = new()
    wrong: list[Any] = []
    stop = threading.Event()

    def calls() -> None:
        while not stop.is_set():
            for value in (1, "s", 1.5):
                result = f(value)
                if result not in (("fast", value), ("slow", value)):
                    wrong.append(result)

    threads = [threading.Thread(target=calls) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for _ in range(300):
            tagalong.specialize(f, fast, [guards.ArgType(0, int)])
            tagalong.specialize(f, fast, [Says(lambda: 1)])
            tagalong.remove_specialized(f)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert wrong == []


@settings(deadline=None, max_examples=60)
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.sampled_from([int, str, float]), st.integers(0, 9)),
            st.tuples(st.just("remove"), st.integers(0, 5), st.none()),
            st.tuples(st.just("call"), st.sampled_from([1, "s", 1.5, None]), st.none()),
            st.tuples(st.just("trace"), st.booleans(), st.none()),
            st.tuples(st.just("assign"), st.none(), st.none()),
        ),
        max_size=25,
    )
)
def test_a_model(steps: list[Any]) -> None:
    """Against a list of pairs, asked in order."""
    f = new()
    model: list[tuple[type, int]] = []
    for step, one, two in steps:
        if step == "add":
            name: dict[str, Any] = {}
            exec(f"def quick(x):\n    y = [x, {two}]\n    return 'fast', {two}", name)
            tagalong.specialize(f, name["quick"], [guards.ArgType(0, one)])
            model.append((one, two))
        elif step == "remove":
            if one < len(model):
                tagalong.remove_specialized(f, one)
                del model[one]
        elif step == "trace":
            tagalong.trace(f) if one else tagalong.untrace(f)
        elif step == "assign":
            f.__code__ = f.__code__
            model.clear()
        else:
            expected = next((("fast", number) for kind, number in model if type(one) is kind), ("slow", one))
            assert f(one) == expected
    hand_made = [
        code for code, _ in tagalong.get_specialized(f) if not isinstance(code, tagalong.RecordedGraph)
    ]
    assert len(hand_made) == len(model)
