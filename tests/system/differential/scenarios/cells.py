"""The closure scenarios of the one model for cells, and rows CL1 to CL7 of the requirements; see `test_closures.py`."""
# fmt: off
# ruff: noqa: F811, F821


# program: closure_leaves_its_scope
# f(3) => record, hit
# f([1]) => hit
def f(x):
    y = (x, "captured")

    def inner(z):
        return x, y, z

    return inner


# program: closure_leaves_its_scope_and_is_called
# do a = f(3)
# a(1) => none
# f(4)(1) => hit
# a(2) => none
# do b = f(5)
# b(1) => none
def f(x):
    y = x + 1

    def inner(z):
        return x, y, z

    return inner


# program: closure_leaves_its_scope_with_mutation
# f(3)() => record, hit
# do a = f(10); b = f(20)
# a() => none, none
# b() => none
# a.__closure__[0].cell_contents => none
def f(x):
    n = x

    def inner():
        nonlocal n
        n = n + 1
        return n

    n = n + 100
    return inner


# program: closure_leaves_its_scope_with_a_condition
# f(3) => record, hit
# f(-3) => hit exit, hit exit
# f(4)() => hit
# f(-4)() => hit exit
def f(x):
    n = x
    if x > 0:
        def inner():
            nonlocal n
            n += 1
            return "plus", n
    else:
        def inner():
            return "minus", n
    n = n * 10
    return inner


# program: mutation_across_an_interruption
# note: the opaque call and the side exit stand between two writes to the cell
# f(1, [1]) => record, hit
# f(2, []) => hit exit
# f(3, [0]) => hit
def f(x, flag):
    n = x

    def add(k):
        nonlocal n
        n += k
        return n

    add(1)
    print("interruption", n)
    if flag:
        add(10)
    else:
        add(1000)
    n += 5
    return n, add(0), add


# program: writes_across_functions
# f(1) => record, hit
# f(5) => hit
def f(x):
    n = x

    def first():
        nonlocal n
        n += 1
        second()
        return n

    def second():
        nonlocal n
        n *= 10
        return n

    a = first()
    b = second()
    n += 7
    return a, b, n, first(), second


# program: writes_across_frames
# note: the innermost frame writes a variable of the root, two frames up
# f(1) => record, hit
# f(5) => hit
def f(x):
    n = x

    def outer():
        m = n + 1

        def inner():
            nonlocal n, m
            n += 1
            m += n
            return n, m

        first = inner()
        m += 100
        return first, inner(), m

    before = outer()
    n += 1000
    return before, outer(), n


# program: free_variable_and_local_of_one_name
# f(1) => record, hit
# f(5) => hit
def make():
    x = "free"

    def g(y):
        nonlocal x
        x = (x, y)[0] + "!"
        return x

    return g


g = make()


def f(x):
    y = x + 1
    return g(x), x, y, g(y), x


# program: free_variable_and_local_of_one_name_in_callee
# f(1) => record, hit
# f(2) => hit
def f(x):
    n = x

    def g(k):
        n = k * 2
        return n

    def h():
        return n

    def change():
        nonlocal n
        n += 5

    a = g(n)
    change()
    return a, h(), n, g(h())


# program: cell_captured_by_existing_function_but_not_by_root
# f(1) => record, hit, hit
# do put(2.5)
# f(1) => miss record
# do put(7)
# f(1) => hit
def make():
    total = 10

    def get():
        return total

    def add(k):
        nonlocal total
        total += k
        return total

    def put(v):
        nonlocal total
        total = v

    return get, add, put


get, add, put = make()


def f(x):
    a = get()
    b = add(x)
    return a, b, get() - a


# program: shadowed_names
# f(1) => record, hit
# f("s") => hit
x = "global x"


def f(x):
    def g(x):
        def h():
            x = "local of h"
            return x

        return h(), x

    def k():
        global x
        x = (x, "changed")[0]
        return x

    return g((x, "of g")), k(), x


# program: existing_function_that_makes_a_capturing_function
# f(1) => record, hit
# f(5) => hit
def make(n):
    def step(k):
        nonlocal n
        n += k
        return n

    return step


def f(x):
    a, b = make(x), make(x * 100)
    return a(1), a(1), b(1), a(1), a, b


