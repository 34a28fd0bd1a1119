"""Classes that overload how they are called, made or managed, and all at once."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E711, E722, E731, E741, F401, F811, F821, F841, F842, I001, PTH118


# program: spread_calls
# f((1, 2), {"y": 3}) => record, hit
# f((1, 2), {"y": 4}) => hit
# f((1, 2), {"x": 4}) => hit exit, hit exit
# f((1, 2), {"y": 3, "z": 5}) => hit exit
# f((1,), {"y": 3}) => hit exit, hit exit
class A:
    def __init__(self, *args, **kwargs):
        self.got = args, kwargs

    def __call__(self, a, b=None, *, y=7, **rest):
        return a, b, y, rest


def g(*args, **kwargs):
    return args, kwargs


def h(*args, **kwargs):
    return A()(*args, **kwargs), A(*args, **kwargs).got, g(*args, **kwargs)


def f(args, kwargs):
    return h(*args, **kwargs), A()(*args)


# program: decorators_with_keywords
# f(1) => record, hit
# f(2) => hit
import functools


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs), function(*args, **kwargs)

    return wrapper


@twice
def g(x, *, y=2):
    return x, y


def f(n):
    return g(n, y=n + 1), g(x=n), g(n)


# program: partial_with_keywords
# f(1) => record, hit
# f(2) => hit
# do p.keywords["y"] = "changed"
# f(2) => hit
# do p.keywords["z"] = "more"
# f(2) => miss record, hit
import functools


def g(x, y=1, **rest):
    return x, y, rest


p = functools.partial(g, y=5)


def f(n):
    return p(n)


# program: classes_with_metaclasses
# f(1) => record, hit
# f(2) => hit
# do M.__call__ = lambda cls, *args: "called"
# f(1) => miss record, hit
import abc


class M(type):
    pass


class A(metaclass=M):
    def __init__(self, x):
        self.x = x


class B(abc.ABC):
    def __init__(self, x):
        self.x = x


def f(n):
    a = A(n)
    return a if isinstance(a, str) else a.x, B(n).x


# program: managers_in_a_variable
# f(A(True)) => record, hit
# f(A(False)) => hit exit
# f(A(0)) => hit exit
class A:
    def __init__(self, answer):
        self.answer = answer

    def __enter__(self):
        if self.answer == 0 and self.answer is not False:
            raise ValueError("enter")
        return self

    def __exit__(self, *what):
        return self.answer


def f(a):
    with a as b:
        c = b
    return c is a


# program: frames_seen_from_special_methods
# f(A()) => record, hit
# f(A()) => hit
import sys


def where():
    found = []
    frame = sys._getframe(1)
    for _ in range(2):
        found.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
        frame = frame.f_back
    log.append(found)


class A:
    def __bool__(self):
        where()
        return True

    def __len__(self):
        where()
        return 3

    def __contains__(self, item):
        where()
        return True

    def __radd__(self, other):
        where()
        return 1

    def __eq__(self, other):
        where()
        return NotImplemented

    def __getattr__(self, name):
        where()
        return 1

    def __iter__(self):
        where()
        return iter(())

    def __format__(self, spec):
        where()
        return spec


log = []


def f(a):
    log.clear()
    x = 1
    if a:
        x = 2
    y = not a
    len(a)
    x in a
    x + a
    x == a
    x != a
    a.foo
    for z in a:
        pass
    f"{a:5}"
    return list(log)


# program: values_that_overload_everything
# f(V(3), V(4)) => record, hit
# f(V(5), V(6)) => hit
# f(V(5), 6) => hit exit, hit exit
class V:
    def __init__(self, n):
        self.n = n

    def _of(self, other):
        return other.n if isinstance(other, V) else other

    def __add__(self, other):
        return V(self.n + self._of(other))

    __radd__ = __add__

    def __sub__(self, other):
        return V(self.n - self._of(other))

    def __rsub__(self, other):
        return V(self._of(other) - self.n)

    def __neg__(self):
        return V(-self.n)

    def __abs__(self):
        return V(abs(self.n))

    def __eq__(self, other):
        return self.n == self._of(other)

    def __lt__(self, other):
        return self.n < self._of(other)

    def __gt__(self, other):
        return self.n > self._of(other)

    def __bool__(self):
        return self.n != 0

    def __pow__(self, other, modulus=None):
        return V(self.n ** self._of(other))

    def __rpow__(self, other):
        return V(self._of(other) ** self.n)


def f(a, b):
    c = 1 + a - b + 2 ** a
    c += b
    c -= 3
    d = 10 - c
    if a < b and 3 < b and d != 5 and a:
        return abs(-d).n, (c ** 2).n, 7 > a
    return d.n


# program: metaclass_that_is_called
# f(1) => record, hit
# f(2) => hit
# f(-1) => hit exit
# do M.__call__ = lambda cls, *args: "changed"
# f(1) => record, hit
class M(type):
    def __call__(cls, *args):
        if args[0] < 0:
            return NotImplemented
        return super().__call__(*args)


class A(metaclass=M):
    def __init__(self, x):
        self.x = x


def f(n):
    t = (n,)
    a, b = A(n), A(*t)
    return getattr(a, "x", a), getattr(b, "x", b)
