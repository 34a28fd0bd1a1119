"""Finalisers, callbacks, iterators and the collector change the world in the middle of a recording or a replay."""
# fmt: off
# ruff: noqa: B010, B018, B023, E402, E501, E702, E704, E722, F401, F811, F821, F822, F842, I001, PLW0602, S102, UP008


# program: dict_changes_size_while_iterated
# f({"a": 1, "b": 2}, False) => record, hit
# f({"a": 1, "b": 2, "c": 3}, False) => hit exit
# f({"a": 1, "b": 2}, True) => hit exit
def f(d, grow):
    out = []
    try:
        for k in d:
            out.append(k)
            exec("d['new'] = 1" if grow else "pass", {"d": d})
    except RuntimeError as error:
        return out, str(error)
    return out


# program: list_changes_length_while_iterated
# f([1, 2, 3], 0) => record, hit
# f([1, 2, 3], 1) => hit exit
# f([3, 3, 3, 3], 2) => hit exit
def change(x, how):
    if how == 1:
        x.append(len(x)) if len(x) < 6 else None
    elif how == 2:
        x.pop()


def f(x, how):
    out = []
    for v in x:
        out.append(v)
        list(map(change, [x], [how]))
    return out, x


# program: set_changes_while_iterated
# f({1, 2}, set()) => record, hit
# f({1, 2}, {9}) => hit exit
def f(s, more):
    n = 0
    try:
        for v in s:
            n += v
            s.update(more)
    except RuntimeError as error:
        return n, str(error)
    return n


# program: list_sorted_while_key_function_changes_it
# f([3, 1, 2], False) => record, hit
# f([3, 1, 2], True) => hit exit
def f(x, change):
    def key(v):
        if change:
            x.append(v)
        return v

    try:
        x.sort(key=key)
    except ValueError as error:
        return str(error), x
    return x


# program: finaliser_of_a_temporary_changes_a_global
# f("a") => record, hit
# f("b") => hit
value = "start"


class Bomb:
    def __init__(self, text):
        self.text = text

    def __del__(self):
        global value
        value = self.text + "!"


def f(text):
    a = value
    Bomb(text + "1")
    b = value
    [Bomb(text + "2")]
    c = value
    x = Bomb(text + "3")
    x = None
    d = value
    (Bomb(text + "4"), 1)[1]
    return a, b, c, d, value


# program: finaliser_of_a_local_changes_a_callee
# f(1) => record, hit
# f(2) => hit
def first(x):
    return "first", x


def second(x):
    return "second", x


g = first


class Bomb:
    def __del__(self):
        global g
        g = second


def f(x):
    global g
    g = first
    b = Bomb()
    before = g(x)
    del b
    return before, g(x)


# program: finaliser_of_a_cell_content
# f(1) => record, hit
# f(2) => hit
value = 0


class Bomb:
    def __del__(self):
        global value
        value += 1


def f(x):
    b = Bomb()

    def read():
        return b

    before = value
    b = x
    middle = value
    b = Bomb()
    b = None
    return before, middle, value, read()


# program: finaliser_of_a_container_item
# f({}) => record, hit
# f({1: 1}) => hit
value = 0


class Bomb:
    def __del__(self):
        global value
        value += 1


class Holder:
    pass


def f(d):
    h = Holder()
    d["a"] = Bomb()
    h.a = Bomb()
    v0 = value
    d["a"] = 1
    v1 = value
    h.a = 1
    v2 = value
    x = [Bomb(), Bomb()]
    x[0] = 1
    v3 = value
    del x[0]
    v4 = value
    x.clear()
    v5 = value
    s = {Bomb()}
    s.pop()
    return v0, v1, v2, v3, v4, v5, value


# program: finaliser_at_the_return_of_a_callee
# f(1) => record, hit
# f(2) => hit
log = []


class Bomb:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(self.name)


def g(x):
    a = Bomb("a")
    b = Bomb("b")
    return len(log)


def f(x):
    log.clear()
    before = len(log)
    inside = g(x)
    after = len(log)
    return before, inside, after, list(log)


# program: weakref_callback_changes_a_global
# f(1) => record, hit
# f(2) => hit
import weakref

value = 0


class Thing:
    pass


def gone(ref):
    global value
    value += 10


def f(x):
    t = Thing()
    r = weakref.ref(t, gone)
    a = value
    t = x
    b = value
    return a, b, value, r() is None


