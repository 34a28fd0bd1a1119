"""The ready guards, each called directly and through a specialised function; and guards written in Python."""

from __future__ import annotations

import builtins
import gc
import math
import sys
import types
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagalong
from specialize_support import fast, new
from tagalong import guards
from tagalong.guards import Answer


def ask(guard: guards.Guard, *args: Any, **kwargs: Any) -> Answer:
    return Answer(guard.check(args, kwargs))


def test_answers() -> None:
    assert [answer.value for answer in (Answer.USE, Answer.NOT_NOW, Answer.NEVER)] == [1, 0, -1]


def test_arg_type() -> None:
    guard = guards.ArgType(1, (int, str))
    assert guard.index == 1 and guard.types == (int, str) and guards.ArgType("x", int).index == "x"
    assert ask(guard, 0, 1) == ask(guard, 0, "s") == Answer.USE
    assert ask(guard, 0, 1.5) == ask(guard, 0, True) == ask(guard, 0) == ask(guard) == Answer.NOT_NOW
    named = guards.ArgType("key", int)
    assert ask(named, key=1) == Answer.USE and ask(named, 1) == ask(named, other=1) == Answer.NOT_NOW
    assert guards.ArgType(index=0, types=[int]).types == (int,)


def test_where_arguments_are() -> None:
    def function(a: Any, b: Any, *, key: Any = 1) -> Any:
        return "slow"

    def quick(a: Any, b: Any, *, key: Any = 1) -> Any:
        return "fast"

    def rest(a: Any, *more: Any, key: Any = 1, **others: Any) -> Any:
        return "slow"

    def quick_rest(a: Any, *more: Any, key: Any = 1, **others: Any) -> Any:
        return "fast"

    f = new(function)
    tagalong.specialize(f, quick, [guards.ArgType("b", str), guards.ArgType("key", int)])
    assert (f(1, "s"), f(b="s", a=1), f(1, "s", key="k"), f(1, 2)) == ("fast", "fast", "slow", "slow")
    with pytest.raises(ValueError, match=r"function\(\) has no argument 2$"):
        tagalong.specialize(f, quick, [guards.ArgType(2, int)])
    with pytest.raises(ValueError, match=r"has no argument 'c'"):
        tagalong.specialize(f, quick, [guards.ArgType("c", int)])
    g = new(rest)
    tagalong.specialize(g, quick_rest, [guards.ArgType(2, int), guards.ArgType("z", str)])
    assert (g(1, 2, 3, z="s"), g(1, 2, z="s"), g(1, 2, 3), g(1, 2, 3, key=0, y=1, z="s")) == (
        "fast",
        "slow",
        "slow",
        "fast",
    )
    shared = guards.ArgType("b", str)
    tagalong.specialize(f, quick, [shared])
    with pytest.raises(ValueError, match="not where it was"):
        tagalong.specialize(new(lambda b: 0), lambda b: 0, [shared])


def test_type() -> None:
    class C:
        pass

    class D(C):
        pass

    guard = guards.Type(0, D)
    assert guard.type is D and ask(guard, D()) == Answer.USE and ask(guard, C()) == Answer.NOT_NOW
    f = new()
    assert tagalong.specialize(f, fast, [guard]) == 0 and f(D())[0] == "fast"
    C.attribute = 1  # type: ignore[attr-defined]
    assert ask(guard, D()) == Answer.NEVER and f(D())[0] == "slow" and tagalong.get_specialized(f) == []
    assert tagalong.specialize(f, fast, [guard]) == 1
    assert ask(guards.Type(0, int), 1) == Answer.USE


def test_identity() -> None:
    thing: list[Any] = []
    guard = guards.Identity(0, thing)
    assert guard.object is thing and ask(guard, thing) == Answer.USE
    assert ask(guard, []) == ask(guard) == Answer.NOT_NOW
    assert ask(guards.Identity("x", None), x=None) == Answer.USE


