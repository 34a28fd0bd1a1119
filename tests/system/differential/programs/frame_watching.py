"""Whoever watches frames (trace and profile functions, debuggers) sees eager execution, wherever it begins."""
# fmt: off
# ruff: noqa: B018, B023, B028, E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, PGH001, S102, S307


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


# program: watched_from_a_callee_that_returns
# note: watching begins in the last call of a recorded callee, at whose return no side exit is possible
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


# program: a_key_that_watches_after_many_calls
# f(list(range(20)), 12) => record stop:watched
# f(list(range(20)), 50) => hit exit
# f(list(range(20)), 12) => hit exit
import sys


def profiler(frame, event, arg):
    if event in ("call", "return"):
        log.append((event, frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno))


def key(x):
    if x == special:
        sys.setprofile(profiler)
    return -x


def twice(x):
    return x * 2


def f(items, number):
    global special, log
    special = number
    log = []
    items = sorted(items, key=key)
    first = twice(items[0])
    sys.setprofile(None)
    return first, items, log
