"""Whatever looks at the call stack sees eager execution: also in callees, also from C."""
# fmt: off
# ruff: noqa: B018, B023, B028, E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, PGH001, S102, S307


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
