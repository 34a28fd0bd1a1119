"""What running other people's code found: CPython's own tests, traced (tests/system/test_traced_modules.py)."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: raising_call_with_keywords
# note: the trace ends before the call; the original instructions continue at KW_NAMES, not behind it
# f() => record, hit
def f():
    try:
        return list((), sequence=())
    except TypeError as error:
        return str(error)


# program: raising_builtin_call_with_keywords_in_callee
# trace: f
# f([3, 1]) => record, hit
def g(x):
    return sorted(x, key=None, revers=True)


def f(x):
    try:
        return g(x)
    except TypeError as error:
        return str(error)


# program: finalisers_at_operators
# note: a finaliser runs inside of the instruction, whose operands are partly gone by then
# f(0) => record, hit
log = []


class Noisy:
    def __init__(self, name): self.name = name
    def __del__(self): log.append(self.name)


def f(x):
    log.clear()
    a = [Noisy(1)] == [Noisy(2)]
    b = (Noisy(3),) + (Noisy(4),)
    c = [Noisy(5)] < [Noisy(6)] if x else None
    del b
    return a, list(log)


# program: trace_function_installed_in_the_middle
# note: a new watcher sees the rest in the original code, callees with all their events
# f() => record stop:watched, hit exit
import sys


def callee(x):
    y = x + 1
    return y


def f():
    events = []

    def watch(frame, event, arg):
        events.append((frame.f_code.co_name, event, frame.f_lineno))
        return watch

    sys.settrace(watch)
    callee(1)
    sys.settrace(None)
    return events


# program: profile_function_installed_in_the_middle
# note: how control gets back to the original code is no event
# f() => record stop:watched, hit exit
import sys


def callee(x):
    try:
        return x.missing
    except AttributeError:
        return 3


def f():
    events = []

    def watch(frame, event, arg):
        events.append((frame.f_code.co_name, event, frame.f_lineno))

    sys.setprofile(watch)
    callee(1)
    sys.setprofile(None)
    return events


# program: traceback_of_a_frame_that_stopped_recording
# note: the instruction that a traceback names is looked up in the code of the frame, which stays what it was
# f(0) => record, hit
import traceback


def f(x):
    items = [x]
    try:
        1 / x
    except ZeroDivisionError as error:
        exc = error
    y = x + 1
    y = y + 1
    return [(entry.lineno, entry.colno, entry.end_colno, entry.name) for entry in traceback.extract_tb(exc.__traceback__)]


# program: code_made_of_replay_code
# note: the anchor is in a code object that is not its own, with other offsets: that one is not traced
# trace: f
# made(3) => none, none
# f(3) => record, hit
# made(4) => none
import opcode


def f(x):
    def inner(y):
        return x + y
    return inner(x) * 2


trace(f)
code = f.__code__
made = type(f)(code.replace(co_code=bytes([opcode.opmap["NOP"], 0] * 2) + code.co_code, co_linetable=b""), globals())


# program: property_and_partial_that_change_inside
# note: neither changes a type's version, so their parts are guarded themselves
# note: the specialised instructions of later versions do not see the change of a property
# until: 3.11
# f(P(1), part) => record, hit
# do change()
# f(P(1), part) => miss record, hit
import functools


class P:
    def __init__(self, v):
        self.v = v

    q = property(lambda self: self.v)


part = functools.partial(lambda a, b: (a, b), 1)
kept = [P.__dict__["q"].fget, part.func]  # if they died, their graph would, too


def change():
    P.__dict__["q"].__init__(lambda self: self.v + 10)
    part.__setstate__((lambda a, b: (b, a, "new"), (7,), {}, {}))


def f(p, g):
    return p.q, g(2)


# program: operands_of_an_inlined_method_die_in_order
# f(0) => record, hit
log = []


class Noisy:
    def __init__(self, name): self.name = name
    def __add__(self, other): return 1
    def __call__(self, a, b): return 2
    def __getitem__(self, key): return 3
    def __del__(self): log.append(self.name)


def f(x):
    log.clear()
    Noisy(1) + Noisy(2)
    Noisy(3)(Noisy(4), Noisy(5))
    Noisy(6)[Noisy(7)]
    return list(log)


# program: frames_that_outlive_their_calls
# f(1) => record, hit
# f(2) => hit
import sys


def inner():
    frame = sys._getframe()
    x = 5
    return frame


def own(a):
    frame = sys._getframe()
    b = a + 1
    return frame


def f(a):
    frame = inner()
    again = own(a)
    return sorted(frame.f_locals), frame.f_lineno, sorted(again.f_locals), again.f_lineno


# program: exception_in_a_call_with_keywords_is_at_the_call
# note: the trace's snapshot is at KW_NAMES, whose position is that of the method's name
# f([3, 1]) => record, hit
# f([[3], [1]]) => hit exit, hit exit
# f(None) => hit exit, hit exit
def f(p):
    p.sort(key=lambda q: -q)


# program: finaliser_while_a_failed_call_is_unwound
# note: the operands of the call that has raised are dead by then, so they must not be compared with the callee
# trace: all
# f(1) => record record, hit hit
# g(2) => hit record, hit hit
# h(3) => hit hit hit hit record, hit hit hit hit hit
import functools


class Loud:
    def __init__(self, n): self.n = n
    def __del__(self): print('del', self.n)
    def __call__(self, x): raise KeyError(x)
    def read(self): raise AttributeError('no')
    value = property(read)


def f(x):
    try:
        return Loud(x) + [].index()
    except TypeError as error:
        return str(error)


def g(x):
    try:
        return Loud(x) + functools.partial(int, 'x')()
    except ValueError as error:
        return str(error)


def h(x):
    try:
        return Loud(x), Loud(x + 1)(x)
    except KeyError:
        pass
    try:
        return Loud(x), Loud(x + 2).value
    except AttributeError:
        return x


# program: generator_goes_on_with_other_locals_bound
# note: which locals are bound at the exit depends on the path to it
# trace: all
# f(1) => record record record, hit hit hit
# f(0) => miss record miss record hit exit, hit hit hit exit
# f(1) => hit hit hit, hit hit hit
# h(0) => record record record, hit hit hit
# h(1) => miss record miss record hit, hit hit hit
import collections


def g(n):
    if n:
        x = 1
    yield 1
    print(x)


def f(n):
    try:
        return list(collections.deque(g(n)))
    except UnboundLocalError as error:
        return str(error)


def k(n):
    if n:
        x = 1
    yield 1
    print(locals())


def h(n):
    return list(collections.deque(k(n)))
