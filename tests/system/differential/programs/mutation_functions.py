"""Code that changes functions, their code, defaults and cells, and what is traced, in the middle of a recording or a replay."""
# fmt: off
# ruff: noqa: B010, B018, B023, E402, E501, E702, E704, E722, F401, F811, F821, F822, F842, I001, PLW0602, S102, UP008


# program: own_code_replaced_by_the_call
# note: the current call keeps its code; the next one runs the new code
# f(1) => record, none
# f(2) => none
def other(x):
    return ("other", x)


def f(x):
    f.__code__ = other.__code__
    return [x, counter]


counter = 7


# program: own_code_replaced_in_a_replay
# f(1, "pass") => record, hit
# f(2, "f.__code__ = (lambda x, text: ('new', x)).__code__") => hit, none
# f(3, "pass") => none
def f(x, text):
    exec(text, globals())
    return [x, text]


# program: own_code_replaced_and_put_back
# f(1, "pass") => record, hit
# f(2, "code = f.__code__; f.__code__ = (lambda x, text: 0).__code__; f.__code__ = code") => hit
# f(3, "pass") => none
def f(x, text):
    exec(text, globals())
    return [x, text]


# program: callee_code_replaced_by_itself
# f(1) => record
# f(2) => miss record, hit
def other(x):
    return ("other", x)


def g(x):
    g.__code__ = other.__code__
    return ("first", x)


def f(x):
    return g(x), g(x), g(x)


# program: callee_code_replaced_in_its_middle
# f(1, "pass") => record, hit
# f(2, "g.__code__ = (lambda x, text: ('new', x)).__code__") => hit exit
# f(3, "pass") => miss record, hit
def g(x, text):
    a = x + 1
    exec(text, globals())
    return ("old", a, x)


def f(x, text):
    return g(x, text), g(x, text)


# program: defaults_replaced_in_the_middle
# f("pass") => record, hit
# f("g.__defaults__ = (1.5, 'two')") => hit
# f("g.__kwdefaults__ = {'k': 'new k', 'l': 9}") => hit
# f("g.__defaults__ = (5,)") => hit exit
# f("g.__defaults__ = (1, 2); g.__kwdefaults__['k'] = []") => hit exit
# f("del g.__kwdefaults__['k']") => hit exit
# f("g.__kwdefaults__ = None") => hit exit
def g(a=1, b=2, *, k=3, l=4):
    return a, b, k, l


def f(text):
    try:
        first = g()
        exec(text, globals())
        return first, g(), g(0), g(k=1)
    except TypeError as error:
        return str(error)


# program: own_defaults_replaced
# f() => record, hit
# do f.__defaults__ = (10,)
# f() => hit
# do f.__defaults__ = ("text",)
# f() => miss record, hit
# do f.__kwdefaults__ = {"k": 1.5}
# f() => hit
# do f.__defaults__ = None
# f() => none
# f(1) => hit
def f(x=1, *, k=2):
    return x * 2, [k]


# program: mutable_default_changes
# f() => record, hit
# f(5) => hit exit
# do f.__defaults__[0].clear()
# f() => hit
def g(x, acc=[]):
    acc.append(x)
    return len(acc), list(acc)


def f(x=[], y=1):
    x.append(y) if isinstance(x, list) else None
    return g(y), list(x) if isinstance(x, list) else x


# program: partial_changes_its_members
# f(1) => record, hit
# do p.__setstate__((g, p.args, {"k": 5}, {}))
# f(2) => miss record
# do p.__setstate__((g, (7,), {}, {}))
# f(3) => hit
# do p.keywords["k"] = "in place"
# f(4) => miss record, hit
from functools import partial


def g(a, b, k=0):
    return a, b, k


p = partial(g, 1)


def f(x):
    return p(x)


# program: partial_changes_in_the_middle
# f(1, {}) => record, hit
# f(2, {"k": 2}) => hit
from functools import partial