def test_value() -> None:
    for one, two in (
        (0.0, -0.0),
        (1, 1.0),
        (1, True),
        ("a", b"a"),
        ((1, 2), (1, 2.0)),
        ((1,), (1, 2)),
        (None, 0),
        (0j, -0j),
        ("a", "b"),
        (10**30, 10**30 + 1),
    ):
        assert ask(guards.Value(0, one), two) == ask(guards.Value(0, two), one) == Answer.NOT_NOW
        assert ask(guards.Value(0, one), one) == ask(guards.Value(0, two), two) == Answer.USE
    assert ask(guards.Value(0, math.nan), float("nan")) == Answer.USE
    assert ask(guards.Value(0, (1, "a", (2.5,))), (1, "".join("a"), (float("2.5"),))) == Answer.USE

    class Evil:
        def __eq__(self, other: Any) -> bool:
            raise AssertionError("a guard has run code of the program's")

        __hash__ = None  # type: ignore[assignment]

    for value in (1, (1, 2), "a"):
        assert (
            ask(guards.Value(0, value), Evil())
            == ask(guards.Value(0, (1, value)), (1, Evil()))
            == Answer.NOT_NOW
        )
    deep: Any = ()
    for _ in range(200):
        deep = (deep,)
    for wrong in ([], {}, Evil(), (1, []), np.float64(1), deep):
        with pytest.raises(TypeError, match="cannot be guarded; Identity guards objects"):
            guards.Value(0, wrong)


def test_dict() -> None:
    namespace: dict[Any, Any] = {"a": 1, "b": [2]}
    guard = guards.Dict(namespace, "a", "missing")
    assert guard.dict is namespace and guard.names == ("a", "missing")
    assert guards.Dict(namespace, ("a", "b")).names == guards.Dict(namespace, ["a", "b"]).names == ("a", "b")
    assert ask(guard) == Answer.USE
    namespace["b"], namespace[1] = 3, 4
    assert ask(guard) == Answer.USE
    other = guards.Dict(namespace, "a")
    namespace["missing"] = 1
    assert ask(guard) == Answer.NEVER and ask(other) == Answer.USE
    del namespace["missing"]
    assert ask(guard) == Answer.NEVER
    namespace["a"] = 1
    assert ask(other) == Answer.USE
    namespace["a"] = 2
    namespace["a"] = 1
    assert ask(other) == Answer.USE, "the guard was not called in between"
    del namespace["a"]
    assert ask(other) == Answer.NEVER

    class Key:
        def __hash__(self) -> int:
            return hash("name")

        def __eq__(self, other: Any) -> bool:
            raise AssertionError("a guard has run code of the program's")

    strange: dict[Any, Any] = {Key(): 1}
    guard = guards.Dict(strange, "name")
    strange[5] = 1
    assert ask(guard) == Answer.USE


def test_globals() -> None:
    namespace: dict[str, Any] = {"guards": guards, "tagalong": tagalong, "variable": 1}
    exec(
        "def f(): return variable\n"
        "def quick(): return 'fast'\n"
        "guard = guards.Globals('variable')\n"
        "result = tagalong.specialize(f, quick, [guard])\n",
        namespace,
    )
    f, guard = namespace["f"], namespace["guard"]
    assert guard.dict is namespace and namespace["result"] == 0 and f() == "fast"
    namespace["other"] = 1
    assert f() == "fast"
    namespace["variable"] = 2
    assert f() == 2 and tagalong.get_specialized(f) == [] and ask(guard) == Answer.NEVER
    elsewhere = guards.Globals("variable")
    assert tagalong.specialize(f, namespace["quick"], [elsewhere]) == 0
    assert elsewhere.dict is namespace and f() == "fast"
    assert tagalong.specialize(new(), fast, [elsewhere]) == 1


def with_builtins(text: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"guards": guards, "tagalong": tagalong, "__builtins__": dict(vars(builtins))}
    exec(text, namespace)
    return namespace


SPECIALISED_LEN = """
def func(): return len("abc")
def fast(): return "fast"
guard = guards.Builtins(("len",))
result = tagalong.specialize(func, fast, [guard])
"""


def test_builtins() -> None:
    for where in ("globals", "builtins"):
        made = with_builtins(SPECIALISED_LEN)
        assert made["result"] == 0 and made["func"]() == "fast" and made["guard"].names == ("len",)
        made["something"] = 1
        made["__builtins__"]["something"] = 1
        assert made["func"]() == "fast"
        (made if where == "globals" else made["__builtins__"])["len"] = lambda x: "mock"
        assert made["func"]() == "mock" and tagalong.get_specialized(made["func"]) == []
        assert ask(made["guard"]) == Answer.NEVER