# program: collector_callback_changes_a_global
# f(1) => record, hit
# f(2) => hit
import gc

value = 0


def collected(phase, info):
    global value
    value += 1


def f(x):
    gc.callbacks.append(collected)
    a = value
    gc.collect()
    b = value
    gc.callbacks.remove(collected)
    gc.collect()
    return b - a, value - b


# program: collector_finds_a_cycle
# f(1) => record, hit
# f(2) => hit
import gc

value = 0


class Node:
    def __del__(self):
        global value
        value += 1


def f(x):
    n = Node()
    n.me = n
    a = value
    del n
    b = value
    gc.collect()
    return a, b, value


# program: audit_hook_changes_a_global
# f(1) => record, hit
# f(2) => hit
import sys

value = 0


def hook(event, args):
    global value
    if event == "program.audit" and args[0] is globals():
        value += 5


sys.addaudithook(hook)


def f(x):
    a = value
    sys.audit("program.audit", globals())
    b = value
    sys.audit("program.audit", globals())
    return a, b, value


# program: callbacks_from_sort_map_filter_reduce
# f([3, 1, 2]) => record, hit
# f([5, 4]) => hit
from functools import cmp_to_key, reduce

state = 0


def bump(*args):
    global state
    state += 1
    return -1 if args[0] < args[-1] else 1


def f(x):
    a = state
    y = sorted(x, key=cmp_to_key(bump))
    b = state
    z = list(map(bump, x))
    c = state
    w = reduce(bump, x)
    d = state
    m = max(x, key=lambda v: bump(v, v))
    return y, z, w, m, b - a > 0, c - b, d - c, state - d


# program: iteration_protocol_changes_globals
# f(It(3)) => record, hit
# f(It(3)) => hit
value = 0


class It:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        global value
        value += 100
        return self

    def __next__(self):
        global value
        value += 1
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def f(it):
    seen = [value]
    for x in it:
        seen.append((x, value))
    seen.append(value)
    return seen


# program: truth_and_length_change_globals
# f(Odd(True)) => record, hit
# f(Odd(True)) => hit
value = 0


class Odd:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        global value
        value += 1
        return self.answer

    def __len__(self):
        global value
        value += 10
        return 3

    def __contains__(self, x):
        global value
        value += 100
        return True

    def __index__(self):
        global value
        value += 1000
        return 0

    def __format__(self, spec):
        global value
        value += 10000
        return spec


def f(o):
    a = value
    b = 1 if o else 2
    c = value
    n = len(o)
    d = value
    i = 5 in o
    e = value
    j = [7][o]
    g = value
    s = f"{o:x}"
    return a, b, c, n, d, i, e, j, g, s, value


# program: operators_change_their_own_class
# f(A()) => record, hit exit
# f(A()) => hit exit
class A:
    def __add__(self, other):
        A.__add__ = second
        return "first"


first = A.__add__


def second(self, other):
    A.__add__ = first
    return "second"


def f(a):
    A.__add__ = first
    return a + 1, a + 1, a + 1, a + 1


# program: collector_runs_while_containers_are_made
# note: it comes to life in allocations, and runs code then; containers that are kept for reuse are none
# f(1) => record, hit
# f(2) => hit
import gc

value = "start"


def collected(phase, info):
    global value
    value = "collected"


def f(x):
    global value
    value = "start"
    gc.collect()
    gc.callbacks.append(collected)
    old = gc.get_threshold()
    gc.set_threshold(1)
    gc.enable()
    a = value
    y = [[x], [x], [x], [x]], (x, x), {x: x}
    b = value
    gc.disable()
    gc.set_threshold(*old)
    gc.callbacks.remove(collected)
    return a, b


# program: collector_runs_while_functions_are_made
# note: in later versions the collector runs between instructions, and first where a frame begins; inlined ones do not
# until: 3.11
# f(1) => record, hit
# f(2) => hit
import gc

value = "start"
gc.collect()


def collected(phase, info):
    global value
    value = "collected"


def start():
    global value
    value = "start"
    gc.callbacks.append(collected)
    gc.set_threshold(1)
    gc.enable()


def end():
    gc.disable()
    gc.set_threshold(700, 10, 10)
    gc.callbacks.remove(collected)


def f(x):
    start()
    a = value
    y1 = lambda: 1
    y2 = lambda: 1
    y3 = lambda: 1
    b = value
    end()
    return a, b
