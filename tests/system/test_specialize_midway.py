"""Changes in the middle of a call of a specialised function, made by its guards or by code that it calls."""

from __future__ import annotations

import builtins
import gc
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import tagalong
from specialize_support import Says, fast, new, slow
from tagalong import guards


def generator(x: Any) -> Any:
    yield x


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


def test_changes_in_the_middle_are_seen(replaced_chr: Callable[[], None]) -> None:
    """A call that has begun with specialised code ends with it; what it reads or calls is as changed."""
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


def test_a_guard_that_runs_code_changes_the_results_of_others(replaced_chr: Callable[[], None]) -> None:
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


called: dict[str, Any] = {}  # the function that `acts` changes


def acts(x: Any) -> Any:
    function, action = called["function"], called["action"]
    if action == "remove":
        tagalong.remove_specialized(function)
    elif action == "assign":
        function.__code__ = slow.__code__
    elif action == "specialize":
        for _ in range(20):
            tagalong.specialize(function, lambda x: [x] * 20, [guards.ArgType(0, str)])
    elif action == "trace":
        tagalong.trace(function)
    del function
    called.clear()
    gc.collect()
    local = [x, "kept"]
    return local


@pytest.mark.parametrize("action", ["remove", "assign", "specialize", "trace", "forget"])
def test_specialised_code_does_something_to_its_function(action: str) -> None:
    """The call continues in its code; the next one uses the new state."""
    f = new()
    assert tagalong.specialize(f, acts, [guards.ArgType(0, int)]) == 0
    called.update(function=f, action=action)
    alive = weakref.ref(f)
    if action == "forget":
        del f
        # only the stack refers to it now
        assert (lambda: called["function"])()(1) == [1, "kept"]
        gc.collect()
        assert alive() is None
        return
    assert f(1) == [1, "kept"]
    called.update(function=f, action="nothing")
    assert f(2) == (("slow", 2) if action in ("remove", "assign") else [2, "kept"])
    assert f("s") == (["s"] * 20 if action == "specialize" else ("slow", "s"))


def test_a_generator_goes_on_in_the_code_that_it_has_begun_with() -> None:
    def quick(x: Any) -> Any:
        for number in range(3):
            yield "quick", x + number

    f = new(generator)
    tagalong.specialize(f, quick, [guards.ArgType(0, int)])
    made = f(1)
    assert next(made) == ("quick", 1)
    tagalong.remove_specialized(f)
    f.__code__ = slow.__code__
    gc.collect()
    assert list(made) == [("quick", 2), ("quick", 3)]
    assert f(1) == ("slow", 1)


def test_variables_that_change_are_read_as_they_are() -> None:
    captured = [1]

    def function(x: Any) -> Any:
        return "slow", x, captured

    def quick(x: Any) -> Any:
        nonlocal captured
        before = captured
        x()
        return before, captured

    def change() -> None:
        nonlocal captured
        captured = [2]

    f = types.FunctionType(function.__code__, globals(), "f", None, quick.__closure__)
    assert tagalong.specialize(f, quick, [guards.Cell("captured")]) == 0
    assert f(change) == ([1], [2])
    # The guard does not hold any longer, so the original is called.
    assert f(change)[0] == "slow"


def test_specialised_code_that_leaves_for_the_original(replaced_chr: Callable[[], None]) -> None:
    """A side exit in code written by hand.

    It calls its guard again and then the function, whose specialisation has been removed by then.
    """
    guard = guards.Builtins("chr")
    namespace: dict[str, Any] = {"__builtins__": builtins, "guard": guard}
    text = """
def function(parts, call):
    done = ""
    for part in parts:
        done += chr(part) if type(part) is int else call() or ""
    return done
def quick(parts, call):
    done = ""
    for place, part in enumerate(parts):
        if guard.check() != 1:
            return done + function(parts[place:], call)
        done += "A" if part == 65 else call() or ""
    return done
"""
    exec(text, namespace)
    function = namespace["function"]
    assert tagalong.specialize(function, namespace["quick"].__code__, [guard]) == 0
    assert function([65, None, 65], str) == "AA"
    assert function([65, None, 65, 65], replaced_chr) == "Amockmock"
    assert tagalong.get_specialized(function) == []