@pytest.mark.parametrize("before", ["len = lambda x: 'mock'", "__builtins__['len'] = lambda x: 'mock'"])
def test_builtins_that_were_replaced_before(before: str) -> None:
    made = with_builtins(before + SPECIALISED_LEN)
    assert made["result"] == 1 and made["func"]() == "mock"
    assert tagalong.get_specialized(made["func"]) == [] and ask(made["guard"]) == Answer.NEVER


def test_builtins_that_come_later() -> None:
    made = with_builtins(
        "__builtins__['new_one'] = 3" + SPECIALISED_LEN.replace('"len"', '"new_one", "missing"')
    )
    assert made["result"] == 0 and made["func"]() == "fast"
    made["__builtins__"]["missing"] = 1
    assert made["func"]() == 3


def test_func() -> None:
    def inlined(x: Any = 1, *, y: Any = 2) -> Any:
        return x

    for change in (
        lambda: setattr(inlined, "__code__", (lambda x=1, *, y=2: 0).__code__),
        lambda: setattr(inlined, "__defaults__", (3,)),
        lambda: setattr(inlined, "__kwdefaults__", {"y": 3}),
        lambda: setattr(inlined, "__defaults__", None),
    ):
        guard = guards.Func(inlined)
        assert guard.function is inlined and guard.code is inlined.__code__ and ask(guard) == Answer.USE
        tagalong.trace(inlined)
        assert ask(guard) == Answer.USE
        tagalong.specialize(inlined, str, [guards.ArgType(0, bytes)])
        assert ask(guard) == Answer.USE
        tagalong.untrace(inlined)
        inlined.other = 1  # type: ignore[attr-defined]
        assert ask(guard) == Answer.USE
        f = new()
        assert tagalong.specialize(f, fast, [guard]) == 0 and f(1) == ("fast", 1)
        change()
        assert ask(guard) == Answer.NEVER and f(1) == ("slow", 1) and tagalong.get_specialized(f) == []
        assert tagalong.specialize(f, fast, [guard]) == 1


def test_cell() -> None:
    captured: Any = 1

    def change(value: Any) -> None:
        nonlocal captured
        captured = value

    def function(x: Any) -> Any:
        return captured

    cell = function.__closure__[0]  # type: ignore[index]
    guard = guards.Cell(cell)
    assert guard.cell is cell and guard.content == 1 and ask(guard) == Answer.USE
    change(2)
    assert ask(guard) == Answer.NOT_NOW
    change(1)
    assert ask(guard) == Answer.USE
    named = guards.Cell("captured")
    assert named.cell is None and ask(named) == Answer.NOT_NOW

    def quick(x: Any) -> Any:
        return "fast", captured

    assert tagalong.specialize(function, quick, [named]) == 0 and function(0) == ("fast", 1)
    change("other")
    assert function(0) == "other" and len(tagalong.get_specialized(function)) == 1
    change(1)
    assert function(0) == ("fast", 1)
    with pytest.raises(ValueError, match=r"has no free variable 'none'"):
        tagalong.specialize(function, quick, [guards.Cell("none")])
    empty = types.CellType()
    assert ask(guards.Cell(empty)) == Answer.USE
    guard = guards.Cell(empty)
    empty.cell_contents = 1
    assert ask(guard) == Answer.NOT_NOW


