"""Class bodies, module code and exec: frames whose variables live in a mapping; `__class__`, cells, metaclasses."""
# fmt: off
# ruff: noqa: B018, B023, E402, E501, E702, E704, E722, F401, F403, F405, F811, F821, F841, F842, I001, N805, PLW0602, S102, UP008


# program: class_made_in_a_function
# f(1) => record, hit
# f("x") => hit
def f(x):
    y = [x]

    class C:
        a = x
        b = y, a
        for i in range(3):
            a = a, i
        del i

        def m(self):
            return __class__.__name__, self.a, x

        @property
        def p(self):
            return y

        @staticmethod
        def s(v):
            return v, x

        @classmethod
        def c(cls):
            return cls.b

    c = C()
    return C.a, c.m(), c.p, C.s(2), c.c(), sorted(k for k in vars(C) if not k.startswith("__")), C.__qualname__


# program: class_body_reads_enclosing_cells
# f(1) => record, hit
# f("x") => hit
x = "global"


def f(v):
    x = v
    y = "cell"

    class C:
        y = y if "y" in locals() else "own"
        first = x
        x = "class"
        second = x

        class D:
            third = x
            fourth = y if False else "inner"

        def m(self):
            return x, y

    return C.first, C.second, C.D.third, C.y, C().m()


# program: class_body_reads_a_cell_that_is_unbound
# f(True) => record, hit
# f(False) => hit
def make(bound):
    if bound:
        late = 1

    class C:
        v = late

    return C.v


def f(bound):
    return list(map(shielded, [bound]))


def shielded(bound):
    try:
        return make(bound)
    except NameError as error:
        return type(error).__name__, str(error)


# program: super_in_local_classes
# f(1) => record, hit
# f(2.5) => hit
def f(x):
    class A:
        def m(self):
            return ["A", x]

        def __init__(self, *args):
            self.args = args

    class B(A):
        def __init__(self, a):
            super().__init__(a, x)

        def m(self):
            return [*super().m(), "B"]

        @classmethod
        def c(cls):
            return super().__thisclass__ is cls

        def nested(self):
            return (lambda: super(B, self).m())(), [super(__class__, s).m() for s in [self]]

    b = B(5)
    return b.m(), b.args, B.c(), b.nested()


# program: metaclass_with_prepare
# f(1) => record, hit
# f("x") => hit
log = []


class Names(dict):
    def __setitem__(self, key, value):
        log.append(("set", key))
        super().__setitem__(key, value)

    def __getitem__(self, key):
        log.append(("get", key))
        return super().__getitem__(key)

    def __delitem__(self, key):
        log.append(("del", key))
        super().__delitem__(key)


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases, **kw):
        log.append(("prepare", name, len(bases), sorted(kw)))
        return Names(given=kw.get("given"))

    def __new__(mcs, name, bases, names, **kw):
        cls = super().__new__(mcs, name, bases, dict(names))
        cls.kw = sorted(kw)
        return cls

    def __init__(cls, name, bases, names, **kw):
        super().__init__(name, bases, names)

    def __call__(cls, *args):
        return ("called", super().__call__(*args).a)


def f(x):
    log.clear()

    class C(metaclass=Meta, given=x):
        a = given
        b = a
        del b

        def __init__(self, v):
            self.v = v, __class__.kw

    return C(1), C.kw, list(log)


# program: init_subclass_and_set_name
# f(1) => record, hit
# f("x") => hit
def f(x):
    seen = []

    class Named:
        def __set_name__(self, owner, name):
            seen.append((owner.__name__, name, x))

        def __get__(self, obj, kind=None):
            return ("got", kind.__name__)

    class Base:
        def __init_subclass__(cls, tag=None, **rest):
            super().__init_subclass__(**rest)
            seen.append((cls.__name__, tag))

        def __class_getitem__(cls, item):
            return cls.__name__, item

    class C(Base, tag=x):
        n = Named()
        m = Named()

    return seen, C.n, C().m, C[x]


# program: dataclasses_enums_and_named_tuples_inside
# f(1) => record, hit
# f(7) => hit
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum, IntFlag, auto
from typing import NamedTuple