# program: existing_function_nests_twice
# f(1) => record, hit
# f(5) => hit
def make(a):
    def middle(b):
        def inner(c):
            nonlocal a
            a += 1
            return a, b, c

        return inner

    return middle


def f(x):
    m = make(x)
    i, j = m("i"), m("j")
    return i(1), j(2), i(3), m


# program: mutation_of_an_input_cell
# note: the traced function itself has the cell as an input
# f(1) => record, hit, hit
# read() => none
# do write(100)
# f(1) => hit
# read() => none
def make():
    n = 0

    def f(x):
        nonlocal n
        n += x
        return n

    def read():
        return n

    def write(v):
        nonlocal n
        n = v

    return f, read, write


f, read, write = make()


# program: mutation_of_an_input_cell_changes_its_type
# f(1) => record, hit
# f(0.5) => miss record, miss record
# read() => none
def make():
    n = 0

    def f(x):
        nonlocal n
        n += x
        return n

    return f, lambda: n


f, read = make()


# program: local_class_whose_method_mutates_a_captured_list
# f(1) => record, hit
# f("x") => hit
def f(x):
    items = [x]

    class Collector:
        def add(self, v):
            items.append(v)
            return self

    c = Collector()
    c.add(2).add(3)
    return items, len(items), c


# program: local_class_whose_method_rebinds_a_captured_name
# f(1) => record, hit
# f("x") => hit
def f(x):
    state = x

    class Setter:
        first = state

        def set(self, v):
            nonlocal state
            state = (state, v)

    s = Setter()
    s.set("new")
    before = state
    s.set("newer")
    return before, state, Setter.first


# program: cl1_all_origins_of_cells_at_once
# note: created by the root, captured by it, created by a recorded callee, shared with functions outside
# f(1) => record, hit
# outside() => none
# f(2) => hit
def make():
    captured = 1000
    shared = ["s"]

    def outside():
        nonlocal captured
        captured += 1
        shared.append(captured)
        return captured

    def f(x):
        nonlocal captured
        own = x

        def inner():
            nonlocal own
            own += captured
            return own

        def maker(k):
            def made():
                nonlocal k
                k += own
                return k

            return made

        captured += inner()
        m = maker(5)
        return m(), m(), outside(), own, captured, list(shared), m, inner

    return f, outside


f, outside = make()


# program: cl2_delete_of_captured_name
# f(1) => record
# f(2) => hit
def f(x):
    def get():
        return x

    first = get()
    del x
    try:
        get()
    except NameError as error:
        second = str(error), error.name
    x = "again"
    return first, second, get()


# program: cl2_delete_and_bind_again
# f(1) => record, hit
# f("v") => hit
def f(x):
    def get():
        return x

    def drop():
        nonlocal x
        del x

    drop()
    x = "first"
    a = get()
    del x
    x = "second"
    return a, get(), get


# program: cl2_unbound_cells
# f(0) => record
# f(1) => hit
def f(n):
    def get():
        return late

    try:
        get()
    except NameError as error:
        first = str(error)
    try:
        late
    except UnboundLocalError as error:
        second = str(error)
    late = n
    return first, second, get(), late


# program: cl2_empty_cell_stays_empty_in_the_closure
# f(1) => record, hit
# f(2)() => hit
def f(n):
    def get():
        return never

    if n < 0:
        never = n
    return get


# program: cl2_class_cell_and_super
# f(1) => record, hit
# f(2) => hit
class A:
    def m(self, x):
        return ["A.m", x]

    @classmethod
    def c(cls, x):
        return ["A.c", cls.__name__, x]


class B(A):
    def m(self, x):
        inner = lambda: (__class__.__name__, super(B, self).m(x))
        return [super().m(x), inner(), super().c(x)]

    @classmethod
    def c(cls, x):
        return ["B.c", super().c(x)]


def f(x):
    return B().m(x), B.c(x)


# program: cl2_super_in_a_local_class
# f(1) => record, hit
# f("s") => hit
def f(x):
    class A:
        def m(self):
            return ["A", x]

    class B(A):
        def m(self):
            return ["B", super().m(), __class__ is B]

    return B().m()


# program: cl2_class_body_reads_free_variables
# note: a class body looks in its own namespace first, then in the cell
# f(1) => record, hit
# f("s") => hit
def f(x):
    y = [x]

    class C:
        a = x
        locals()["x"] = "of the class"
        b = x
        y.append(a)
        c = y

    return C.a, C.b, C.c, C.x, x, y


