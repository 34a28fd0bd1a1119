"""Mutation under our feet, re-entrancy, side exits at every depth, the order in which things die."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: opaque_call_changes_argument
# f([1, 2, 3]) => record, hit
# f([4, 5]) => hit
# f([4]) => hit exit
def f(x):
    n = len(x)
    first = x[0]
    x.pop()
    return n, first, len(x), x[0], x


# program: opaque_call_changes_attribute
# note: the attribute is read again after the call, with another type
# f(Thing(1), 2) => record, hit
# f(Thing(1), 2.5) => hit
# f(Thing(5), 6) => hit
class Thing:
    def __init__(self, v):
        self.v = v


def f(t, new):
    a = t.v + 1
    setattr(t, "v", new)
    return a, t.v + 1


# program: callback_changes_global_function
# f("g = lambda: 'lambda'") => record
# f("pass") => miss record
# f("del g") => hit exit
def g():
    return "first"


def f(text):
    a = g()
    exec(text, globals())
    return a, g()


# program: callback_changes_method
# f("pass") => record, hit
# f("A.m = lambda self: 'patched'") => hit exit
class A:
    def m(self):
        return "original"


def f(text):
    a = A()
    before = a.m()
    exec(text, globals())
    return before, a.m()


# program: exit_one_level_deep
# do log = []
# f([1]) => record, hit
# f([-1]) => hit exit
# f([2]) => hit
def g(x):
    log.append("g")
    a = x[0] + 1
    if x[0] > 0:
        b = "plus"
    else:
        b = "minus"
    log.append(b)
    return a, b


def f(x):
    before = ["f"]
    r = g(x)
    log.append("back")
    return before, r, x


# program: exit_two_levels_deep
# do log = []
# f([1]) => record, hit
# f([-1]) => hit exit
# f([2]) => hit
def h(x, *rest):
    log.append(rest)
    local = len(rest)
    return ("plus", local) if x[0] > 0 else ("minus", local, x)


def g(x, k=3):
    mine = [k]
    return "g", mine, h(x, k, 5), mine


def f(x):
    a = x[0]
    b = [g(x), g(x, k=a)]
    return a, b


# program: exit_three_levels_deep
# do log = []
# f([1]) => record, hit
# f([-1]) => hit exit
# f(["s"]) => hit exit
# f([2]) => hit
def i(x):
    log.append("i")
    return x[0] + 1 if x[0] > 0 else x[0] - 1


def h(x):
    return [i(x), i(x)]


def g(x):
    try:
        return h(x), "g"
    finally:
        log.append("g done")


def f(x):
    try:
        return g(x), "f"
    except TypeError as error:
        return error


# program: exit_in_callee_in_loop
# f([1, 2, 3]) => record, hit
# f([1, -2, 3]) => hit exit
# f([1, 2, -3]) => hit exit
# f([4, 5, 6]) => hit
def g(x, log):
    log.append(x)
    if x < 0:
        log.append("negative")
        return -x
    return x


def f(items):
    log = []
    total = 0
    for x in items:
        total += g(x, log)
    return total, log


# program: exit_in_callee_then_exception
# f([1, 1]) => record, hit
# f([-1, 1]) => hit exit
# f([-1, 0]) => hit exit
# f([1, 0]) => hit exit
def g(x):
    x.append("g")
    if x[0] > 0:
        return 10 // x[1]
    return -10 // x[1]


def f(x):
    try:
        return g(x)
    except ZeroDivisionError as error:
        return error, x


# program: exit_in_callee_inside_with
# f([1]) => record, hit
# f([-1]) => hit exit
class Manager:
    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, *what):
        print("exit", what[0])


def g(x):
    with Manager():
        if x[0] > 0:
            return "plus"
        raise ValueError("minus")


def f(x):
    try:
        return g(x)
    except ValueError as error:
        return error


# program: exit_with_callers_stack
# note: the caller has operands on its stack while the callee is left
# f([1]) => record, hit
# f([-1]) => hit exit
def g(x):
    x.append(0)
    return "plus" if x[0] > 0 else "minus"


def f(x):
    return [1, {"k": (x[0], g(x), *[5])}, f"{x[0]}{g(x)}", len(x)]


# program: callee_exit_with_cells
# f([1]) => record, hit
# f([-1]) => hit exit
def f(x):
    n = 10

    def g(k):
        nonlocal n
        n += k
        x.append(n)
        if x[0] > 0:
            n *= 2
        else:
            n *= 1000
        return lambda: (n, k)

    h = g(5)
    n += 1
    return h(), n, x


# program: reentrant_through_callback
# note: f is entered again during f's own recording (or replay)
# f([3, [2, 1]]) => record
# f([6, [5, 4]]) => hit hit
def visit(x):
    return f(x) if isinstance(x, list) else x


def f(x):
    return [x[0], list(map(visit, x[1:]))]


# program: reentrant_recursion_through_sort
# f(2) => record
# f(0) => miss record
def f(n):
    if n == 0:
        return [0]
    return sorted([3, 1, 2], key=lambda k: f(n - 1)[0] * k)


# program: recursive_data
# f([]) => record, hit
def f(x):
    x.append(x)
    y = {"x": x}
    y["y"] = y
    return x, y


# program: temporaries_die_in_order
# f(1) => record, hit
# f(2) => hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)

    def keep(self, other):
        return self.name


def f(x):
    print("start")
    Loud(("temporary", x))
    print("after temporary")
    n = Loud("a").keep(Loud("b"))
    print("after call")
    return n


# program: locals_die_in_order
# f(1) => record, hit
# f(2) => hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def f(x):
    a = Loud("a")
    b = Loud(("b", x))
    a = Loud("second a")
    print("rebound")
    del b
    print("deleted")
    c = Loud("c")
    return x


# program: locals_of_callee_die_at_its_return
# f(1) => record, hit
# f(2) => hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g(x):
    mine = Loud(("mine", x))
    other = Loud("other")
    print("in g")
    return x


def f(x):
    g(x)
    print("after g")
    y = g(x + 1)
    print("end")
    return y


# program: weakrefs_of_locals
# f(1) => record, hit
# f(2) => hit
import weakref


class Thing:
    pass


def f(x):
    t = Thing()
    r = weakref.ref(t, lambda _: print("gone"))
    alive = r() is t
    u = t
    del t
    print("one name left", r() is u)
    u = x
    return alive, r() is None


# program: del_after_side_exit
# f([1]) => record, hit
# f([-1]) => hit exit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g(x):
    mine = Loud("mine")
    x.append(len(x))
    if x[0] < 0:
        print("negative")
    return x[0]


def f(x):
    a = Loud("a")
    r = g(x)
    print("back")
    a = r
    return a


# program: del_after_exception_in_callee
# f([1]) => record, hit
# f([]) => hit exit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g(x):
    mine = Loud("mine")
    return x[0]


def f(x):
    try:
        return g(x)
    except IndexError as error:
        print("handling")
    print("handled")


# program: finaliser_changes_globals
# note: what a finaliser does must be seen by what comes after it
# f(1) => record, hit
# f(2) => hit
state = "initial"


class Setter:
    def __del__(self):
        global state
        state = (state, "finalised")[1]


def f(x):
    global state
    state = "initial"
    s = Setter()
    before = state
    s = None
    return before, state, x


# program: finaliser_changes_type_of_global
# f(1) => record, hit
K = 1


class Setter:
    def __del__(self):
        global K
        K = "text"


def f(x):
    global K
    K = x
    a = K + 1
    s = Setter()
    del s
    return a, K * 2


# program: refcounts_at_rest
# f([1]) => record, hit, hit
import sys


def g(x):
    y = x
    return sys.getrefcount(x) - sys.getrefcount(y)


def f(x):
    a = object()
    before = sys.getrefcount(a)
    b = [a, a]
    after = sys.getrefcount(a)
    del b
    return before, after, sys.getrefcount(a), g(x)


# program: argument_consumed_by_callee
# note: a list that only the callee holds is freed as early as in eager runs
# f(3) => record, hit
import weakref


class Big:
    pass


def consume(items):
    ref = weakref.ref(items[0])
    items.clear()
    return ref() is None


def f(n):
    return consume([Big() for _ in range(n)]), consume([Big()])


# program: print_order
# f(1) => record, hit
# f(2) => hit
def show(name, value):
    print(name, value)
    return value


def f(x):
    return show("a", x) + show("b", x + 1) * show("c", 2) if show("cond", True) else show("d", 0)


# program: evaluation_order
# f(1) => record, hit
# f("k") => hit
def t(name):
    print(name)
    return name


def target(name):
    print("target", name)
    return {}


def f(x):
    d = {t("k1"): t("v1"), t("k2"): t("v2")}
    target("d")[t("key")] = t("value")
    a = [t(1), *[t(2)], t(3)]
    b = (lambda *a, **k: (a, sorted(k)))(t("p"), *[t("q")], k=t("r"), **{t("s"): t("u")})
    return d, a, b, t("x") < t("y") < t("z")


# program: threads_use_one_function
# f(1) => record, hit
# do import threading; results = []
# do ts = [threading.Thread(target=lambda i=i: results.append(f(i))) for i in range(4)]
# do [t.start() or t.join() for t in ts]; del ts
# f(2) => hit
def f(x):
    return x * 2 + 1


# program: signal_like_callback
# note: a weakref callback runs in the middle of the function and appends to its list
# f([]) => record, hit
import weakref


class Thing:
    pass


def f(log):
    t = Thing()
    r = weakref.ref(t, lambda _: log.append("callback"))
    log.append("before")
    del t
    log.append("after")
    return log, len(log)


# program: object_resurrected
# f(1) => record, hit
saved = []


class Phoenix:
    def __del__(self):
        saved.append(self)


def f(x):
    p = Phoenix()
    p.x = x
    del p
    return saved[-1].x, len(saved)


# program: arguments_changed_by_caller_thread_of_control
# note: the same list object, changed between calls by others
# do shared = [1, 2]
# f(shared) => record, hit
# do shared.append(3)
# f(shared) => hit exit
# do shared[0] = 1.5
# f(shared) => hit exit
# do shared[:] = [3, 4]
# f(shared) => hit
def f(x):
    total = 0
    for v in x:
        total = total + v
    return total


# program: signal_handler_runs_in_frame
# f(1) => record, hit
# f(2) => hit
import signal


def handler(number, frame):
    print("signal", frame.f_code.co_name, frame.f_lineno)


def g(x):
    signal.raise_signal(signal.SIGUSR1)
    return x


def f(x):
    old = signal.signal(signal.SIGUSR1, handler)
    try:
        signal.raise_signal(signal.SIGUSR1)
        return g(x)
    finally:
        signal.signal(signal.SIGUSR1, old)


# program: another_thread_calls_it_meanwhile
# note: both threads record at once; the inner recording is finished first (n == 0), then the outer one
# f(1) => record record
# f(1) => hit hit
import _thread
import queue

answers = queue.SimpleQueue()


def run(n):
    answers.put(f(n))


def f(n):
    if n > 0:
        _thread.start_new_thread(run, (n - 1,))
        return answers.get(), n
    return n


# program: profile_function_installed
# note: under a profile function the original instructions run
# f(1) => record, hit
# do import sys; sys.setprofile(profiler)
# f(2) => none
# do sys.setprofile(None)
# f(3) => hit
seen = []


def profiler(frame, event, arg):
    if frame.f_code.co_filename == f.__code__.co_filename:
        seen.append((frame.f_code.co_name, event, frame.f_lineno))


def g(x):
    return x + 1


def f(x):
    return g(x) * 2


# program: collector_runs_in_the_middle
# f(1) => record, hit
# f(2) => hit
import gc


class Node:
    def __init__(self, name):
        self.name = name
        self.me = self

    def __del__(self):
        print("collected", self.name)


def f(x):
    a = Node("a")
    del a
    b = Node("b")
    gc.collect()
    print("kept", b.name)
    b.me = None
    return x


# program: large_values_die_when_rebound
# f(3) => record, hit
# f(4) => hit
import weakref


class Chunk(list):
    pass


def f(n):
    alive = []
    chunk = Chunk()
    for i in range(3):
        r = weakref.ref(chunk)
        chunk = Chunk([i, n])
        alive.append(r() is None)
    return alive, chunk


# program: loop_items_die
# f(2) => record, hit
# f(2) => hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def f(n):
    for item in [Loud(i) for i in range(n)]:
        print("item", item.name)
    print("loop over")
    for item in (Loud(i + 10) for i in range(n)):
        print("item", item.name)
    return n


# program: comprehension_temporaries_die
# f([1, 2]) => record, hit
# f([3, 4]) => hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def f(x):
    n = len([Loud(i) for i in x])
    print("list gone")
    m = [Loud(i).name for i in x]
    return n, m


# program: arguments_of_inlined_callee_die
# f(1) => record, hit
# f(2) => hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g(a, *rest, k=None):
    print("g has", a.name, len(rest))
    a = None
    print("a dropped")
    return rest


def f(x):
    r = g(Loud("a"), Loud("b"), k=Loud("k"))
    print("back")
    r = None
    print("r dropped")
    return x


# program: return_value_of_callee_dies
# f(1) => record, hit
# f(2) => hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g(x):
    mine = Loud("mine")
    return mine


def f(x):
    g(x)
    print("one")
    g(x).name
    print("two")
    y = g(x)
    y = g(x)
    print("three")
    return x


# program: exception_keeps_things_alive
# f([1]) => record, hit
# f([]) => hit exit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def h(x):
    inner = Loud("inner")
    return x[0]


def g(x):
    middle = Loud("middle")
    return h(x)


def f(x):
    outer = Loud("outer")
    try:
        return g(x)
    except IndexError as error:
        print("frames alive")
        kept = error
    print("after handler")
    del kept
    print("end")


# program: closure_cells_die
# f(1) => record, hit
# f(2) => hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def f(x):
    a = Loud("a")
    b = Loud("b")

    def inner():
        return a

    inner()
    print("called")
    a = None
    print("a rebound")
    del b
    return inner


# program: attribute_store_frees_old_value
# f(1) => record, hit
# f(2) => hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


class Holder:
    pass


def f(x):
    h = Holder()
    h.v = Loud(1)
    h.v = Loud(2)
    print("stored")
    d = {"k": Loud(3)}
    d["k"] = None
    print("item stored")
    l = [Loud(4)]
    del l[0]
    print("item deleted")
    return x


# program: global_store_frees_old_value
# f(1) => record, hit
# f(2) => hit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name, holder)


holder = None


def f(x):
    global holder
    holder = Loud("first")
    print("first stored")
    holder = "second"
    print("second stored")
    return holder