def g(a, b, k=0):
    return a, b, k


def f(x, more):
    p = partial(g, 1)
    first = p(x)
    p.keywords.update(more)
    return first, p(x)


# program: callee_replaces_the_global_it_was_called_by
# f(1) => record, hit
# f(2) => hit
def one(x):
    global g
    g = two
    return ("one", x)


def two(x):
    global g
    g = one
    return ("two", x)


g = one


def f(x):
    global g
    g = one
    return g(x), g(x), g(x)


# program: cells_changed_by_opaque_calls
# f("pass") => record, hit
# f("set_cell(5)") => hit
# f("set_cell('text')") => hit
# f("cell.cell_contents = [1]") => hit
# f("del cell.cell_contents") => hit exit
# do cell.cell_contents = 1
# f("pass") => hit
def make():
    c = 1

    def f(text):
        a = [c]
        exec(text, globals())
        try:
            return a, [c], c
        except NameError as error:
            return str(error)

    def set_cell(v):
        nonlocal c
        c = v

    return f, set_cell


f, set_cell = make()
cell = f.__closure__[0]


# program: cells_of_an_inlined_closure_changed
# f("pass") => record, hit
# f("cells[-1].cell_contents = 'other'") => hit
# f("del cells[-1].cell_contents") => hit exit
cells = []


def f(text):
    n = 1

    def inner():
        return [n]

    a = inner()
    cells.append(inner.__closure__[0])
    exec(text, globals())
    try:
        return a, inner(), [n]
    except NameError as error:
        return a, str(error)


# program: untraced_from_within
# f(1, False) => record, hit
# f(2, True) => hit, none
# f(3, False) => none
import tagalong


def f(x, stop):
    list(map(tagalong.untrace, [f] * stop))
    return [x, stop]


# program: untraced_from_within_the_recording
# f(1) => record, none
# f(2) => none
import tagalong


def f(x):
    tagalong.untrace(f)
    y = [x] * 3
    return y


# program: untraced_and_traced_again_from_within
# f(1, False) => record, hit
# f(2, True) => hit, hit
# f(3, False) => hit
import tagalong


def again(stop):
    if stop:
        tagalong.untrace(f)
        __import__("gc").collect()
        tagalong.trace(f)


def f(x, stop):
    list(map(again, [stop]))
    return [x, stop]


# program: function_dies_while_it_runs
# note: with the function goes its code, and all that was recorded of it
# trace:
# call(1) => record, record
# call(2) => record
import gc


def call(x):
    @trace
    def f(x):
        gc.collect()
        return [x] * 2

    functions = [f]
    del f
    return functions.pop()(x)


# program: recursion_from_opaque_calls
# f(3) => record, miss record hit hit hit
# f(0) => hit
def f(n):
    inner = list(map(f, [n - 1])) if n > 0 else []
    return [n, inner]


# program: recursion_from_comparison
# f(Node(3)) => record, hit exit hit
# f(Node(1)) => hit exit
class Node:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return f(Node(self.n - 1)) == other if self.n > 0 else NotImplemented

    __hash__ = None


def f(node):
    return [node.n, node == 5][0]


# program: record_inside_a_replay
# f(1, "pass") => record, hit
# f(2, "rec = tagalong.record(g, 5); out.append(rec.result); out.append(rec.replay(7))") => record hit hit
# f(2, "out.append(tagalong.record(f, 9, 'pass').result)") => record hit
# f(3, "pass") => hit
import tagalong

out = []


def g(x):
    return [x] * 2


def f(x, text):
    a = g(x)
    exec(text, globals())
    return a, g(x), list(out)


# program: replay_inside_a_recording
# f(2) => hit hit hit record, hit hit hit hit
# f(3) => hit hit hit hit
import tagalong


def g(x):
    return [x] * 2


rec = tagalong.record(g, 5)


def f(x):
    a = rec.replay(x)
    b = list(map(rec.replay, [x, x]))
    return a, b, g(x)