def test_attribute() -> None:
    module = types.ModuleType("module")
    module.name = 1  # type: ignore[attr-defined]
    guard = guards.Attribute(module, "name", "missing")
    assert guard.object is module and guard.names == ("name", "missing") and ask(guard) == Answer.USE
    module.other = 1  # type: ignore[attr-defined]
    assert ask(guard) == Answer.USE
    module.missing = 1  # type: ignore[attr-defined]
    assert ask(guard) == Answer.NEVER

    class Base:
        inherited = 1

        @property
        def computed(self) -> int:
            return 1

    class C(Base):
        own = 2

    guard = guards.Attribute(C, "own", "inherited")
    C.other = 1  # type: ignore[attr-defined]
    assert ask(guard) == Answer.USE
    Base.inherited = 2
    assert ask(guard) == Answer.NEVER

    instance = C()
    instance.x = 1  # type: ignore[attr-defined]
    guard, another = guards.Attribute(instance, "x", "inherited"), guards.Attribute(instance, "x")
    instance.y = 1  # type: ignore[attr-defined]
    assert ask(guard) == ask(another) == Answer.USE
    instance.inherited = 5
    assert ask(guard) == Answer.NEVER and ask(another) == Answer.USE
    instance.__dict__ = {"x": 1}
    assert ask(another) == Answer.NEVER
    guard = guards.Attribute(instance, "x")
    instance.__class__ = Base
    assert ask(guard) == Answer.NEVER
    with pytest.raises(TypeError, match="'computed' of C is computed by its class"):
        guards.Attribute(C(), "computed")

    class Strange:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError

    with pytest.raises(TypeError, match="looked up by code of its own"):
        guards.Attribute(Strange(), "x")
    assert ask(guards.Attribute(3, "nothing")) == ask(guards.Attribute(object(), "x")) == Answer.USE


class Subclass(np.ndarray):
    pass


def test_array() -> None:
    array = np.zeros((2, 3))
    guard = guards.Array(0, float, 2, "C")
    assert (guard.dtype, guard.ndim, guard.layout) == (np.dtype(float), 2, "C")
    assert ask(guard, array) == ask(guard, np.ones((5, 1))) == Answer.USE
    for other in (
        array.T,
        np.zeros(3),
        array.astype(np.float32),
        array[:, ::2],
        np.zeros((1, 1)).view(Subclass),
        np.ma.zeros((2, 3)),
        1.0,
        None,
    ):
        assert ask(guard, other) == Answer.NOT_NOW
    assert ask(guards.Array("x"), x=np.zeros(0)) == ask(guards.Array(0, layout="F"), array.T) == Answer.USE
    assert ask(guards.Array(0, ">f8"), array.astype(">f8")) == Answer.USE
    assert ask(guards.Array(0, ">f8"), array) == ask(guards.Array(0, ndim=0), array) == Answer.NOT_NOW
    record = np.dtype([("a", "i4")])
    assert ask(guards.Array(0, record), np.zeros(1, np.dtype([("a", "i4")]))) == Answer.USE
    for arguments, error in (
        ((0, "no such dtype"), TypeError),
        ((0, None, -1), ValueError),
        ((0, None, 65), ValueError),
        ((0, None, "2"), TypeError),
        ((0, None, None, "A"), ValueError),
        ((0, None, None, 3), TypeError),
        ((), TypeError),
    ):
        with pytest.raises(error):
            guards.Array(*arguments)  # type: ignore[arg-type]


def test_relation() -> None:
    thing = object()
    for relation, left, right, answer in (
        ("is", thing, thing, 1),
        ("is", [], [], 0),
        ("is not", [], [], 1),
        ("same type", 1, 2, 1),
        ("same type", 1, True, 0),
        ("same shape", np.zeros((2, 3)), np.ones((2, 3), int), 1),
        ("same shape", np.zeros((2, 3)), np.zeros((3, 2)), 0),
        ("same shape", np.zeros((2, 3)), 3, 0),
        ("<", 1, 2.5, 1),
        ("<", 2, 1, 0),
        ("<=", "a", "a", 1),
        ("==", 1, 1.0, 1),
        ("!=", 1, 1, 0),
        (">", 10**30, 1e10, 1),
        (">=", float("nan"), 1.0, 0),
        ("<", "a", 1, 0),
        ("<", [], [1], 0),
        ("<", True, 2, 0),
    ):
        assert ask(guards.Relation(0, relation, 1), left, right) == answer, relation
        assert ask(guards.Relation("a", relation, "b"), a=left, b=right) == answer, relation
    guard = guards.Relation(0, "<", "x")
    assert (guard.one, guard.relation, guard.other) == (0, "<", "x") and ask(guard, 1) == Answer.NOT_NOW
    for wrong in ("", "in", "IS", "===", "is\0"):
        with pytest.raises(ValueError):
            guards.Relation(0, wrong, 1)


