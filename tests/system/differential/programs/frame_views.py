"""Whatever looks at frames or at the call stack sees eager execution: also in callees, also from C, also afterwards."""
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


# program: chain_of_frames_from_inlined_callees
# f(1) => record, hit
# f("x") => hit
import sys


def where(frame):
    out = []
    while frame is not None and frame.f_code.co_filename == __file__name:
        out.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals), frame.f_globals is globals()))
        frame = frame.f_back
    return out


__file__name = where.__code__.co_filename


def deepest(x):
    d = [x]
    return where(sys._getframe())


def middle(x):
    m = x
    out = deepest(
        x,
    )
    return out, where(sys._getframe(0))


def f(x):
    a = x
    first = middle(x)
    b = 2
    second = [deepest(i) for i in (1, 2)]
    return first, second, where(sys._getframe())


# program: frames_from_c_callbacks
# f([2, 1]) => record, hit
# f([5, 4, 3]) => hit
import sys
from functools import reduce


def look(v):
    frame = sys._getframe(1)
    seen.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
    return v


class Thing:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        look(0)
        return self.v < other.v

    def __hash__(self):
        look(0)
        return 1

    def __getattr__(self, name):
        look(0)
        return name


def g(x):
    gx = x
    x.sort(key=look)
    y = sorted(map(Thing, x))
    h = {Thing(1), 1}
    return reduce(lambda a, b: look(b), x), Thing(1).missing


def f(x):
    seen.clear()
    fx = x
    out = g(x)
    list(map(look, x))
    return out, list(seen)


seen = []


# program: inspect_currentframe_and_stack
# f(1) => record, hit
# f("x") => hit
import inspect


def g(x):
    frame = inspect.currentframe()
    names = [(i.function, i.lineno, i.code_context and i.code_context[0].strip()) for i in inspect.stack()[:2]]
    caller = inspect.getframeinfo(frame.f_back)
    values = inspect.getargvalues(frame)
    return frame.f_lineno, names, caller.function, caller.lineno, values.args, values.locals["x"]


def f(x):
    y = x
    return g(x), inspect.currentframe().f_code.co_name, inspect.currentframe().f_back is not None


# program: warnings_at_every_level
# f(1) => record, hit
# f("x") => hit
import warnings


def lowest(x, level):
    warnings.warn(f"level {level}", UserWarning, stacklevel=level)
    return x


def middle(x):
    lowest(x, 1)
    lowest(x, 2)
    lowest(
        x,
        3,
    )
    return x


def f(x):
    middle(x)
    lowest(x, 2)
    return lowest(x, 1)


# program: warnings_by_c_code
# f(1) => record, hit
# f(2) => hit
def g(x):
    return ~bool(x), [0, 1][x > 0]


def f(x):
    import array

    eval("1 is 1")
    return g(x), compile("x is 5", "<made>", "eval").co_name


# program: logging_finds_its_caller
# f(1) => record, hit
# f("x") => hit
import logging

records = []


class Handler(logging.Handler):
    def emit(self, record):
        records.append((record.funcName, record.lineno, record.getMessage()))


logger = logging.Logger("program")
logger.addHandler(Handler())


def g(x):
    logger.warning("in g %r", x)
    logger.error("caller", stacklevel=2)


def f(x):
    records.clear()
    logger.info("in f")
    g(x)
    logger.info(
        "more",
        stack_info=False,
    )
    return list(records)


# program: traceback_extract_stack
# f(1) => record, hit
# f("x") => hit
import traceback


def g(x):
    out = traceback.extract_stack(limit=2)
    return [(s.name, s.lineno, s.line, s.colno, s.end_colno) for s in out]


def f(x):
    return g(x), [g(
        x), g(x)], traceback.format_stack(limit=1)


# program: positions_of_callers
# f(1) => record, hit
# f(2) => hit
import sys


