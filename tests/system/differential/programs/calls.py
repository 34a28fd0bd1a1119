"""Python callees are recorded into the caller's graph, C functions are nodes of it."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: one_callee
# f(3) => record, hit
# f(4) => hit
# f(2.5) => miss record
def g(x):
    return x * 2


def f(x):
    return g(x) + g(x + 1)


# program: three_levels
# f(3) => record, hit
# f(-3) => miss record, hit
# f(30) => hit
def h(x):
    if x > 0:
        return x + 1
    return x - 1


def g(x):
    return h(x) * 2


def f(x):
    return g(x) + 100


# program: callee_replaced
# note: another function behind the same global name
# f(3) => record, hit
# do g = other
# f(3) => miss record, hit
# do g = first
# f(3) => hit
def first(x):
    return x + 1


def other(x):
    return x * 100


g = first


def f(x):
    return g(x)


# program: callee_code_replaced
# f(3) => record, hit
# do g.__code__ = other.__code__
# f(3) => miss record, hit
def g(x):
    return x + 1


def other(x):
    return x * 100


def f(x):
    return g(x)


# program: callee_defaults_replaced
# f(3) => record, hit
# do g.__defaults__ = (7,)
# f(3) => hit
# do g.__defaults__ = (7.5,)
# f(3) => miss record
# do g.__defaults__ = None
# f(3) => hit exit
def g(x, y=5):
    return x + y


def f(x):
    return g(x)


# program: functions_as_arguments
# f(inc, 3) => record, hit
# f(dec, 3) => miss record, hit
# f(inc, 4) => hit
# f(abs, -3) => miss record
def inc(x):
    return x + 1


def dec(x):
    return x - 1


def f(function, x):
    return function(function(x))


# program: keyword_calls
# f(1, 2) => record, hit
# f(1.5, 2) => miss record
def g(a, b=10, *, c=20, d):
    return a, b, c, d, a + b


def f(x, y):
    return g(x, d=y), g(b=x, a=y, d=0), g(x, y, c=1, d=2)


# program: wrong_arguments
# note: the callee cannot be entered; the error is the caller's
# f(1) => record
# f(2) => hit
def g(a, b):
    return a + b


def f(x):
    try:
        return g(x)
    except TypeError as error:
        return str(error)


# program: recursion_direct
# note: the recorded depth is unrolled; another depth leaves (nothing visible has happened, so it is a miss)
# f(4) => record, miss record hit
# f(5) => miss record hit, hit hit
# f(1) => hit
def f(n):
    if n <= 1:
        return 1
    return n * f(n - 1)


# program: recursion_of_a_callee
# f(6) => record, hit
# f(7) => hit, hit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def f(n):
    return fib(n)


# program: mutual_recursion
# f(5) => record, hit
# f(4) => miss record, hit
def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def f(n):
    return even(n), odd(n)


# program: c_callee_calls_back
# note: sorted and map call Python functions of ours from C
# f([3, 1, 2]) => record, hit
# f([9, 7]) => hit
# f("hello") => hit exit
def key(x):
    print("key", x)
    return -x


def f(items):
    return sorted(items, key=key), list(map(key, items)), max(items, key=lambda v: v * 2)


# program: c_callee_calls_traced_function
# note: the traced function is called again from inside an opaque call of itself
# f([1, [2, [3]]]) => record
# f(5) => hit exit, hit exit
def f(x):
    if isinstance(x, int):
        return x * 10
    return list(map(f, x))


# program: method_calls
# f("a b c") => record, hit
# f("x,y") => hit
# f(b"a b") => hit exit
def f(s):
    return s.upper().split(" "), s.replace("a", "z"), "-".join(s), s.startswith("a")


# program: bound_methods_as_values
# f([1]) => record, hit
# f([1, 2, 3]) => hit
def f(items):
    add = items.append
    add(7)
    add(8)
    return items


# program: call_with_stars
# f([1, 2], {"c": 3}) => record, hit
# f([1, 2], {}) => hit
# f((5,), {"b": 6, "c": 7}) => hit
# f([1, 2, 3, 4], {}) => hit exit
def g(a, b=0, c=0):
    return a + b * 10 + c * 100


def f(args, kwargs):
    return g(*args, **kwargs)


# program: call_with_many_stars
# f([1], [2], {"x": 3}, {"y": 4}) => record, hit
# f([], [], {}, {}) => hit exit
# f([1], [2], {"x": 3}, {"x": 4}) => hit exit
def g(*args, **kwargs):
    return args, kwargs


def f(a, b, c, d):
    return g(0, *a, 5, *b, k=1, **c, **d)


# program: partial_of_python_function
# f(3) => record, hit
# f(4) => hit
# f(2.5) => miss record, hit
from functools import partial


def g(a, b, c=1):
    return a * 100 + b * 10 + c


p = partial(g, 7, c=9)


def f(x):
    return p(x), partial(g, x)(x + 1)


# program: functools_reduce_and_cache
# f((1, 2, 3)) => record, hit
# f((4, 5)) => hit
from functools import lru_cache, reduce


@lru_cache(maxsize=None)
def cached(n):
    print("computed", n)
    return n * n


def add(a, b):
    return a + b


def f(items):
    return reduce(add, items), cached(len(items)), cached.cache_info().hits


# program: lambdas
# f(3) => record, hit
# f(4) => hit
def f(x):
    double = lambda v: v * 2
    add = lambda a, b=10, *c: (a + b, c)
    return double(x), add(x), add(x, 1, 2, 3)


# program: callee_without_return
# f([]) => record, hit
# f([1]) => hit
def g(items):
    items.append(len(items))


def f(items):
    a = g(items)
    return a, items


# program: function_without_locals
# f() => record, hit, hit
def f():
    return 42


# program: function_without_locals_and_effects
# f() => record, hit, hit
count = 0


def f():
    global count
    count += 1
    print(count)


# program: deep_call_chain
# f(1) => record, hit
# f(2) => hit
def a1(x):
    return a2(x) + 1


def a2(x):
    return a3(x) + 1


def a3(x):
    return a4(x) + 1


def a4(x):
    return a5(x) + 1


def a5(x):
    return [x][0]


def f(x):
    return a1(x)


# program: same_callee_many_times
# f([1, 2, 3]) => record, hit
# f([4, -5, 6]) => hit exit
# f([7, 8, 9]) => hit
def g(x, out):
    if x > 0:
        out.append(x)
    else:
        out.append(-x * 100)
    return out


def f(items):
    out = []
    for item in items:
        g(item, out)
    return out


# program: indirect_calls_through_containers
# f(2, "add") => record, hit
# f(2, "mul") => hit exit
# f(3, "add") => hit
ops = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b}


def f(x, name):
    return ops[name](x, 10)


# program: calling_something_not_callable
# f(len) => record, hit
# f(5) => hit exit
def f(x):
    try:
        return x("abc")
    except TypeError as error:
        return str(error)


# program: builtins_of_all_kinds
# f([3, 1, 2]) => record, hit
# f([5, 5]) => hit
def f(x):
    return (len(x), sum(x), min(x), max(x), sorted(x), list(reversed(x)), any(x), all(x), tuple(x),
            set(x), dict(enumerate(x)), list(zip(x, x)), repr(x), isinstance(x, list), callable(x),
            getattr(x, "nothing", 5), hasattr(x, "append"), ord("a"), chr(98), hash("k") == hash("k"))


# program: same_code_other_closure
# note: functions made by one def share their code; cells, defaults and globals are each function's own
# f(make(1), 5) => record, hit
# f(make(2), 5) => hit
# f(make(2.5), 5) => miss record
def make(n):
    def g(x, k=n):
        return x + n, k

    return g


def f(g, x):
    return g(x)


# program: same_code_other_globals
# f(first, 5) => record, hit
# f(second, 5) => hit, hit
# f(first, 6) => hit
import types

K = 1


def first(x):
    return x + K


second = types.FunctionType(first.__code__, {"K": 100, "__builtins__": __builtins__})


def f(g, x):
    return g(x)


# program: same_code_other_defaults
# f(first, 5) => record, hit
# f(third, 5) => hit
# f(second, 5) => hit exit
# f(first, 6) => hit
import types


def first(x, y=1, *, z=2):
    return x, y, z


second = types.FunctionType(first.__code__, globals(), "second", None)
third = types.FunctionType(first.__code__, globals(), "third", (10,))
third.__kwdefaults__ = {"z": 20}


def f(g, x):
    return g(x)


# program: call_forms_of_methods
# f(A(1), 5) => record, hit
# f(A(2), 6) => hit
# f(B(3), 7) => hit exit, hit exit
class A:
    def __init__(self, n):
        self.n = n

    def m(self, x, *, k=0):
        return ("A", self.n, x, k)

    @classmethod
    def c(cls, x):
        return (cls.__name__, x)

    @staticmethod
    def s(x):
        return ("s", x)


class B(A):
    def m(self, x, *, k=0):
        return ("B", super().m(x, k=k))


def f(a, x):
    bound = a.m
    unbound = A.m
    made = type(a).c
    return a.m(x), bound(x, k=1), unbound(a, x), a.c(x), made(x), a.s(x), A.s(x), (lambda: a.m)()(x, k=2)


# program: bound_method_of_other_objects
# f(one.m) => record, hit
# f(two.m) => hit
# f(other.m) => miss record
# f([1].append) => miss record
class A:
    def __init__(self, n):
        self.n = n

    def m(self, x):
        return self.n, x


class B:
    def m(self, x):
        return "B", x


one, two, other = A(1), A(2), B()


def f(m):
    return m(5)


# program: function_in_instance_and_container
# f(holder) => record, hit
# do holder.g = lambda x: ("second", x)
# f(holder) => hit exit
class Holder:
    pass


def first(x):
    return "first", x


holder = Holder()
holder.g = first


def f(h):
    return h.g(1), [h.g][0](2), {"k": h.g}["k"](3)


# program: keyword_forms_of_inlined_calls
# f(1, 2) => record, hit
# f("a", "b") => hit
def g(a, /, b, c=10, *rest, d, e=20, **more):
    return a, b, c, rest, d, e, more


def f(x, y):
    return (g(x, y, d=1), g(x, b=y, d=2, e=3), g(x, y, 5, 6, 7, d=8), g(x, c=1, b=y, d=2, z=3, y=4), g(x, y, d=y, **{"q": x}),
            g(x, *[y, y], d=0))


# program: callee_code_replaced_by_caller
# note: another code at every second call
# f(1) => record, hit exit, hit, hit exit
def g(x):
    return ("g", x)


def f(x):
    g.__code__ = two if g.__code__ is one else one
    return g(x)


one = (lambda x: ("one", x)).__code__
two = (lambda x: ("two", x)).__code__


# program: decorated_recursion
# f(3) => record, hit
import functools


def counted(function):
    @functools.wraps(function)
    def wrapper(*args):
        wrapper.calls += 1
        return function(*args)

    wrapper.calls = 0
    return wrapper


@counted
def fact(n):
    return 1 if n == 0 else n * fact(n - 1)


def f(n):
    return fact(n), fact.calls


# program: a_key_that_is_called_often
# note: behind so many frames in one instruction the recording's hook stays away, and comes back for what follows
# f(list(range(20)), -1) => record, hit
# f([3, 1, 2], -1) => hit
# f(list(range(20)), 12) => hit exit, hit exit
# f(list(range(30)), 25) => hit exit


def key(x):
    if x == bad:
        raise KeyError(x)
    return -x


def twice(x):
    return x * 2


def f(items, number):
    global bad
    bad = number
    try:
        items = sorted(items, key=key)
    except KeyError as e:
        return e.args, e.__traceback__.tb_next.tb_lineno - key.__code__.co_firstlineno
    return twice(items[0]), items


# program: a_key_that_raises_after_many_calls
# f(list(range(20)), 12) => record, hit
# f(list(range(20)), 50) => hit exit, hit exit


def key(x):
    if x == bad:
        raise KeyError(x)
    return -x


def twice(x):
    return x * 2


def f(items, number):
    global bad
    bad = number
    try:
        items = sorted(items, key=key)
    except KeyError as e:
        items = [e.args[0]]
    return twice(items[0])


# program: a_key_that_leaves_the_function_after_many_calls
# f(list(range(20)), 12) => record, hit
# f(list(range(20)), 50) => hit exit, hit exit


def key(x):
    if x == bad:
        raise KeyError(x)
    return -x


def f(items, number):
    global bad
    bad = number
    return sorted(items, key=key), [bad]


# program: a_recording_begins_in_the_twelfth_call_of_a_key
# f(list(range(20)), 12) => record record, hit hit
# f(list(range(20)), 3) => hit hit, hit hit
# trace: f, g


def g(x):
    return x + 1


def key(x):
    return g(-x) if x == special else -x


def twice(x):
    return x * 2


def f(items, number):
    global special
    special = number
    items = sorted(items, key=key)
    return twice(items[0]), items
