"""Instrumented code: which hooks exist, in which order, and that the program does not notice them."""

import asyncio
import contextlib
import inspect
import opcode
import sys
import traceback
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

from rewriter_support import nested
from tagalong import _core, rewriter


def with_code(function: Callable[..., Any], code: CodeType) -> Callable[..., Any]:
    """The same function with another code object."""
    assert isinstance(function, FunctionType)
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def hooked(function: Callable[..., Any]) -> tuple[Callable[..., Any], Any]:
    """The function with empty hooks everywhere, inner functions included, and the hooks."""
    hooks = rewriter.Hooks()
    return with_code(function, rewriter.instrument(function, hooks=hooks, inner=True)), hooks


def simple(x: Any) -> Any:
    ret = 2 * x
    return ret


def test_order_of_hooks() -> None:
    seen: list[str] = []
    code = rewriter.instrument(
        simple,
        before=lambda index: seen.append(f"before {index}"),
        after=lambda index: seen.append(f"after {index}"),
    )
    assert with_code(simple, code)(21) == 42
    # 0 RESUME, 1 LOAD_CONST, 2 LOAD_FAST, 3 BINARY_OP, 4 STORE_FAST, 5 LOAD_FAST, 6 RETURN_VALUE
    expected = ["after 0"]
    for index in range(1, 6):
        expected += [f"before {index}", f"after {index}"]
    assert seen == [*expected, "before 6"]


def test_calls_are_one_place() -> None:
    def calls(f: Any) -> Any:
        return f(1, key=2)

    seen: list[int] = []
    code = rewriter.instrument(calls, before=seen.append)
    assert with_code(calls, code)(lambda *args, **kwargs: (args, kwargs)) == ((1,), {"key": 2})
    if sys.version_info < (3, 12):
        # 1 PUSH_NULL, 2 LOAD_FAST, 3 LOAD_CONST, 4 LOAD_CONST, 5 KW_NAMES, 6 PRECALL, 7 CALL, 8 RETURN_VALUE
        assert seen == [1, 2, 3, 4, 7, 8]
    else:
        # 1 LOAD_FAST, 2 PUSH_NULL, 3 LOAD_CONST, 4 LOAD_CONST, 5 LOAD_CONST, 6 CALL_KW, 7 RETURN_VALUE
        assert seen == [1, 2, 3, 4, 5, 6, 7]


def test_chosen_instructions() -> None:
    seen: list[int] = []
    code = rewriter.instrument(simple, after=seen.append, where=[3])
    assert with_code(simple, code)(4) == 8
    assert seen == [3]
    hook = 11 if sys.version_info < (3, 12) else 8  # code units
    assert len(code.co_code) == len(simple.__code__.co_code) + 2 * hook


def test_delegation_has_hooks_in_front_of_send_only() -> None:
    def delegates(it: Any) -> Any:
        got = yield from it
        yield got

    _, offsets, before, after, _ = _core.rewriter_instrument(delegates.__code__, rewriter.Hooks(), None, None)
    opcodes = [delegates.__code__.co_code[2 * unit] for unit in _core.rewriter_offsets(delegates.__code__)]
    opmap = opcode.opmap
    send = opcodes.index(opmap["SEND"])
    delegation = ["SEND", "YIELD_VALUE", "RESUME", "JUMP_BACKWARD_NO_INTERRUPT"]
    assert opcodes[send : send + 4] == [opmap[name] for name in delegation]
    assert before[send] >= 0
    assert before[send + 1 : send + 4] == [-1, -1, -1]
    assert after[send : send + 4] == [-1, -1, -1, -1]
    plain_yield = opcodes.index(opmap["YIELD_VALUE"], send + 2)
    assert after[plain_yield] > offsets[plain_yield + 1], "behind its RESUME"


# --- the program notices nothing


def loops(n: int) -> list[int]:
    result = []
    for i in range(n):
        if i % 3 == 0:
            continue
        j = 0
        while j < i:
            j += 1
            if j == 4:
                break
        else:
            result.append(-j)
        # fmt: off
        result.append(i
                      + j)
        # fmt: on
    return [x * 2 for x in result if x]