READY = [
    guards.ArgType,
    guards.Array,
    guards.Attribute,
    guards.Builtins,
    guards.Cell,
    guards.Dict,
    guards.Func,
    guards.Globals,
    guards.Identity,
    guards.Recorded,
    guards.Relation,
    guards.Type,
    guards.Value,
]


@pytest.mark.parametrize("kind", READY)
def test_bad_arguments_of_guards(kind: Any) -> None:
    assert kind.__doc__ and kind.__module__ == "tagalong.guards"
    for args, kwargs in (
        ((), {}),
        ((None,) * 9, {}),
        ((object(),), {}),
        ((-1, int), {}),
        ((1.5, int), {}),
        ((10**30, int), {}),
        ((0, ()), {}),
        ((0, 3), {}),
        ((3, 4, 5), {"wrong": 1}),
    ):
        if (kind, len(args)) in (
            (guards.Identity, 2),
            (guards.Value, 2),
            (guards.Attribute, 2),
            (guards.Array, 2),
        ):
            continue
        with pytest.raises((TypeError, ValueError, OverflowError)):
            kind(*args, **kwargs)
    unset = kind.__new__(kind)
    with pytest.raises(RuntimeError, match="__init__ was not called"):
        unset.check((), {})
    with pytest.raises(RuntimeError, match="__init__ was not called"):
        tagalong.specialize(new(), fast, [unset])
    for name in (
        "index",
        "types",
        "dict",
        "names",
        "cell",
        "content",
        "function",
        "code",
        "object",
        "value",
        "dtype",
    ):
        getattr(unset, name, None)
    with pytest.raises(TypeError):
        unset.init(3)
    for wrong in (((), 3), (3, {}), ((), [])):
        with pytest.raises(TypeError):
            unset.check(*wrong)


def test_subclasses_of_ready_guards() -> None:
    class Odd(guards.ArgType):
        def __init__(self, index: int) -> None:
            super().__init__(index, int)

        def check(self, args: Any = (), kwargs: Any = None) -> int:
            answer = super().check(args, kwargs or {})
            return answer and args[self.index] % 2

    f = new()
    assert tagalong.specialize(f, fast, [Odd(0)]) == 0
    assert [f(x)[0] for x in (1, 2, "s", 3)] == ["fast", "slow", "slow", "fast"]


def test_guards_that_check_nothing() -> None:
    f = new()
    assert tagalong.specialize(f, fast, [guards.Guard()]) == 0
    with pytest.raises(
        NotImplementedError, match=r"tagalong.guards.Guard has no method check\(args, kwargs\)"
    ):
        f(1)

    class Empty(guards.Guard):
        check = None  # type: ignore[assignment]

    g = new()
    tagalong.specialize(g, fast, [Empty()])
    with pytest.raises(TypeError, match="not callable"):
        g(1)
    assert guards.Guard().init(f) == 0


def test_guards_are_collected() -> None:
    class Own(guards.Guard):
        pass

    thing = Own()
    cycle = [guards.Identity(0, thing), guards.Dict({"a": thing}, "a"), guards.Cell(types.CellType(thing))]
    cycle.append(guards.Attribute(types.SimpleNamespace(a=cycle), "a"))
    thing.cycle = cycle  # type: ignore[attr-defined]
    alive = weakref.ref(thing)
    del thing, cycle
    gc.collect()
    assert alive() is None


def test_reference_counts_of_guards() -> None:
    thing, namespace = object(), {"name": None}
    counts = [sys.getrefcount(x) for x in (thing, namespace, int)]
    for _ in range(50):
        made = [guards.Identity(0, thing), guards.Dict(namespace, "name"), guards.ArgType(0, int)]
        made[0].__init__(0, 3)  # type: ignore[misc]
        made[0].__init__(0, thing)  # type: ignore[misc]
        for guard in made:
            guard.check((thing,), {})
    del made, guard
    assert [sys.getrefcount(x) for x in (thing, namespace, int)] == counts


@given(
    st.one_of(st.integers(), st.floats(), st.text(), st.binary(), st.booleans(), st.complex_numbers()),
    st.integers(),
)
def test_values_are_themselves(value: Any, other: int) -> None:
    assert ask(guards.Value(0, value), value) == Answer.USE
    assert ask(guards.Value(0, value), other) == (type(value) is int and value == other)