def here():
    frame = sys._getframe(1)
    positions = list(frame.f_code.co_positions())
    return positions[frame.f_lasti // 2]


def g(x):
    return here() + here()


def f(x):
    return (here(), [here() for _ in (1, 2)], g(x),
            here(
            ))


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


# program: trace_function_on_from_an_inlined_callee
# f(1, True) => record stop:watched, hit exit
# f(1, False) => hit exit, hit exit
# f(2, True) => hit exit
import sys


def tracer(frame, event, arg):
    log.append((frame.f_code.co_name, event, frame.f_lineno))
    return tracer


def on(x):
    sys.settrace(tracer)
    sys._getframe(1).f_trace = tracer


def g(x, traced):
    if traced:
        on(x)
    y = x
    return [y]


def f(x, traced):
    log.clear()
    try:
        out = g(x, traced)
        z = out
        return z, list(log)
    finally:
        sys.settrace(None)


log = []


# program: profile_function_on_as_the_last_thing
# f(1) => record stop:watched, hit exit
# f(2) => hit exit
import sys


def profiler(frame, event, arg):
    log.append((frame.f_code.co_name, event, frame.f_lineno))


def g(x):
    sys.setprofile(profiler)


def f(x):
    log.clear()
    call(x)
    sys.setprofile(None)
    return list(log)


@trace
def call(x):
    y = x
    sys.setprofile(profiler)


log = []


# program: profile_function_on_inside_a_callee
# f(1) => record stop:watched, hit exit
# f(2) => hit exit
import sys


def profiler(frame, event, arg):
    log.append((frame.f_code.co_name, event, frame.f_lineno))


def g(x):
    y = x
    sys.setprofile(profiler)


def h(x):
    g(x)


def f(x):
    log.clear()
    h(x)
    len([x])
    sys.setprofile(None)
    return list(log)


log = []


# program: profile_function_on_and_off_again
# f(1) => record stop:watched, hit exit
# f(2) => hit exit
import sys


def profiler(frame, event, arg):
    log.append((frame.f_code.co_name, event, getattr(arg, "__name__", arg)))


def g(x):
    sys.setprofile(profiler)
    abs(x)
    sys.setprofile(None)
    return x


def f(x):
    log.clear()
    a = g(x)
    return a, g(x), list(log)


log = []


# program: profiler_of_the_standard_library
# f(3) => record stop:watched, hit exit
# f(2) => hit exit
import cProfile
import pstats


def work(x):
    return sum(sorted([x, x]))


def f(x):
    profile = cProfile.Profile()
    profile.enable()
    work(x)
    work(x)
    profile.disable()
    stats = pstats.Stats(profile).stats
    return sorted((name, calls[0]) for (_, _, name), calls in stats.items() if name in ("work", "<built-in method builtins.sum>"))


# program: coverage_like_tracer
# f(1) => record, hit
# do sys.settrace(tracer)
# f(2) => none, none
# do sys.settrace(None)
# f(3) => hit
import sys

lines = set()


def tracer(frame, event, arg):
    if frame.f_code.co_filename == f.__code__.co_filename:
        lines.add((frame.f_code.co_name, frame.f_lineno, event))
        return tracer


def g(x):
    if x > 1:
        return "big"
    return "small"


def f(x):
    out = g(1)
    return out, sorted(lines)


# program: trace_library
# f(2) => none, none
# trace: g
import trace as trace_library


def g(x):
    y = x + 1
    return y * 2


def f(x):
    t = trace_library.Trace(count=1, trace=0)
    out = t.runfunc(g, x)
    counts = sorted((line, n) for (file, line), n in t.results().counts.items() if file == g.__code__.co_filename)
    return out, counts


g(1)


# program: debugger_like_use
# f(1) => record, hit
# do debug = True
# f(2) => hit exit
# do debug = False
# f(3) => hit
import bdb
import sys

debug = False


class Debugger(bdb.Bdb):
    def user_line(self, frame):
        seen.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
        if len(seen) > 3:
            self.set_quit() if False else self.set_continue()
        else:
            self.set_step()


def stop():
    debugger.set_trace(sys._getframe(1))


debugger = Debugger()


def g(x):
    a = x
    if debug:
        stop()
    b = a
    return b


def f(x):
    seen.clear()
    out = g(x)
    other = out
    sys.settrace(None)
    return other, list(seen)


seen = []


# program: tracemalloc_names_the_lines
# f(1) => record stop:watched, hit exit
# f(2) => hit exit
import tracemalloc


def g(x):
    a = bytearray(50)
    b = bytearray(60)
    return a, b


def f(x):
    tracemalloc.start(3)
    a, b = g(x)
    c = bytearray(70)
    where = [[(t.lineno) for t in tracemalloc.get_object_traceback(v)[-2:]] for v in (a, b, c)]
    tracemalloc.stop()
    return where


# program: faulthandler_shows_the_lines
# f(1) => record, hit
# f(2) => hit
import faulthandler
import tempfile


def g(x):
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file, all_threads=False)
        file.seek(0)
        return [line.split(b", ")[-1] for line in file.read().splitlines()[1:3]]