def handlers(n: int) -> list[Any]:
    log: list[Any] = []
    for i in range(n):
        try:
            try:
                if i == 1:
                    raise ValueError(i)
                log.append(10 // (i - 2))
            except ZeroDivisionError as error:
                log.append(str(error))
                raise KeyError(i) from error
            finally:
                log.append("finally")
        except (ValueError, KeyError) as error:
            log.append(repr(error))
            continue
        else:
            log.append("else")
    return log


def managers(n: int) -> list[Any]:
    log: list[Any] = []

    @contextlib.contextmanager
    def manager(name: str) -> Iterator[str]:
        log.append(("in", name))
        try:
            yield name
        except RuntimeError as error:
            log.append(("caught", str(error)))
        finally:
            log.append(("out", name))

    for i in range(n):
        with manager("a") as a, manager("b"):
            if i == 2:
                raise RuntimeError(a)
            if i == 3:
                break
    return log


def generators(n: int) -> list[Any]:
    def inner(m: int) -> Iterator[Any]:
        got = None
        for i in range(m):
            try:
                got = yield (i, got)
            except ValueError as error:
                got = str(error)
        return got

    def outer(m: int) -> Iterator[Any]:
        result = yield from inner(m)
        yield result

    log: list[Any] = []
    gen: Any = outer(n + 4)
    log.append(next(gen))
    log.append(gen.gi_yieldfrom is not None)
    log.append(gen.send("sent"))
    log.append(gen.throw(ValueError("thrown")))
    log.append(gen.gi_frame.f_lineno)
    log += list(gen)
    closed: Any = outer(n + 4)
    next(closed)
    closed.close()
    failing: Any = outer(n + 4)
    next(failing)
    try:
        failing.throw(KeyError("through"))
    except KeyError as error:
        log.append([line.lineno for line in traceback.extract_tb(error.__traceback__)])
    return log


def coroutines(n: int) -> Any:
    class Context:
        async def __aenter__(self) -> int:
            await asyncio.sleep(0)
            return n

        async def __aexit__(self, *exc_info: object) -> bool:
            await asyncio.sleep(0)
            return exc_info[0] is ValueError

    async def numbers(m: int) -> Any:
        for i in range(m):
            await asyncio.sleep(0)
            yield i

    async def main() -> Any:
        log = [x async for x in numbers(n) if x]
        async with Context() as value:
            log.append(value)
            raise ValueError
        async for x in numbers(3):
            log.append(x)
        return log, await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2))

    return asyncio.run(main())


def groups(n: int) -> list[Any]:
    log: list[Any] = []
    try:
        raise ExceptionGroup("all", [ValueError(n), TypeError(n), ExceptionGroup("in", [OSError(n)])])
    except* ValueError as error:
        log.append(repr(error))
    except* (TypeError, OSError) as error:
        log.append(repr(error))
    return log


def patterns(n: int) -> list[Any]:
    class Point:
        __match_args__ = ("x", "y")

        def __init__(self, x: int, y: int) -> None:
            self.x, self.y = x, y

    log: list[Any] = []
    for value in (Point(1, n), {"k": [1, 2, n], "l": 3}, [n, 2], "s", 5, None):
        match value:
            case Point(1, y):
                log.append(("point", y))
            case {"k": [first, *rest], **others}:
                log.append((first, rest, others))
            case [a, b] if a > b:
                log.append(a - b)
            case str() | int():
                log.append("scalar")
            case _:
                log.append("other")
    return log


def classes(n: int) -> Any:
    class Base:
        def value(self) -> int:
            return n

    class Derived(Base, metaclass=type):
        attribute: int = n

        def value(self) -> int:
            return super().value() + self.attribute

        @property
        def again(self) -> int:
            return self.value() * 2

    one = Derived()
    one.attribute = 7
    del one.attribute
    return one.again, Derived.__annotations__, sys._getframe().f_lineno, inspect.currentframe() is not None


