"""Closures and cells; the scenarios of the cell model itself are in `test_closures.py`."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: closure_returned
# f(3) => record, hit
# f(2.5) => hit
def f(x):
    def inner(y):
        return x, y

    return inner, inner(5)


# program: closure_called_inside
# f(3) => record, hit
# f(4) => hit
# f(2.5) => miss record
def f(x):
    def add(y):
        return x + y

    return add(1) + add(2)


# program: nonlocal_counter
# f(3) => record, hit
# f(7) => hit
def f(start):
    n = start

    def bump():
        nonlocal n
        n += 1
        return n

    return bump(), bump(), n, bump


# program: two_closures_share_a_cell
# f(1) => record, hit
# f("a") => hit
def f(x):
    def get():
        return x

    def put(v):
        nonlocal x
        x = v

    before = get()
    put((x, "new"))
    return before, get(), x, get, put


# program: closure_over_loop_variable
# f([1, 2, 3]) => record, hit
# f([4, 5, 6]) => hit
def f(items):
    functions = []
    for item in items:
        functions.append(lambda: item)
    return [g() for g in functions]


# program: closure_with_default
# f([1, 2, 3]) => record, hit
# f([4, 5, 6]) => hit
def f(items):
    functions = []
    for item in items:
        functions.append(lambda item=item: item)
    return [g() for g in functions], functions[0].__defaults__


# program: traced_closure
# trace: f, g
# note: two functions share one code object; each has cells of its own
# f(1) => record, hit
# g(1) => hit, hit
# f(2) => hit
def make(n):
    def inner(x):
        nonlocal n
        n += x
        return n

    return inner


f, g = make(10), make(100)


# program: traced_closure_type_change
# f(1) => record, hit
# do setter(2.5)
# f(1) => miss record, hit
def make(n):
    def inner(x):
        return n + x

    def put(v):
        nonlocal n
        n = v

    return inner, put


f, setter = make(10)


# program: deleted_cell
# f(3) => record
# f(4) => hit
def f(x):
    def inner():
        return x

    a = inner()
    del x
    try:
        inner()
    except NameError as error:
        return a, str(error), inner
    return a


# program: cell_not_yet_bound
# f(True) => record, hit
# f(False) => miss record
def f(flag):
    def inner():
        return late

    if flag:
        late = 5
    return inner()


# program: argument_is_a_cell
# f(1, [2]) => record, hit
# f(3, [4]) => hit
def f(a, b):
    def inner():
        nonlocal a
        a = (a, b)
        b.append(a)
        return a

    inner()
    return a, b, inner.__closure__[0].cell_contents


# program: keyword_and_star_arguments_are_cells
# f(1, 2, 3, k=4) => record, hit
# f(1) => hit
def f(a, *args, **kwargs):
    def inner():
        return a, args, kwargs

    return inner()


# program: nested_three_deep
# f(1) => record, hit
# f(5) => hit
def f(a):
    b = a + 1

    def outer():
        c = a + b

        def inner():
            nonlocal b
            b += c
            return a, b, c

        return inner

    return outer()(), b


# program: recursive_closure
# f(4) => record, hit
# f(5) => hit
def f(n):
    def fact(k):
        return 1 if k <= 1 else k * fact(k - 1)

    return fact(n)


# program: closure_mutated_by_callback
# f([1, 2, 3]) => record, hit
# f([4]) => hit
def f(items):
    total = 0

    def add(x):
        nonlocal total
        total += x
        return total

    out = list(map(add, items))
    return out, total


# program: callee_writes_cell_then_exit
# note: the write must have happened when the original instructions continue after the exit
# f(1, [1]) => record, hit
# f(2, []) => hit exit
# f(3, [1]) => hit
def f(x, flag):
    n = x

    def bump():
        nonlocal n
        n = n + 10

    bump()
    flag.append(n)
    if len(flag) > 1:
        return n, "long"
    bump()
    return n, "short"


# program: exit_inside_closure
# f(1, [1]) => record, hit
# f(2, []) => hit exit
# f(3, [1]) => hit
def f(x, flag):
    seen = []

    def inner(y):
        nonlocal x
        seen.append(y)
        x += 1
        if flag:
            x *= 10
        else:
            x *= 1000
        return x + y

    return inner(5), x, seen


# program: cells_in_comprehension
# f(3) => record, hit
# f(3) => hit
def f(n):
    k = n * 2
    return [lambda: (i, k) for i in range(2)][0](), [i + k for i in range(3)], {i: k for i in "ab"}


# program: global_and_nonlocal_names
# f(1) => record, hit
# f(2) => hit
value = "global"


def f(x):
    value = "local"

    def inner():
        global value
        value = ("changed", x)
        return value

    return inner(), value


# program: class_cell
# f(3) => record, hit
class Base:
    def get(self, x):
        return ("base", x)


class Derived(Base):
    def get(self, x):
        return ("derived", __class__.__name__, super().get(x))


def f(x):
    return Derived().get(x)
