"""Whatever looks at frames or their variables sees eager execution: also in callees, also afterwards."""
# fmt: off
# ruff: noqa: B018, B023, B028, E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, PGH001, S102, S307


# program: locals_everywhere
# f(1) => record, hit
# f("x") => hit
def g(a, *args, k=2, **more):
    first = dict(locals())
    b = [a]
    second = sorted(locals())
    del a
    third = sorted(locals())
    return first, second, third


def f(x):
    before = dict(locals())
    y = [x]
    inside = g(x, 5, 6, k=y, z=1)
    x = None
    after = sorted(locals().items(), key=lambda pair: pair[0])
    return before, inside, [name for name, _ in after], locals()["x"], vars().keys() == locals().keys(), dir()


# program: locals_is_one_dict_per_frame
# f(1) => record, hit
# f(2) => hit
def g(x):
    a = locals()
    y = x
    b = locals()
    return a is b, sorted(a), b.get("y")


def f(x):
    a = locals()
    a["made_up"] = 5
    first = "made_up" in locals()
    y = x
    b = locals()
    return a is b, first, sorted(a), g(x)


# program: locals_with_cells
# f(1) => record, hit
# f("x") => hit
def f(x):
    y = [x]

    def g():
        nonlocal y
        z = x
        seen = sorted(locals())
        y = x
        return seen, locals()["y"]

    before = dict(locals())
    before.pop("g")
    inside = g()
    return before, inside, locals()["y"], sorted(locals())


# program: eval_with_and_without_namespaces
# f(3) => record, hit
# f(2.5) => miss record
value = 10


def g(x):
    local = x + 1
    return eval("local + x + value"), eval("local", {"local": 5}), eval("a + b", {"a": 1}, {"b": local})


def f(x):
    y = x * 2
    code = compile("[x, y, value]", "<made>", "eval")
    return eval("x + y"), g(x), eval(code), eval("x", {"x": "other"}), eval("g(y)"), eval("(lambda: value)()")


# program: exec_with_and_without_namespaces
# f(3) => record, hit
# f(2.5) => hit
def g(x):
    y = 0
    exec("y = x + 1; made = 'new'")
    return y, locals().get("made"), sorted(locals())


def f(x):
    names = {}
    exec("def h(v):\n    return v + 1\nz = h(x)", {"x": x}, names)
    exec("global_made = x")
    return g(x), names["h"].__name__, names["z"], "global_made" in globals(), locals().get("global_made")


# program: exec_defines_a_function_that_is_called
# f(3) => record, hit exit
# f("a") => hit exit
def f(x):
    names = {"log": []}
    exec("def h(v):\n    log.append(v)\n    return [v] * 2\nclass C:\n    def m(self): return h(5)\n", names)
    return names["h"](x), names["C"]().m(), names["log"]


# program: super_without_arguments
# f(1) => record, hit
# f(2) => hit
class A:
    def m(self, x):
        return "A", x

    @classmethod
    def c(cls, x):
        return cls.__name__, x


class B(A):
    def m(self, x):
        return "B", super().m(x), super().__thisclass__.__name__

    @classmethod
    def c(cls, x):
        return "B", super().c(x)

    def reads_class(self):
        return __class__.__name__


def f(x):
    b = B()
    return b.m(x), B.c(x), b.c(x), b.reads_class()


# program: super_after_self_was_rebound
# f(1) => record, hit
# f(2) => hit
class A:
    def m(self):
        return "A", type(self).__name__


class B(A):
    def m(self, other=None):
        if other is not None:
            self = other
        return super().m()

    def deleted(self):
        saved = self
        del self
        try:
            return super().m()
        except RuntimeError as error:
            return str(error)

    def with_cell(self):
        def inner():
            return self

        return super().m(), inner() is self


class C(B):
    pass


def f(x):
    return B().m(), B().m(C()), C().with_cell()


# program: super_text_when_the_argument_is_gone
# f(B(), True) => record, hit
# f(B(), False) => hit
class A:
    def m(self):
        return "A"


class B(A):
    def deleted(self):
        del self
        return getattr(super(), "m", 1)


def call(b):
    try:
        b.deleted()
    except RuntimeError as error:
        return str(error)


def f(b, x):
    return list(map(call, [b, b])), x


# program: frame_of_a_thread_seen_from_another
# f(1) => record, hit
# f(2) => hit
import sys
import threading


def f(x):
    ident = threading.get_ident()
    ready, done = threading.Event(), threading.Event()
    seen = []

    def other():
        ready.wait(5)
        frame = sys._current_frames()[ident]
        while frame.f_code.co_filename != f.__code__.co_filename:
            frame = frame.f_back
        chain = []
        while frame is not None and frame.f_code.co_filename == f.__code__.co_filename:
            chain.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
            frame = frame.f_back
        seen.append(chain)
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    local = [x]
    waits(ready, done)
    thread.join()
    return seen


