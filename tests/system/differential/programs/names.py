"""Globals and builtins that change between calls and within them, imports, decorators, annotations."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: global_number_changes
# note: a global that flows through arithmetic is read at every call, its type is guarded
# f(1) => record, hit
# do K = 20
# f(1) => hit
# do K = 2.5
# f(1) => miss record, hit
# do K = 7
# f(1) => hit
K = 10


def f(x):
    return x + K


# program: global_deleted
# f(1) => record, hit
# do del K
# f(1) => hit exit
# do K = 3
# f(1) => hit
K = 10


def f(x):
    return x + K


# program: global_written
# f(1) => record, hit, hit
# f(5) => hit
total = 0


def f(x):
    global total
    total = total + x
    return total


# program: global_written_and_type_changed
# f(1) => record, hit
# f(0.5) => miss record, miss record
# f(2) => miss record
total = 0


def f(x):
    global total
    total += x
    return total


# program: global_created_and_deleted
# f(1) => record, hit
# f("x") => hit
def f(x):
    global made
    made = [x]
    y = made
    del made
    return y, "made" in globals()


# program: global_changed_by_opaque_call
# note: K is read again after the call, through exec's C code
# f(1) => record, hit
# f(2) => hit
# f(3.5) => hit
K = 10


def f(x):
    a = K
    exec("K = K + 1", globals())
    return a + K + x


# program: global_changes_type_in_the_middle
# f("K = 5") => record, hit
# f("K = 'text'") => hit
# f("K = 6") => miss record
K = 10


def f(text):
    a = K + 1
    exec(text, globals())
    return K * 2, a


# program: builtin_shadowed_by_global
# f([1, 2]) => record, hit
# do len = lambda x: "shadowed"
# f([1, 2]) => hit
# do del len
# f([1, 2, 3]) => hit
def f(x):
    return len(x)


# program: builtin_replaced
# f([1, 2]) => record, hit
# do import builtins; original = builtins.len; builtins.len = lambda x: ("replaced", original(x))
# f([1, 2]) => hit
# do builtins.len = original
# f([1, 2, 3]) => hit
def f(x):
    return len(x)


# program: builtin_replaced_during_the_call
# f(5) => record, hit
# f(6) => hit
import builtins


def f(x):
    a = abs(-x)
    old = builtins.abs
    builtins.abs = str
    try:
        b = abs(-x)
    finally:
        builtins.abs = old
    return a, b, abs(-x)


# program: function_redefined_by_callee
# f(1) => record
# f(2) => miss record
# f(3) => hit
def g(x):
    global g

    def g(x):
        return ("second", x)

    return ("first", x)


def f(x):
    return g(x), g(x)


# program: imports_in_function
# f(2) => record, hit
# f(10) => hit
def f(x):
    import math
    import os.path as p
    from collections import OrderedDict as O, deque

    import xml.dom

    return math.sqrt(x), p.join("a", "b"), O(a=x), deque([x]), xml.dom.__name__, math.pi * x


# program: import_errors
# f(1) => record
# f(1) => hit
def f(x):
    try:
        from math import nothing_like_this
    except ImportError as error:
        first = error.name
    try:
        import no_such_module_anywhere
    except ModuleNotFoundError as error:
        return first, str(error)


# program: star_import_at_exec
# f("math") => record, hit
# f("cmath") => hit
def f(name):
    names = {}
    exec(f"from {name} import *", names)
    return names["sqrt"](4), sorted(names)[:3]


# program: module_attributes
# f(2.0) => record, hit
# f(3.0) => hit
# do saved = math.pi; math.pi = 3
# f(2.0) => miss record
# do math.pi = saved
# f(2.0) => hit
import math


def f(r):
    return math.pi * r * r + math.e * 0


# program: module_function_replaced
# f(2.0) => record, hit
# do saved = math.sqrt; math.sqrt = lambda x: "patched"
# f(2.0) => hit
# do math.sqrt = saved
# f(4.0) => hit
import math


def f(x):
    return math.sqrt(x)


# program: decorators
# f(3) => record, hit
# f(4) => hit
# note: the wrapper is f; the decorated function is its callee
import functools


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs), function(*args, **kwargs)

    return wrapper


@twice
def f(x):
    return x * 2


# program: decorators_inside
# f(3) => record, hit
# f(4) => hit
def noisy(tag):
    print("decorating with", tag)

    def decorate(function):
        def wrapper(x):
            print("call", tag)
            return (tag, function(x))

        return wrapper

    return decorate


def f(n):
    @noisy("outer")
    @noisy(n)
    def inner(x):
        return x + n

    return inner(10)


# program: trace_as_decorator
# trace:
# f(3) => record, hit
# f(4) => hit
@trace
def f(x):
    return x + 1


# program: traced_function_calls_traced_function
# trace: f, g
# note: while f records, g is its callee and records nothing by itself
# f(3) => record, hit
# g(3) => record, hit
# f(4) => hit
def g(x):
    return x + 1


def f(x):
    return g(x) * 2


# program: traced_callee_first
# trace: f, g
# g(3) => record, hit
# f(3) => record, hit
# g(4) => hit
def g(x):
    return x + 1


def f(x):
    return g(x) * 2


# program: names_from_two_modules
# note: the callee has globals of its own, with a name of the caller's
# f(1) => record, hit
# do other["K"] = 1000
# f(2) => hit
K = 5
other = {"K": 100}
exec("def g(x):\n    return x + K", other)
g = other["g"]


def f(x):
    return g(x) + K


# program: globals_and_locals_functions
# f(1) => record, hit
# f("x") => hit
def f(x):
    y = [x]
    globals()["stored"] = y
    return sorted(locals()), locals()["y"], stored, "f" in globals()


# program: eval_and_exec
# f(3) => record, hit
# f(4) => hit
# f("a") => hit
def f(x):
    y = 2
    a = eval("x * y")
    names = {"x": x}
    exec("z = x", names)
    return a, names["z"], eval("[x for x in 'ab']")


# program: dunder_names
# f(1) => record, hit
# f(2) => hit
def f(x):
    return __name__, f.__name__, f.__qualname__, f.__doc__, f.__module__, f.__defaults__, f.__closure__


# program: function_attributes
# f(1) => record, hit, hit
def f(x):
    f.calls = getattr(f, "calls", 0) + x
    return f.calls


# program: global_object_mutated
# f(1) => record, hit
# do config["k"] = "new"
# f(1) => hit
# do config = {"k": "another"}
# f(1) => hit
config = {"k": "old"}


def f(x):
    return config["k"], x
