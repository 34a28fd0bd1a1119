"""A function of one argument that is specialised as a builtin: its fast calls do not differ from the others."""

from __future__ import annotations

import builtins
import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tagalong
from tagalong import guards

NAMES = (
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "callable",
    "chr",
    "hash",
    "hex",
    "id",
    "iter",
    "len",
    "oct",
    "ord",
    "repr",
)
VALUES: list[Any] = [
    *(0, 65, -1, 10**30, 0x110000, True, 1.5, float("inf"), 2j),
    *("", "a", "ab", "\udc80", b"a", [], [1], (0,), {}, {1}, None, int, sys),
]


def written(name: str) -> Any:
    namespace: dict[str, Any] = {"__builtins__": builtins}
    exec(f"def function(x):\n    return {name}(x)\n", namespace)
    return namespace["function"]


def specialised(name: str, *more: guards.Guard) -> Any:
    function = written(name)
    assert tagalong.specialize(function, getattr(builtins, name), [guards.Builtins(name), *more]) == 0
    return function


def outcome(function: Callable[[Any], Any], value: Any) -> Any:
    try:
        result = function(value)
    except Exception as error:
        return type(error), str(error)
    return "iterator" if hasattr(result, "__next__") else (type(result), result)


@pytest.mark.parametrize("name", NAMES)
def test_results_and_exceptions(name: str) -> None:
    quick, plain = specialised(name), written(name)
    for _ in range(3):
        for value in VALUES:
            assert outcome(quick, value) == outcome(plain, value)


def test_values_that_run_code() -> None:
    class Index(int):
        def __index__(self) -> int:
            return 66

        def __repr__(self) -> str:
            raise StopIteration(self)

        def __hash__(self) -> int:
            tagalong.remove_specialized(functions["hash"])
            return 5

        def __len__(self) -> int:
            return functions["len"]("abc")  # type: ignore[no-any-return]

    functions = {name: specialised(name) for name in ("chr", "repr", "hash", "len")}
    for _ in range(2):
        assert functions["chr"](Index(65)) == chr(Index(65))
        with pytest.raises(StopIteration) as raised:
            functions["repr"](Index(65))
        assert raised.value.args == (65,)
        assert functions["hash"](Index(65)) == 5
        assert functions["len"](Index(65)) == 3
    assert tagalong.get_specialized(functions["hash"]) == []


@pytest.fixture
def restored() -> Iterator[Any]:
    original = builtins.chr
    yield original
    builtins.chr = original


def test_replaced_builtins_are_seen_by_the_next_call(restored: Any) -> None:
    quick, hidden = specialised("chr"), specialised("chr")
    assert [quick(65), quick(66), hidden(65)] == ["A", "B", "A"]
    quick.__globals__["unrelated"] = 1
    assert quick(65) == "A" and len(tagalong.get_specialized(quick)) == 1
    builtins.chr = lambda x: "mock"  # type: ignore[assignment,misc]
    assert quick(65) == "mock" and tagalong.get_specialized(quick) == []
    builtins.chr = restored
    assert [quick(65), hidden(65)] == ["A", "A"]
    hidden.__globals__["chr"] = lambda x: "hidden"
    assert hidden(65) == "hidden" and tagalong.get_specialized(hidden) == []


def test_exceptions_of_audit_hooks_propagate() -> None:
    """`id` is audited: an exception of a hook must propagate, whatever it is."""
    program = """
import sys, tagalong
from tagalong import guards
def identity(x):
    return id(x)
tagalong.specialize(identity, id, [guards.Builtins("id")])
assert identity(5) == identity(5) == id(5)
def hook(event, arguments):
    if event == "builtins.id":
        raise StopIteration(arguments)
sys.addaudithook(hook)
try:
    identity(5)
except StopIteration:
    print("raised")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "raised\n", done.stderr


def test_it_is_watched_as_written() -> None:
    quick = specialised("chr")
    quick(65)
    seen: list[tuple[str, Any]] = []

    def watch(frame: Any, event: str, argument: Any) -> None:
        seen.append((event, getattr(argument, "__name__", argument)))

    old = sys.getprofile()
    sys.setprofile(watch)
    try:
        quick(65)
    finally:
        sys.setprofile(old)
    assert seen[:4] == [("call", None), ("c_call", "chr"), ("c_return", "chr"), ("return", "A")]


def test_uses_are_counted() -> None:
    quick = specialised("len", guards.ArgType(0, str))
    tagalong.specialize(quick, lambda x: "constant", [guards.ArgType(0, int)])
    assert [quick("abc"), quick("ab"), quick(1), quick([1])] == [3, 2, "constant", 1]
    uses = [line.rpartition(", ")[2] for line in tagalong.explain(quick).splitlines()]
    assert uses[:2] == ["used 2 times", "used 1 times"]
    assert tagalong.stats(quick).specialized == (2, 1)
    tagalong.remove_specialized(quick)
    assert tagalong.stats(quick).specialized == tagalong.stats().specialized == ()


def test_nothing_is_kept() -> None:
    quick = specialised("len")
    value = "a text of its own" + str(id(quick))
    gc.collect()
    before = sys.getrefcount(value), sys.getrefcount(len), sys.getrefcount(quick)
    for _ in range(1000):
        quick(value)
        with pytest.raises(TypeError):
            quick(5)
    gc.collect()
    assert (sys.getrefcount(value), sys.getrefcount(len), sys.getrefcount(quick)) == before
