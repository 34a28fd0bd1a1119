"""Arguments of every kind."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: positional_keyword_defaults
# f(1) => record
# f(1, 3) => hit
# f(b=7, a=2) => hit
# f(1, c="x") => hit
# f() => none
def f(a, b=5, c="c"):
    return a + b, c


# program: keyword_only
# f(1, k=2) => record, hit
# f(3, k=4, m=5) => hit
# f(1) => none
# f(1, k=2.5) => miss record
def f(a, *, k, m=10):
    return a * k + m


# program: positional_only
# f(1, 2) => record, hit
# f(1, b=3) => hit
# f(a=1, b=2) => none
def f(a, /, b):
    return a - b


# program: star_args
# f(1, 2, 3) => record, hit
# f(1) => hit
# f(1, 2) => hit
def f(a, *args):
    return a, args, len(args), args[::-1]


# program: double_star_kwargs
# f(1, x=2, y=3) => record, hit
# f(1) => hit
# f(a=1, z=2) => hit
def f(a, **kwargs):
    kwargs["added"] = a
    return a, kwargs, sorted(kwargs)


# program: every_kind
# f(1, 2, 3, 4, k=5, z=6) => record, hit
# f(1, 2, k=5) => hit
# f(1, b=2, k=7, q=8) => hit
def f(a, /, b, *args, k, m=9, **kwargs):
    return a, b, args, k, m, kwargs


# program: args_passed_on
# f(1, 2, x=3) => record, hit
# f(1, 2, 3, 4) => hit exit
# f() => hit exit
def g(*args, **kwargs):
    return len(args), args, kwargs


def f(*args, **kwargs):
    return g(*args, **kwargs), g(args, kwargs=kwargs)


# program: mutable_default
# note: the default list is shared by all calls
# f(1) => record, hit, hit
# f(2, []) => hit
def f(x, into=[]):
    into.append(x)
    return list(into)


# program: defaults_changed_between_calls
# f(1) => record, hit
# do f.__defaults__ = (100,)
# f(1) => hit
# do f.__defaults__ = ("s",)
# f(1) => miss record
# do f.__kwdefaults__ = {"k": 0}
# f(1, 2) => hit
def f(a, b=5, *, k=1):
    return (a, b * 2, k)


# program: argument_rebound
# f([1]) => record, hit
# f([2, 3]) => hit
def f(x):
    y = x
    x = len(x)
    y.append(x)
    x = (x, y)
    return x


# program: argument_deleted
# f(1) => record
# f(2) => hit
def f(x):
    y = x + 1
    del x
    try:
        return x
    except UnboundLocalError as error:
        return y, str(error)


# program: same_object_twice
# do one = [1]
# f(one, one) => record, hit
# f([1], [1]) => hit
def f(a, b):
    a.append(5)
    return a is b, a == b, b


# program: many_arguments
# f(*range(12)) => record, hit
# f(*range(5, 17)) => hit
# f(*range(11), 2.5) => miss record
def f(a, b, c, d, e, g, h, i, j, k, l, m):
    return a + b - c + d - e + g - h + i - j + k - l + m


# program: wrong_number_of_arguments
# note: the body is never entered, so there is no event
# f(1, 2) => record, hit
# f(1) => none
# f(1, 2, 3) => none
# f(1, 2, c=3) => none
def f(a, b):
    return a + b


# program: arguments_kept_alive_by_caller_only
# f(Loud("a"), Loud("b")) => record, hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def f(a, b):
    print("in")
    a = None
    print("a gone")
    b = a
    return "out"


# program: unhashable_and_strange_arguments
# f({}, [], set(), lambda: 0) => record, hit
# f(1, "x", None, ...) => hit
def f(a, b, c, d):
    return (d, c, b, a)