# program: cl2_nonlocal_in_comprehension_and_lambda
# f(2) => record, hit
# f(2) => hit
def f(n):
    count = n

    def bump():
        nonlocal count
        count += 1
        return count

    a = [bump() + n for _ in range(2)]
    b = [lambda: (count, i) for i in range(2)]
    bump()
    return a, b[0](), b[1](), count


# program: cl3_one_name_in_many_frames
# f(1) => record, hit
# f(7) => hit
def f(n):
    def g(n):
        def h(n):
            def up():
                nonlocal n
                n += 1
                return n

            return up(), up(), n, up

        a = h(n * 10)

        def up():
            nonlocal n
            n += 1
            return n

        return a, up(), n, h(n)

    first = g(n * 100)

    def up():
        nonlocal n
        n += 1
        return n

    return first, up(), n, g(n)


# program: cl3_equal_contents_in_different_cells
# note: three cells hold the same object; only one of them is written
# f("same") => record, hit
# f(1) => hit
def f(x):
    a = b = c = x

    def write():
        nonlocal b
        b = "written"

    def read():
        return a, b, c

    before = read()
    write()
    return before, read(), a, b, c


# program: cl3_recursion_has_a_cell_per_frame
# f(3) => record, hit
def f(n):
    def walk(k):
        mine = k * 10

        def touch():
            nonlocal mine
            mine += 1
            return mine

        if k == 0:
            return [touch()]
        return [touch(), *walk(k - 1), touch()]

    return walk(n)


# program: cl4_write_is_seen_after_a_side_exit
# f(1, [1]) => record, hit
# f(2, []) => hit exit
# f(3, [1]) => hit
def f(x, flag):
    n = x

    def outer():
        nonlocal n
        n += 1

        def inner():
            nonlocal n
            n += 10
            flag.append(n)
            if len(flag) == 2:
                n += 100
            else:
                n += 10000
            return n

        r = inner()
        n += 1
        return r, inner

    r, inner = outer()
    return r, n, inner


# program: cl4_functions_outside_write_in_the_middle
# note: sorted calls the writer from C
# f([2, 1]) => record, hit
# f([5]) => hit
def f(items):
    last = None
    count = 0

    def key(v):
        nonlocal last, count
        last = v
        count += 1
        return v

    out = sorted(items, key=key)
    return out, last, count


# program: cl5_closure_mutated_between_replays
# note: what f returned is called, changed and called again between the replays of f
# do kept = []
# f(1) => record
# do kept[0](); kept[0]()
# f(10) => hit
# do kept[1](); kept[0]()
# f(100) => hit
# [k() for k in kept] => none
def f(x):
    n = x

    def step():
        nonlocal n
        n += 1
        return n

    n += 1000
    kept.append(step)
    return step()


# program: cl6_root_passes_a_capturing_function_on
# f(1) => record, hit
# f(5) => hit
def apply(function, times):
    out = []
    for _ in range(times):
        out.append(function())
    return out


def f(x):
    def step():
        nonlocal x
        x += 1
        return x

    return apply(step, 2), x, apply(lambda: x, 2)


# program: cl7_content_changes_type
# f() => record, hit
# do put(1.5)
# f() => miss record, hit
# do put("text")
# f() => miss record
# do put(3)
# f() => hit
def make():
    n = 1

    def f():
        return n * 2

    def put(v):
        nonlocal n
        n = v

    return f, put


f, put = make()


# program: cl7_content_decides_a_branch
# f() => record, hit
# do put(-1)
# f() => miss record, hit
# do put(5)
# f() => hit
def make():
    n = 1

    def f():
        if n > 0:
            return "plus", n
        return "minus", n

    def put(v):
        nonlocal n
        n = v

    return f, put


f, put = make()


# program: cl7_function_in_a_cell_is_replaced
# f(1) => record, hit
# do put(lambda x: ("second", x))
# f(1) => miss record, hit
# do put(len)
# f("abc") => miss record
def make():
    g = lambda x: ("first", x)

    def f(x):
        return g(x)

    def put(v):
        nonlocal g
        g = v

    return f, put


f, put = make()