def f(x):
    @dataclass(order=True)
    class P:
        a: int
        b: list = field(default_factory=list)
        c: int = x

        def total(self):
            return self.a + self.c

    class Color(Enum):
        RED = x
        GREEN = auto()

        def describe(self):
            return self.name, self.value

    class Flag(IntFlag):
        A = 1
        B = 2

    class T(NamedTuple):
        a: int
        b: str = "b"

    N = namedtuple("N", "p q")
    p = P(1)
    p.b.append(2)
    return repr(p), p < P(2), p.total(), Color.RED.describe(), Color(x) is Color.RED, list(Flag), Flag.A | Flag.B, T(x), N(1, 2)


# program: annotations_inside_functions
# f(1) => record, hit
# f("x") => hit
def f(x):
    a: undefined_name = x
    b: int

    def g(p: x, *q: "text", r: [x] = 1) -> (x, a):
        return p

    class C:
        u: x = 1
        v: list[int]
        w: "forward"

    return g.__annotations__, C.__annotations__, g(a), hasattr(C, "v")


# program: decorators_with_state
# f(1) => record, hit
# f("x") => hit
from functools import lru_cache, wraps


def f(x):
    order = []

    def note(tag):
        order.append(("made", tag))

        def apply(function):
            order.append(("applied", tag))

            @wraps(function)
            def inner(*args):
                order.append(("called", tag))
                return function(*args)

            return inner if callable(function) and not isinstance(function, type) else function

        return apply

    @note(1)
    @note(2)
    def g(v):
        return v, x

    @note(3)
    class C:
        @note(4)
        def m(self):
            return g(self.v)

        v = x

    @lru_cache(maxsize=None)
    def cached(n):
        return [n, x]

    return g(5), C().m(), order, cached(1) is cached(1), g.__name__


# program: imports_inside_functions
# f(1) => record, hit
# f("x") => hit
def f(x):
    import os.path as p
    import collections.abc
    from math import pi as circle, floor
    from os import path
    return p is path, circle > 3, collections.abc.Sized.__name__, x


# program: exec_with_star_imports
# f("math") => record, hit
# f("string") => hit
def f(module):
    names = {}
    exec(f"from {module} import *\ncount = len(dir())\nfound = 'pi' in dir(), 'digits' in dir()", names)
    return names["count"] > 5, names["found"]


# program: exec_of_classes_and_functions
# f(3) => record, hit
# f("x") => hit
text = """
class A:
    a = given
    def m(self):
        return __class__.__name__, self.a, helper(given)
    class Inner:
        def n(self): return __class__.__qualname__
def helper(v, d=given):
    return v, d
result = A().m(), A.Inner().n(), [helper(i) for i in (1, 2)]
"""


def f(x):
    names = {"given": x}
    exec(text, names)
    return names["result"], sorted(names.keys() - {"__builtins__"})


# program: function_made_of_module_code
# note: its variables are its globals
# f() => record, hit
# do value = 2.5
# f() => hit
# do value = "text"
# f() => hit
# do del value
# f() => hit exit
# do value = 1
# f() => hit
import types

value = 1
code = compile("""
a = value if 'value' in globals() else None
b: int = len([a])
a = [a, b]
c = a
del c
def g(x):
    return x, b
class K:
    k = a
    def m(self): return g(self.k)
out = K().m(), g(2)
total = 0
for i in range(3):
    total = total + i
from math import *
import os.path as path
from os import sep
""", "<made>", "exec")
f = types.FunctionType(code, globals())


# program: function_made_of_module_code_that_fails
# f() => record, hit
# f() => hit
# do now = 1
# f() => hit exit
import types

log = []
now = 0
code = compile("""
try:
    del missing
except NameError as error:
    log.append(str(error))
try:
    if not now: other
except NameError as error:
    log.append((str(error), error.name))
""", "<made>", "exec")
f = types.FunctionType(code, globals())


# program: function_made_of_single_code
# f() => record, hit
# f() => hit
import sys
import types

n = 5
code = compile("n = n + 1; n; [n, None]; None", "<made>", "single")
f = types.FunctionType(code, globals())


# program: function_made_of_a_class_body
# f() => record, hit
# do x = "other"
# f() => hit
import types

x = "global"


def outer(free):
    class C:
        a: int = x
        b = free
        free = [free, a]

        def m(self):
            return free, __class__

    return C


body = next(c for c in outer.__code__.co_consts if isinstance(c, types.CodeType))
cell = types.CellType("in the cell")
f = types.FunctionType(body, globals(), "C", None, (cell,))


