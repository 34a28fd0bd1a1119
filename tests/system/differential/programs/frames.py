"""What looks at frames: they are there, with the right code, line and locals, also those of inlined callees."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: getframe_in_root
# f(1) => record, hit
# f("x") => hit
import sys


def f(x):
    y = [x]
    frame = sys._getframe()
    return frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals), frame.f_locals["y"] is y


# program: getframe_in_callee
# f(1) => record, hit
# f("x") => hit
import sys


def where(depth):
    frame = sys._getframe(1)
    out = []
    for _ in range(depth):
        out.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return out


def g(x):
    local = x
    return where(2)


def f(x):
    a = where(1)
    b = g(x)
    return (
        a,
        b,
        where(1),
    )


# program: caller_locals_from_callee
# f(1) => record, hit
# f("x") => hit
import sys


def peek(name):
    return sys._getframe(1).f_locals.get(name, "unset")


def g(x):
    a = [x]
    first = peek("b")
    b = peek("a")
    return first, b, peek("b") is a, sys._getframe(1).f_locals["outer"]


def f(x):
    outer = ("outer", x)
    return g(x)


# program: inspect_stack
# note: inspect.stack is called from C so that it is not recorded: its course depends on what it has cached
# f(1) => record, hit
# f(2) => hit
import inspect


def who():
    return [(info.function, info.lineno) for info in next(map(inspect.stack, [0]))[:3]]


def g(x):
    return who(), x


def f(x):
    return g(x), inspect.currentframe().f_lineno


# program: locals_in_inlined_callee
# f(1) => record, hit
# f("x") => hit
def g(a, b=2):
    c = (a, b)
    return dict(locals()), sorted(vars())


def f(x):
    y = x
    return g(x), dict(locals()), dir()


# program: warn_stacklevel
# f(1) => record, hit
# f(-1) => hit
import warnings


def g(x):
    warnings.warn(f"one {x}")
    warnings.warn("two", DeprecationWarning, stacklevel=2)
    warnings.warn("three", UserWarning, stacklevel=3)


def f(x):
    g(x)
    warnings.warn("root", stacklevel=2)
    warnings.warn("own")
    return x


# program: warnings_as_errors
# f("ignore") => record, hit
# f("error") => hit exit
import warnings


def g(x):
    warnings.warn("careful", stacklevel=2)
    return x


def f(action):
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        try:
            return g(1)
        except UserWarning as error:
            return error


# program: logging_caller
# f(1) => record, hit
# f(2) => hit
import io
import logging


def g(log, x):
    log.warning("from g %s", x)
    log.error("above", stacklevel=2)


def f(x):
    stream = io.StringIO()
    log = logging.Logger("l")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(funcName)s:%(lineno)d:%(message)s"))
    log.addHandler(handler)
    log.info("from f")
    g(log, x)
    return stream.getvalue()


# program: traceback_of_the_stack
# f(1) => record, hit
# f(2) => hit
import traceback


def g():
    return [(s.name, s.lineno) for s in traceback.extract_stack(limit=2)]


def f(x):
    a = g()
    return a, x, traceback.extract_stack(limit=1)[0].lineno


# program: frame_kept_after_return
# note: a frame object outlives its call
# f(1) => record, hit
# f("x") => hit
import sys


def g(x):
    inside = (x, "g")
    return sys._getframe()


def f(x):
    mine = [x]
    frame = g(x)
    own = sys._getframe()
    later = "bound after the frame was taken"
    return frame.f_locals["inside"], frame.f_lineno, own.f_lineno, own.f_locals["mine"], frame.f_back is own


# program: callee_clears_frame_of_traceback
# f([1]) => record, hit
# f([]) => hit exit
import traceback


def g(x):
    y = [len(x)]
    return x[0], y


def f(x):
    try:
        return g(x)
    except IndexError as error:
        names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        traceback.clear_frames(error.__traceback__)
        return names


# program: print_exc
# f([1]) => record, hit
# f([]) => hit exit
import sys
import traceback


def g(x):
    return (
        x[0]
    )


def f(x):
    try:
        return g(x)
    except IndexError:
        traceback.print_exc(file=sys.stdout)
        return None


# program: f_lineno_in_multiline_call
# f(1) => record, hit
# f(2) => hit
import sys


def line(*args):
    return sys._getframe(1).f_lineno


def f(x):
    return line(
        x,
        line(),
        line(
            x,
        ),
    ), line()


# program: settrace_in_callee
# note: tracing is switched on by a callee; the trace function sees the program's own lines
# f(False) => record, hit
# f(True) => hit exit
# f(False) => hit
import sys

lines = []


def tracer(frame, event, arg):
    if frame.f_code.co_filename == __code_file__:
        lines.append((frame.f_code.co_name, frame.f_lineno, event))
    return tracer


def start(on):
    if on:
        sys.settrace(tracer)


def g(x):
    y = x
    return y


def f(on):
    global __code_file__
    __code_file__ = f.__code__.co_filename
    start(on)
    a = g(1)
    b = g(2)
    sys.settrace(None)
    return a, b, lines


# program: recursion_limit
# f(10) => record, hit
# f(100000) => hit exit
import sys


def down(n):
    return 0 if n == 0 else 1 + down(n - 1)


def f(n):
    x = [n]
    try:
        return down(x[0])
    except RecursionError as error:
        return type(error).__name__


# program: stack_depth_is_as_eager
# f(1) => record, hit, hit
import sys


def depth():
    frame, n = sys._getframe(), 0
    while frame.f_code.co_name != "<lambda>":
        frame, n = frame.f_back, n + 1
    return n


def g():
    return depth(), depth()


def f(x):
    return depth(), g()


# program: trace_function_set_in_a_callee_that_raises
# note: the callee's frame has been running all along: no event says that it is called
# f(1) => record, hit
# f(2) => hit exit, hit exit
import sys

events = []


def watch(frame, event, argument):
    events.append((event, frame.f_code.co_name, frame.f_lineno))
    return watch


functions = {1: None, 2: watch}


def g(x):
    sys.settrace(functions[x])
    raise ValueError(x)


def f(x):
    events.clear()
    try:
        g(x)
    except ValueError as error:
        caught = str(error)
    finally:
        sys.settrace(None)
    return caught, list(events)
