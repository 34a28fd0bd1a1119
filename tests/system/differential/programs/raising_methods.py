"""Exceptions of methods that instructions call: constructors, getters, operators, `__next__`, context managers."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E711, E722, F401, F811, F821, F841, F842, I001, PTH118, B012, SIM105, SIM117


# program: raising_in_init
# f(-1) => record, hit
# f(1) => hit exit
class Box:
    def __init__(self, x):
        self.x = x
        if x < 0:
            raise ValueError(self.__class__.__name__)

    def __del__(self):
        print("del", self.x)


def f(x):
    try:
        return Box(x).x
    except ValueError as error:
        return error, error.__traceback__.tb_next.tb_frame.f_locals["self"].x


# program: raising_init_returns_something
# f(1) => record, hit
class Box:
    def __init__(self, x):
        return x


def f(x):
    try:
        Box(x)
    except TypeError as error:
        return error


# program: raising_init_returns_something_or_not
# f(None) => record, hit
# f(1) => miss record
# f(None) => hit
class Box:
    def __init__(self, x):
        return x


def f(x):
    Box(x)
    return "made"


# program: raising_getter
# f(C(1)) => record, hit
# f(C(None)) => hit exit
class C:
    def __init__(self, x):
        self.x = x

    @property
    def p(self):
        if self.x:
            raise AttributeError("from getter")
        return "fine"


def f(c):
    try:
        return c.p
    except AttributeError as error:
        return error, error.name, error.obj is c


# program: raising_getter_as_method
# note: LOAD_METHOD does not tell the error its name
# f(C()) => record, hit
class C:
    @property
    def p(self):
        raise AttributeError("from getter")


def f(c):
    try:
        return c.p()
    except AttributeError as error:
        return error, error.name, error.obj


# program: raising_getter_with_getattr
# f(C()) => record, hit
class C:
    @property
    def p(self):
        raise AttributeError("from getter")

    def __getattr__(self, name):
        if name == "q":
            raise AttributeError("nor q")
        return "fallback for " + name


def f(c):
    try:
        return c.p, c.q
    except AttributeError as error:
        return error, error.name


# program: raising_setter
# f(C(), -1) => record, hit
# f(C(), 1) => miss record
class C:
    @property
    def p(self):
        return self._p

    @p.setter
    def p(self, value):
        if value < 0:
            raise ValueError(value)
        self._p = value


def f(c, x):
    try:
        c.p = x
        return c.p
    except ValueError as error:
        return error


# program: raising_operator_methods
# f(V(1), V(0)) => record, hit
# f(V(1), V(2)) => hit exit
class V:
    def __init__(self, x):
        self.x = x

    def __truediv__(self, other):
        return V(self.x / other.x)

    def __getitem__(self, key):
        if key == "bad":
            raise KeyError(key)
        return key

    def __setitem__(self, key, value):
        raise TypeError("read only")

    def __neg__(self):
        raise OverflowError("-")


def f(a, b):
    out = []
    for step in range(4):
        try:
            if step == 0:
                out.append((a / b).x)
            elif step == 1:
                out.append(a["bad"])
            elif step == 2:
                a["x"] = 1
            else:
                out.append(-a)
        except (ArithmeticError, LookupError, TypeError) as error:
            out.append(error)
    return out


# program: raising_not_implemented_reflected
# f(A(1), B(2)) => record, hit
# f(A(1), A(2)) => hit exit
# f(A(1), 5) => hit exit
# f(A(1), "s") => hit exit
class A:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        if type(other) is A:
            return A(self.x + other.x)
        return NotImplemented

    def __eq__(self, other):
        return self.x == other.x if type(other) is A else NotImplemented

    def __lt__(self, other):
        return NotImplemented


class B:
    def __init__(self, x):
        self.x = x

    def __radd__(self, other):
        return "radd", self.x, other.x

    def __gt__(self, other):
        return "gt"


def f(a, b):
    out = []
    try:
        out.append(a == b)
        out.append(a + b)
        out.append(a < b)
    except TypeError as error:
        out.append(error)
    return [x.x if type(x) is A else x for x in out]


# program: raising_not_implemented_everywhere
# f(A(), A()) => record, hit
# f(A(), 1) => miss record
class A:
    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return NotImplemented


def f(a, b):
    try:
        return a + b
    except TypeError as error:
        return error


# program: raising_not_implemented_out
# f(A(), 1) => record, hit
class A:
    def __mul__(self, other):
        return NotImplemented


def f(a, b):
    return a * b


# program: raising_not_implemented_reflected_of_number
# f(3, A()) => record, hit
# f(3.5, A()) => miss record
class A:
    def __radd__(self, other):
        print("asked", other)
        return NotImplemented


def f(x, a):
    try:
        return x + a
    except TypeError as error:
        return error


# program: raising_next_ends_loop
# f(3) => record, hit
# f(2) => hit exit
# f(4) => hit exit
class Down:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def f(n):
    out = []
    for x in Down(n):
        out.append(x)
    return out, "after"


# program: raising_next_ends_nested_loops
# f(2, 2) => record, hit
# f(2, 3) => hit exit
class Down:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration("value")
        self.n -= 1
        return self.n


def inner(a, b):
    return [(x, y) for x in Down(a) for y in Down(b)]


def f(a, b):
    return inner(a, b), sum(x for x in Down(a))


# program: raising_next_raises_other
# f(1) => record, hit
# f(2) => hit exit
# f(-1) => hit exit
class Broken:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise ValueError("broken")
        if self.n < 0:
            raise StopIteration
        self.n -= 1
        return self.n


def f(n):
    out = []
    try:
        for x in Broken(n):
            out.append(x)
    except ValueError as error:
        out.append(error)
    return out


# program: raising_next_subclass_of_stop
# f(1) => record, hit
class Done(StopIteration):
    pass


class It:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise Done(3)
        self.n -= 1
        return self.n


def f(n):
    for x in It(n):
        print(x)
    else:
        print("else")


# program: raising_next_not_stopping_recorded
# note: the exit is in __next__, in the interpreter; the loop ends in its caller
# f([1]) => record, hit
# f([]) => hit exit
class It:
    def __init__(self, items):
        self.items = items
        self.place = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.place += 1
        if self.place > len(self.items):
            raise StopIteration
        return self.items[self.place - 1]


def first(items):
    for x in It(items):
        return x
    return "none"


def f(items):
    return first(items)


# program: raising_stop_iteration_by_hand
# f(0) => record, hit
def f(x):
    it = iter(())
    out = []
    try:
        next(it)
    except StopIteration as error:
        out.append(error.value)
    try:
        raise StopIteration(x)
    except StopIteration as error:
        out.append(error.value)
    return out


# program: raising_stop_iteration_out
# f(7) => record, hit
def f(x):
    raise StopIteration(x)


# program: raising_with_swallows
# f(0) => record, hit
# f(1) => hit exit
class Swallow:
    def __enter__(self):
        return "entered"

    def __exit__(self, kind, value, tb):
        print("exit", kind, value, tb and (tb.tb_lineno, tb.tb_frame.f_code.co_name))
        return True


def f(x):
    with Swallow() as s:
        1 // x
        print("not reached by zero")
    return s


# program: raising_with_lets_pass
# f(0) => record, hit
# f(1) => hit exit
import sys


class Pass:
    def __enter__(self):
        return "entered"

    def __exit__(self, kind, value, tb):
        print("exit", kind, value is sys.exception())


def f(x):
    with Pass() as s:
        1 // x
    return s


# program: raising_with_exit_raises
# f(0) => record, hit
# f(1) => hit exit
class Bad:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        raise RuntimeError("exit")


def f(x):
    try:
        with Bad():
            1 // x
    except RuntimeError as error:
        return error


# program: raising_with_two_managers
# f(0, True, False) => record, hit
# f(0, False, True) => hit exit
# f(0, False, False) => hit exit
class M:
    def __init__(self, name, swallow):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("enter", self.name)
        return self

    def __exit__(self, kind, value, tb):
        print("exit", self.name, kind)
        return self.swallow


def f(x, outer, inner):
    with M("outer", outer) as a, M("inner", inner) as b:
        1 // x
    return "after"


# program: raising_with_exit_varargs_and_opaque
# f(0) => record, hit
from contextlib import suppress, contextmanager


class M:
    def __enter__(self):
        return self

    def __exit__(self, *what):
        print(len(what), what[0])
        return 1


def f(x):
    with M():
        1 // x
    with suppress(ZeroDivisionError):
        1 // x
    with suppress(KeyError):
        1 // x
    return "never"


# program: raising_with_return_break_continue
# f([0, 1, 2]) => record, hit
# f([0, 2]) => hit exit
class M:
    def __enter__(self):
        return self

    def __exit__(self, *what):
        print("exit", what[0])
        return True


def f(items):
    for x in items:
        with M():
            if x == 2:
                return "two"
            if x == 1:
                continue
            1 // x
    return "end"


# program: raising_with_enter_raises
# f(1) => record, hit
class M:
    def __enter__(self):
        raise ValueError("enter")

    def __exit__(self, *what):
        print("never")


def f(x):
    try:
        with M():
            return x
    except ValueError as error:
        return error