def f(x):
    y = [x]
    return g(
        x)


# program: generator_frames_above_and_below
# f(3) => record, hit
# f(2) => hit exit
import sys


def names():
    frame, out = sys._getframe(1), []
    while frame.f_code.co_filename == names.__code__.co_filename:
        out.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return out


def produce(n):
    for i in range(n):
        yield names()


def g(n):
    return [item for item in produce(n)]


def f(n):
    return g(n), list(produce(n)), next(produce(1))


# program: code_names_and_qualnames_seen_by_callees
# f(1) => record, hit
# f(2) => hit
import sys


class A:
    def m(self, x):
        def inner():
            frame = sys._getframe(1)
            return sys._getframe().f_code.co_qualname, frame.f_code.co_qualname, frame.f_code.co_firstlineno

        return inner()


def f(x):
    return A().m(x), (lambda: sys._getframe().f_code.co_name)()


# program: locals_of_a_caller_changed_by_the_debugger_call
# f(1) => record, hit
# f(2) => hit
import ctypes
import sys


def change(value):
    frame = sys._getframe(1)
    frame.f_locals["y"] = value
    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


def f(x):
    y = [x]
    sys._getframe().f_locals["y"] = "ignored"
    return y


# program: frame_evaluated_by_a_traceback_printer
# f(1) => record, hit
# f("x") => hit
import io
import sys
import traceback


def report():
    file = io.StringIO()
    traceback.print_stack(sys._getframe(1), limit=-2, file=file)
    return [line for line in file.getvalue().splitlines() if "mutation" in line or "line" in line][-2:]


def g(x):
    here = x
    return report()


def f(x):
    return g(x), report()


# program: getsource_of_callers
# f(1) => record, hit
# f(2) => hit
import inspect
import sys


def who():
    frame = sys._getframe(1)
    return frame.f_code is not None and inspect.getmodule(frame) is None, frame.f_code.co_argcount, frame.f_code.co_varnames


def f(x):
    a = 1
    return who(), (lambda p, q: who())(1, 2)


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


# program: where_an_unclosed_file_is_reported
# f() => record, hit, hit
import warnings


def opened():
    return open("/dev/null")  # noqa: PTH123


def f():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        opened()
        handle = opened()
        handle = 2
        other = opened()
        del other
    return [(str(each.message)[:8], each.lineno) for each in caught], handle


# program: who_is_told_of_a_float_error_sees_the_locals
# f(a, b) => record, hit, hit
# g(a, b) => record, hit, hit
# trace: f, g
import sys
import warnings

import numpy as np

a = np.array([1.0, 2.0])
b = np.zeros(2)
seen = []


def told(kind, flag):
    frame = sys._getframe(1)
    seen.append((kind, frame.f_lineno - frame.f_code.co_firstlineno, sorted(frame.f_locals)))


def f(x, y):
    with np.errstate(divide="call", call=told):
        s = x + y
        t = s * 2
        u = t / y
        v = u - u
    found = list(seen)
    seen.clear()
    return found


def g(x, y):
    def show(message, *rest, **more):
        frame = sys._getframe()
        while frame.f_code.co_name != "g":
            frame = frame.f_back
        seen.append(sorted(frame.f_locals))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        s = x + y
        t = s / y
        u = t * 2
    found = list(seen)
    seen.clear()
    return found


# program: watched_from_a_callee_that_returns
# note: whoever watches is switched on in the last call of a recorded callee: its return is no place to go on as written
# f(3) => record, hit
# f(4) => hit exit, hit exit
import sys
events = []
def watch(frame, event, argument):
    events.append((event, frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno))
    return watch
def start(n):
    if n == 4:
        sys.settrace(watch)
def g(n):
    list(map(start, [n]))
def f(n):
    events.clear()
    total = n + 1
    result = g(n)
    total += n
    sys.settrace(None)
    return total, result, list(events)


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