def waits(ready, done):
    inside = 1
    ready.set()
    done.wait(5)


# program: frame_clear_of_running_frames
# f(1) => record, hit
# f(2) => hit
import sys


def clear(depth):
    try:
        sys._getframe(depth).clear()
        return "cleared"
    except RuntimeError as error:
        return str(error)


def g(x):
    y = [x]
    return list(map(clear, [0, 1, 2])), y


def f(x):
    y = [x]
    return g(x), list(map(clear, [1])), y


# program: frames_kept_and_cleared_afterwards
# f(1) => record, hit
# f("x") => hit
import sys


def g(x):
    a = [x]
    frame = sys._getframe()
    kept.append(frame)
    del frame
    a.append("more")
    b = "bound later"
    return len(kept)


def f(x):
    kept.clear()
    mine = "mine"
    kept.append(sys._getframe())
    n = g(x)
    late = "late"
    view = sorted(kept[1].f_locals.items()), kept[1].f_lineno, kept[1].f_back is kept[0]
    kept[1].clear()
    return n, view, kept[1].f_locals, kept[1].f_back.f_code.co_name


def after():
    frame = kept[0]
    return sorted(frame.f_locals, key=str), frame.f_lineno, frame.f_locals.get("late"), frame.f_back is None


kept = []


# program: frames_read_after_the_return
# f(1) => record, hit
# f("x") => hit
import sys


def g(x):
    a = [x]
    kept.append(sys._getframe())
    a = "rebound"
    b = "bound later"
    return b


def inner(x):
    kept.append(sys._getframe())
    mine = x
    out = g(x)
    mine = "rebound"
    return out


def f(x):
    return view(call(x))


@trace
def call(x):
    kept.clear()
    return inner(x), inner(x)


def view(out):
    return out, [
        (k.f_code.co_name, k.f_lineno, sorted(k.f_locals.items()), k.f_back and k.f_back.f_code.co_name)
        for k in kept
    ]


kept = []


# program: a_finaliser_looks_at_the_frames
# trace: rebound, deleted, popped, returned, called, in_rounds
# note: where an object dies with its last name, by a pop or as an operand, the frame is at that instruction
# rebound(3) => record, hit, hit
# deleted(3) => record, hit, hit
# popped(3) => record, hit, hit
# returned(3) => record, hit, hit
# called(3) => record, hit, hit
# in_rounds(3) => record, hit, hit
import sys

seen = []


class Watcher:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        frame = sys._getframe(1)
        code = frame.f_code
        seen.append((self.n, code.co_name, frame.f_lineno - code.co_firstlineno, sorted(frame.f_locals)))


class Passer:
    def __init__(self, n):
        self.watcher = Watcher(n)

    def __eq__(self, other):
        self.watcher = None
        here = 1
        return here == 1


def told(result):
    found = list(seen)
    seen.clear()
    return result, found


def rebound(n):
    a = Watcher(n)
    b = n + 1
    a = [Watcher(b)]
    a = 5
    c = 7
    return told(b + c)


def deleted(n):
    a = Watcher(n)
    b = n + 1
    del a
    c = 3
    return told(b + c)


def popped(n):
    x = n
    Watcher(n)
    y = n
    Watcher(n + 1).n
    z = Watcher(n + 2).n + 1
    [Watcher(n + 3), 1]
    (Watcher(n + 4), 1)[1]
    if Watcher(n + 5):
        w = 2
    Passer(n + 6) == Passer(n + 7)
    return told(x + y + z)


def returned(n):
    def inner(m):
        a = [Watcher(m)]
        b = m
        return b

    q = inner(n)
    r = inner(n + 1) + inner(n + 2)
    return told(q + r)


def called(n):
    q = rebound(n)
    r = deleted(n)
    return q, r, popped(n)


def in_rounds(n):
    o = None
    k = 0
    for i in range(n):
        o = Watcher(i)
        k = i
    o = None
    return told(k)


# program: iterator_dies_at_the_end_of_its_loop
# note: behind a guard that has found the end; who looks finds the frame at the loop
# f((1, 2, 3)) => record, hit
# f((1, 2)) => hit exit, hit exit
# f((1, 2, 3, 4)) => hit exit, hit exit
import sys
log = []
class Noisy:
    def __call__(self, x):
        return x + 1
    def __del__(self):
        frame = sys._getframe(1)
        log.append((frame.f_lineno - frame.f_code.co_firstlineno, frame.f_locals["total"], frame.f_locals["k"]))
def f(items):
    log.clear()
    total = k = 0
    for x in map(Noisy(), items):
        total += x
        k += 1
    total -= 1
    return total, list(log)
