"""TAGALONG=compare, which the program must not notice; and the errors of `compare` and `record`."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tagalong
from conftest import RunPython

CLOSURES = """
def pair():
    n = 0
    def add(k):
        nonlocal n
        n += k
    def get():
        return n
    return add, get
def apply(f, x):
    return f(x)
add, get = pair()
for i in range(5):
    apply(add, i)
print(get(), add.__closure__[0] is get.__closure__[0], add.__code__.co_freevars, get.__closure__[0].cell_contents)
print(add.__qualname__, add.__code__.co_cellvars, pair.__code__.co_cellvars)
"""

FRAMES = """
import inspect, sys, traceback
def who(x):
    frame = sys._getframe(1)
    return frame.f_code.co_name, len(inspect.stack()), [entry.name for entry in traceback.extract_stack()]
def outer(x):
    return who(x), sys._getframe(1).f_lineno
def failing(x):
    return 1 / who(x)[x]
for i in range(5):
    print(outer(i))
    try:
        failing(1.5)
    except TypeError:
        traceback.print_exc(file=sys.stdout)
def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)
print([deep(900) for _ in range(3)])
try:
    deep(100_000)
except RecursionError as error:
    print(error)
"""

REFERENCES = """
import sys
class Thing:
    def __del__(self):
        print("dies")
def drop(thing):
    print(sys.getrefcount(thing))
    del thing
    print("after")
    return 1
def method(self, a, *rest, k=1):
    del a
    print("after", len(rest), k)
Thing.method = method
def calling():
    drop(Thing())
    it = Thing()
    it.method(Thing(), 1, k=2)
    print("kept")
for _ in range(4):
    calling()
"""

SUSPENDING = """
import asyncio
def numbers(n):
    try:
        for i in range(n):
            got = yield i * 2
            n += got or 0
    except KeyError as error:
        yield repr(error)
    finally:
        print("closed")
    return n
async def adding(n):
    total = 0
    for i in range(n):
        total += i
        await asyncio.sleep(0)
    return total
async def counting(n):
    for i in range(n):
        yield i
async def main():
    for _ in range(4):
        print(await adding(3), [x async for x in counting(3)], await asyncio.gather(adding(2), adding(4)))
for _ in range(5):
    print(list(numbers(3)))
    one = numbers(2)
    print(next(one), one.send(3), one.throw(KeyError(1)), list(one))
double = lambda x: x * 2
print([double(x) for x in range(6)], sorted([3, 1, 2], key=lambda x: -x))
asyncio.run(main())
"""


def run_both(run_python: RunPython, folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(program)
    plain, compared = run_python("program.py"), run_python("program.py", TAGALONG="compare")
    assert (compared.stdout, compared.returncode) == (plain.stdout, 0), compared.stderr
    return compared


@pytest.mark.parametrize(
    ("program", "least"),
    [(CLOSURES, 6), (FRAMES, 6), (REFERENCES, 6), (SUSPENDING, 40)],
    ids=["closures", "frames", "references", "suspending"],
)
def test_the_program_does_not_notice(run_python: RunPython, tmp_path: Path, program: str, least: int) -> None:
    done = run_both(run_python, tmp_path, program)
    found = re.fullmatch(r"tagalong: compare: (\d+) replays compared, 0 differ\n", done.stderr)
    assert found and int(found[1]) >= least, done.stderr


def test_differences_of_generators_coroutines_and_lambdas(run_python: RunPython, tmp_path: Path) -> None:
    """A replay runs in a process of its own, so only its process number may differ."""
    program = """
import asyncio, os
f = lambda x: [x, os.getpid()]
def g(n):
    for i in range(n):
        yield os.getpid()
async def h(x):
    await asyncio.sleep(0)
    return os.getpid()
for i in range(4):
    f(i), list(g(2))
    asyncio.run(h(1))
"""
    done = run_both(run_python, tmp_path, program)
    for name, part in ((r"<lambda>", r"result\[1\]"), ("g", "result"), ("h", "result")):
        assert re.search(rf"compare: __main__\.{name} \(.*\), call \d+: {part}: \d+ != \d+", done.stderr)


def test_other_ways_through_a_function_are_recorded_and_compared(
    run_python: RunPython, tmp_path: Path
) -> None:
    program = "import os\ndef f(x):\n    return x + x if type(x) is not str else os.getpid()\n"
    program += "for x in [1] * 3 + [0.5] * 3 + ['a'] * 3:\n    f(x)\n"
    done = run_both(run_python, tmp_path, program)
    calls = [int(call) for call in re.findall(r"call (\d+): result: \d+ != \d+", done.stderr)]
    assert calls and min(calls) > 7, done.stderr  # the first one was recorded and not replayed


@pytest.mark.parametrize("stack", [0, 256], ids=["main", "small_stack"])
def test_deep_calls_while_another_thread_records(run_python: RunPython, tmp_path: Path, stack: int) -> None:
    """The recording waits in C with the evaluation hook in use; calls of this thread must not take C stack."""
    program = f"""