def unpacking(n: int) -> Any:
    first, *middle, last = range(n + 3)
    (a, b), c = (1, 2), 3
    numbers = {**{"a": a}, "b": b}
    numbers["c"] = numbers.setdefault("d", c)
    assert first < last, "message"
    x = y = n
    x += (lambda *args, **kwargs: len(args) + len(kwargs))(*middle, **numbers)
    del y
    return first, middle, last, numbers, x, f"{x!r:>10}{n}", [1, 2, 3][:n:1], n if n < 2 else -n, not n


PROGRAMS = [
    loops, handlers, managers, generators, coroutines, groups, patterns, classes, unpacking,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_results_are_the_same(program: Callable[[int], Any]) -> None:
    instrumented, hooks = hooked(program)
    for n in range(6):
        assert instrumented(n) == program(n)
    assert hooks.calls > 50


def traced(function: Callable[[int], Any], n: int, opcodes: bool = False) -> list[Any]:
    """The events that a trace function gets for the code of this file."""
    events: list[Any] = []

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != __file__:
            return None
        shown = repr(arg)[:60] if event == "exception" else None
        events.append((event, frame.f_code.co_qualname, frame.f_lineno, shown))
        return trace

    sys.settrace(trace)
    try:
        function(n)
    finally:
        sys.settrace(None)
    return events


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_trace_function_sees_the_same_events(program: Callable[[int], Any]) -> None:
    instrumented, hooks = hooked(program)
    for n in (0, 1, 5):
        expected = traced(program, n)
        assert traced(instrumented, n) == expected
        assert len(expected) >= 5
    assert hooks.calls > 50


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_profile_function_sees_the_same_events(program: Callable[[int], Any]) -> None:
    def profiled(function: Callable[[int], Any]) -> list[Any]:
        events: list[Any] = []

        def profile(frame: FrameType, event: str, arg: Any) -> None:
            if frame.f_code.co_filename == __file__:
                events.append(
                    (event, frame.f_code.co_qualname, frame.f_lineno, getattr(arg, "__name__", None))
                )

        sys.setprofile(profile)
        try:
            function(4)
        finally:
            sys.setprofile(None)
        return events

    instrumented, _ = hooked(program)
    assert profiled(instrumented) == profiled(program)


def test_an_endless_loop_gives_the_same_events() -> None:
    def endless() -> None:
        while True:
            pass

    def first_events(function: Callable[[], None]) -> list[int]:
        lines: list[int] = []

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            lines.append(frame.f_lineno - function.__code__.co_firstlineno)
            if len(lines) >= 4:
                raise TimeoutError
            return trace

        # An empty loop may cause no event in which to stop it, so the test stops it in another manner.
        import _thread
        import threading

        timer = threading.Timer(0.3, _thread.interrupt_main)
        timer.start()
        sys.settrace(trace)
        try:
            function()
        except (TimeoutError, KeyboardInterrupt):
            pass
        finally:
            sys.settrace(None)
            timer.cancel()
            timer.join()
        return lines

    instrumented, hooks = hooked(endless)
    assert first_events(instrumented) == first_events(endless)
    assert hooks.calls > 0


def test_tracebacks_are_the_same() -> None:
    def fails(n: int) -> float:
        # fmt: off
        return [1,
                2][n + 5]
        # fmt: on

    def report(function: Callable[[int], Any]) -> list[str]:
        try:
            function(0)
        except IndexError as error:
            return traceback.format_exception(error)[1:]
        raise AssertionError

    instrumented, _ = hooked(fails)
    expected, got = report(fails), report(instrumented)
    assert expected[1:] == got[1:]
    assert expected[0].splitlines()[1:] == got[0].splitlines()[1:]


def test_hooks_use_no_recursion_depth() -> None:
    def depth(n: int) -> int:
        # No comparison: COMPARE_OP counts a level of recursion, unless it is specialised together with its jump.
        return 1 + function(n - 1) if n else 1

    def deepest() -> int:
        low, high = 1, sys.getrecursionlimit()
        while low < high:
            middle = (low + high + 1) // 2
            try:
                function(middle)
                low = middle
            except RecursionError:
                high = middle - 1
        return low

    function: Callable[[int], int] = depth
    plain = deepest()
    original = depth.__code__
    depth.__code__ = rewriter.instrument(depth, hooks=rewriter.Hooks())
    assert depth.__code__ is not original
    assert deepest() == plain > 100


def test_an_exception_from_a_hook_is_an_exception_there() -> None:
    def guarded(x: int) -> str:
        try:
            y = x + 1
        except LookupError as error:
            return f"caught {error}"
        return str(y)

    def hook(index: int) -> None:
        if index == target:
            raise KeyError(index)

    code = rewriter.instrument(guarded, before=hook)
    opcodes = [guarded.__code__.co_code[2 * unit] for unit in _core.rewriter_offsets(guarded.__code__)]
    target = opcodes.index(opcode.opmap["BINARY_OP"])
    assert with_code(guarded, code)(1) == f"caught {target}"
    target = opcodes.index(opcode.opmap["RESUME"])  # in front of which there is no hook
    assert with_code(guarded, code)(1) == "2"


def test_large_functions() -> None:
    """Arguments and jumps that need EXTENDED_ARG, before and after."""
    body = "".join(f"    x{i} = {i + 1000} + x if x != {i} else name{i}\n" for i in range(400))
    source = f"def large(x):\n  for _ in range(3):\n{body}    x += 1\n  return x, x399\n"
    scope: dict[str, Any] = {f"name{i}": i for i in range(400)}
    exec(source, scope)
    large = scope["large"]
    instrumented, hooks = hooked(large)
    assert instrumented(5) == large(5)
    assert hooks.calls > 3 * 400 * 8
    assert len(list(nested(instrumented.__code__))) == 1
    # Done twice: constants of the first time are constants like any other.
    twice, more = hooked(instrumented)
    assert twice(5) == large(5)
    assert more.calls > 5 * hooks.calls / 2


def test_an_assembled_program() -> None:
    if sys.version_info < (3, 12):
        leave, repeat = "POP_JUMP_FORWARD_IF_FALSE to 30", "POP_JUMP_FORWARD_IF_TRUE to 20"
    else:
        leave = "TO_BOOL\nPOP_JUMP_IF_FALSE to 30"
        repeat = f"{leave}\nJUMP_BACKWARD to 20"
    code = rewriter.assemble(
        f"""
        code 0 power
          arguments 2
          flags OPTIMIZED NEWLOCALS
          slots base exponent result
          constant 0 1
          # while exponent: result *= base; exponent -= 1
          10 RESUME 0
             LOAD_CONST 0
             STORE_FAST result
             LOAD_FAST exponent
             {leave}
          20 LOAD_FAST result
             LOAD_FAST base
             BINARY_OP *=
             STORE_FAST result
             LOAD_FAST exponent
             LOAD_CONST 0
             BINARY_OP -=
             COPY 1
             STORE_FAST exponent
             {repeat}
          30 LOAD_FAST result @ 7:4-7:10
             RETURN_VALUE
        """
    )
    power = FunctionType(code, {})
    assert power(3, 4) == 81
    assert power(3, 0) == 1
    assert code.co_stacksize == 2
    assert list(code.co_positions())[-2:] == [(7, 7, 4, 10), (7, 7, None, None)]


def test_objects_as_constants() -> None:
    marker = object()
    instrumented = rewriter.instrument(simple, hooks=print)
    listing = rewriter.disassemble(instrumented)
    assert "object '<built-in function print>'" in listing
    with pytest.raises(rewriter.RewriteError):
        rewriter.assemble(listing)
    again = rewriter.assemble(listing, {"<built-in function print>": marker})
    assert marker in again.co_consts
    assert rewriter.assemble(listing, {"<built-in function print>": print}).co_code == instrumented.co_code