# program: class_body_function_with_an_empty_cell
# f() => record, hit
# do del cell.cell_contents
# do free = "by name"
# f() => hit
# do cell.cell_contents = 1
# do del free
# f() => hit
import types


def outer(free):
    class C:
        b = [free]

    return C


body = next(c for c in outer.__code__.co_consts if isinstance(c, types.CodeType))
cell = types.CellType("in the cell")
f = types.FunctionType(body, globals(), "C", None, (cell,))


# program: module_code_recorded_and_replayed_by_hand
# f(1) => hit hit record, hit hit hit
# f("x") => hit hit hit
import types

import tagalong

names = {"given": 0, "__builtins__": __builtins__}
made = types.FunctionType(compile("a = given\nb = [a, len([a])]\nc = lambda: b\nd = c()", "<made>", "exec"), names)
recording = tagalong.record(made)


def f(x):
    names["given"] = x
    recording.replay()
    first = names["a"], names["b"], names["d"] is names["b"]
    names["given"] = [x]
    recording.replay()
    return first, names["a"], recording.replay_code is not None


# program: namespace_function_shows_its_frame
# f() => record, hit
# f() => hit
import sys
import types

log = []


def look():
    frame = sys._getframe(1)
    log.append((frame.f_code.co_name, frame.f_lineno, frame.f_locals is frame.f_globals, "v" in frame.f_locals))


code = compile("v = 1\nlook()\nw = locals() is globals(), sorted(vars()) == sorted(dir())\nlook()", "<made>", "exec")
f = types.FunctionType(code, globals())


# program: cells_deleted_and_unbound
# f(1) => record, hit
# f("x") => hit
def f(x):
    return list(map(shielded, [read_before, read_deleted, read_free, delete_twice], [x] * 4))


def shielded(function, x):
    try:
        return function(x)
    except NameError as error:
        return type(error).__name__, str(error), getattr(error, "name", None)


def read_before(x):
    def g():
        return late

    result = g()
    late = x
    return result


def read_deleted(x):
    y = x

    def g():
        return y

    first = g()
    del y
    return first, y


def read_free(x):
    y = x

    def g():
        return y

    del y
    return g()


def delete_twice(x):
    y = x

    def g():
        nonlocal y
        del y

    g()
    g()


# program: nonlocal_through_three_levels
# f(1) => record, hit
# f(2.5) => hit
def f(x):
    n = x
    log = []

    def a():
        def b():
            def c():
                nonlocal n
                n = n + x
                log.append(n)
                return n

            return c() + n

        nonlocal n
        n = n * 2
        return b() + n

    first = a()
    n = 0
    return first, a(), n, log


# program: cell_variables_of_loops_and_comprehensions
# f(3) => record, hit
# f(3) => hit
def f(n):
    functions = []
    for i in range(n):
        def g(k=i):
            return i, k
        functions.append(g)
    more = [lambda: j for j in range(n)]
    del i
    try:
        first = [g() for g in more]
    finally:
        i = "rebound"
    return first, [g() for g in functions], {k: (lambda: k)() for k in range(n)}


# program: class_cell_before_the_class_exists
# f(1) => record, hit
# f("x") => hit
def f(x):
    return list(map(shielded, [x]))


def shielded(x):
    try:
        class Meta(type):
            def __new__(mcs, name, bases, names):
                try:
                    return names["early"](None)
                finally:
                    pass

        class C(metaclass=Meta):
            def early(self):
                return __class__

        return C
    except (NameError, RuntimeError) as error:
        return type(error).__name__, str(error)


# program: names_mangled_in_classes
# f(1) => record, hit
# f("x") => hit
def f(x):
    class C:
        __hidden = x

        def __secret(self):
            return self.__hidden

        def m(self):
            __local = 1
            return self.__secret(), sorted(locals())

    return C().m(), sorted(k for k in vars(C) if "hidden" in k or "secret" in k)


# program: generic_and_abstract_classes
# f(1) => record, hit
# f("x") => hit
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

T = TypeVar("T")


def f(x):
    class Shape(ABC):
        @abstractmethod
        def area(self): ...

        def twice(self):
            return [self.area()] * 2

    class Box(Shape, Generic[T]):
        def __init__(self, v: T):
            self.v = v

        def area(self):
            return self.v

    Shape.register(int)
    return Box[int](x).twice(), isinstance(1, Shape), list(map(refuses, [Shape]))


def refuses(kind):
    try:
        kind()
    except TypeError as error:
        return str(error)