import sys, threading, time
sys.setrecursionlimit(10**6)
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
def waiting():
    time.sleep(1)
threading.Thread(target=waiting, daemon=True).start()
time.sleep(.2)
threading.stack_size({stack} << 10)
thread = threading.Thread(target=lambda: print(depth(900)))
thread.start()
thread.join()
print(depth(20_000))
"""
    assert run_both(run_python, tmp_path, program).stdout == "900\n20000\n"


def test_replays_that_switch_greenlets_are_not_compared(run_python: RunPython, tmp_path: Path) -> None:
    """In the copy of the process the other greenlet would continue with the program."""
    pytest.importorskip("greenlet")
    program = """
import greenlet
main = greenlet.getcurrent()
def switching(x):
    y = x * 2
    main.switch()
    y += 1
    main.switch()
    return x + y
for _ in range(8):
    greenlets = [greenlet.greenlet(switching) for _ in range(3)]
    for x, each in enumerate(greenlets):
        each.switch(x)
    for each in greenlets:
        each.switch()
    print([each.switch() for each in greenlets])
"""
    done = run_both(run_python, tmp_path, program)
    found = re.fullmatch(
        r"tagalong: compare: (\d+) replays compared, 0 differ, (\d+) could not be compared\n", done.stderr
    )
    assert found and int(found[1]) > 2 and int(found[2]) > 2, done.stderr


# --- compare() and record()


def generated(n: int) -> Iterator[int]:
    yield from range(n)


async def awaited(n: int) -> int:
    await asyncio.sleep(0)
    return n


async def generated_later(n: int) -> Any:
    yield n


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (generated, "a generator function, so a call only makes the generator"),
        (awaited, "a coroutine function, so a call only makes the coroutine"),
        (generated_later, "an asynchronous generator function, so a call only makes the generator"),
    ],
)
def test_functions_that_only_make_an_object_are_not_compared(function: Any, kind: str) -> None:
    comparison = tagalong.compare(function, 3)
    assert not comparison and comparison.differences == ()
    assert str(comparison).startswith(f"{function.__name__}: not compared: {function.__name__} is {kind}")
    assert f"{function.__name__}(…)" in str(comparison)
    recording = tagalong.record(function, 3)
    assert recording.stop_reason == "suspends" and kind in repr(recording) and kind in recording.explain()
    with pytest.raises(RuntimeError, match="nothing to replay: .* only makes the"):
        recording.replay(3)
    if function is awaited:
        recording.result.close()


def test_consumers_of_generators_are_compared() -> None:
    assert tagalong.compare(lambda n: list(generated(n)), 3)
    assert tagalong.compare(lambda n: asyncio.run(awaited(n)), 3)


def plain(x: Any, *, k: int = 0) -> Any:
    return x


@pytest.mark.parametrize(
    ("args", "kwargs", "told"),
    [
        ((), {}, "plain() missing 1 required positional argument: 'x'"),
        ((1, 2), {}, "plain() takes 1 positional argument but 2 were given"),
        ((1,), {"y": 2}, "plain() got an unexpected keyword argument 'y'"),
    ],
)
def test_a_call_that_fails_before_the_function_begins(args: Any, kwargs: Any, told: str) -> None:
    comparison = tagalong.compare(plain, *args, **kwargs)
    assert not comparison
    assert str(comparison) == (
        f"plain: not compared: the call fails before the function begins: TypeError: {told}"
    )
    with pytest.raises(TypeError) as raised:
        tagalong.record(plain, *args, **kwargs)
    assert str(raised.value) == told


def test_an_error_of_the_function_itself_is_compared() -> None:
    def failing(x: Any) -> Any:
        raise TypeError(x)

    assert tagalong.compare(failing, 1)
    assert isinstance(tagalong.record(failing, 1).exception, TypeError)


def taking(a: Any, *rest: Any, named: Any = None, **more: Any) -> Any:
    return a


@pytest.mark.parametrize(
    ("args", "kwargs", "name"),
    [
        ((iter(()), (x for x in ())), {}, "rest[0]"),
        (((x for x in ()),), {}, "a"),
        ((1,), {"named": (x for x in ())}, "named"),
        ((1,), {"other": [(x for x in ())]}, "other"),
    ],
)
def test_an_argument_that_cannot_be_copied_is_named(args: Any, kwargs: Any, name: str) -> None:
    with pytest.raises(TypeError) as raised:
        tagalong.compare(taking, *args, **kwargs)
    assert str(raised.value) == (
        f"tagalong.compare: the argument {name} of taking cannot be copied: "
        "TypeError: cannot pickle 'generator' object"
    )


def test_differences_are_printed_in_short() -> None:
    calls = [0]

    def unsteady(size: int) -> list[int]:
        calls[0] += 1
        return [calls[0]] * size

    comparison = tagalong.compare(unsteady, 500)
    assert not comparison and len(comparison.differences) > 500
    lines = str(comparison).splitlines()
    assert len(lines) == 22 and lines[1].startswith("  result[0]: 1 != ")
    assert lines[-1] == f"  … and {len(comparison.differences) - 20} more, in .differences"
    assert repr(comparison) == f"<Comparison of {comparison}>"
    assert repr(tagalong.compare(plain, 1)) == "<Comparison of plain: eager and replay agree>"


def test_values_that_vary_from_call_to_call_are_not_compared() -> None:
    calls = [0]

    def unsteady(x: int) -> int:
        calls[0] += 1
        return x + calls[0]

    def unsteady_error(x: int) -> int:
        calls[0] += 1
        raise ValueError(calls[0])

    comparison = tagalong.compare(unsteady, 10)
    assert not comparison and comparison.differences and comparison.replayed is not None
    assert str(comparison).splitlines()[0] == (
        "unsteady: not compared: unsteady gives different results from call to call even without tagalong "
        "(result: 11 != 14); make it repeatable, and compare again: seed random generators, give times and counters "
        "as arguments"
    ).replace("unsteady", unsteady.__qualname__)
    assert "even without tagalong (exception.args" in str(tagalong.compare(unsteady_error, 10))


class Endless:
    def __getattr__(self, name: str) -> Any:
        return self.other


def endless(n: int) -> int:
    return 1 + endless(n + 1)


def endless_pair(n: int) -> int:
    return (endless_pair if n % 2 else other_of_pair)(n + 1)


def other_of_pair(n: int) -> int:
    return endless_pair(n + 1)


def levels(n: int) -> int:
    try:
        return levels(n + 1)
    except RecursionError:
        return n


def through_getattr(kind: Any) -> Any:
    return kind().a


@pytest.mark.own_stack
@pytest.mark.parametrize(
    ("function", "argument"),
    [(endless, 0), (endless_pair, 0), (levels, 0), (through_getattr, Endless)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_runaway_recursion_ends_at_the_same_level(function: Any, argument: Any) -> None:
    comparison = tagalong.compare(function, argument)
    assert comparison, comparison
    assert comparison.eager is not None and comparison.replayed is not None


def test_long_tracebacks_and_values_are_printed_shortly() -> None:
    calls = [0]

    def deep(n: int, where: int) -> int:
        if n == where:
            raise ValueError("x" * 1000 * (calls[0] % 3))
        return deep(n + 1, where)

    def fails(n: int) -> int:
        calls[0] += 1
        return deep(n, 100 + calls[0] % 3)

    lines = str(tagalong.compare(fails, 0)).splitlines()
    name = deep.__qualname__
    first = deep.__code__.co_firstlineno
    assert len(lines) == 5 and max(map(len, lines)) < 600, lines
    assert lines[1].startswith(f"  exception.args[0]: '{'x' * 119}… and 882 more characters != 'x")
    assert lines[2] == (
        f"  traceback, from entry 102 on: [({name!r}, {first + 3}), ({name!r}, {first + 2})] of 103 entries != "
        f"[({name!r}, {first + 3}), ({name!r}, {first + 3}), ({name!r}, {first + 2})] of 104 entries"
        "   (eager != recording)"
    )


def test_nothing_is_recorded_while_a_profile_function_watches() -> None:
    sys.setprofile(lambda *event: None)
    try:
        recording = tagalong.record(plain, 3)
        comparison = tagalong.compare(plain, 3)
    finally:
        sys.setprofile(None)
    assert recording.stop_reason == "watched"
    assert not comparison and "(watched)" in str(comparison)


TASKS = """
import asyncio
async def item(i):
    await asyncio.sleep(0.001)
    return i * asyncio.get_running_loop().is_running()
async def main():
    total = 0
    for i in range(10):
        total += await item(i)
    for done in await asyncio.gather(*(item(i) for i in range(10))):
        total += done
    return total
print(asyncio.run(main()))
"""


def test_programs_of_asyncio_are_compared(run_python: RunPython, tmp_path: Path) -> None:
    """An event loop is also running in the copy of the process."""
    (tmp_path / "tasks.py").write_text(TASKS)
    done = run_python("tasks.py", TAGALONG="compare")
    assert (done.returncode, done.stdout) == (0, "90\n"), done.stderr
    found = re.search(r"(\d+) replays compared, (\d+) differ", done.stderr)
    assert found is not None and int(found[1]) > 10 and found[2] == "0", done.stderr
