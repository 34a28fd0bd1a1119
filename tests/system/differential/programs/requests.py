"""Requests that the interpreter handles between instructions: signals, pending calls, asynchronous exceptions, threads."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, S102


# program: signal_is_handled_behind_the_call
# f(1) => record, hit
# f("x") => hit
import signal
from _thread import interrupt_main

log = []


def handler(number, frame):
    chain = []
    while frame.f_code.co_filename == handler.__code__.co_filename:
        chain.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
        frame = frame.f_back
    log.append(chain)


signal.signal(signal.SIGUSR1, handler)


def g(x):
    first = len(log)
    interrupt_main(signal.SIGUSR1)
    second = len(log)
    other = x
    interrupt_main(*[signal.SIGUSR1])
    return first, second, len(log)


def f(x):
    log.clear()
    interrupt_main(signal.SIGUSR1)
    a = len(log)
    b = g(x)
    return a, b, list(log)


# program: signal_changes_what_is_read_next
# f(1) => record, hit
# f("x") => hit
import signal
from _thread import interrupt_main

value = "start"


def handler(number, frame):
    global value
    value = "changed"
    A.m = lambda self: "patched"


signal.signal(signal.SIGUSR1, handler)


class A:
    def m(self):
        return "m"


original = A.m


def f(x):
    global value
    value = "start"
    a = value
    interrupt_main(signal.SIGUSR1)
    b = value
    return a, b, x


# program: signal_handler_raises
# f(1) => record, hit
# f("x") => hit
import signal
import traceback
from _thread import interrupt_main


class Stop(Exception):
    pass


def handler(number, frame):
    raise Stop(frame.f_code.co_name)


signal.signal(signal.SIGUSR1, handler)


def g(x):
    y = [x]
    interrupt_main(signal.SIGUSR1)
    y.append("not reached")
    return y


def inside(x):
    return g(x)


def f(x):
    return list(map(shielded, [x]))


def shielded(x):
    try:
        return inside(x)
    except Stop as error:
        return str(error), [(s.name, s.lineno) for s in traceback.extract_tb(error.__traceback__)]


# program: signal_handler_raises_in_a_replay
# f(1, signal.SIGUSR2) => record, hit
# f("x", signal.SIGUSR1) => hit exit
# f(2, signal.SIGUSR2) => hit
import signal
import traceback
from _thread import interrupt_main


class Stop(Exception):
    pass


def handler(number, frame):
    if number == signal.SIGUSR1:
        raise Stop(frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals))


signal.signal(signal.SIGUSR1, handler)
signal.signal(signal.SIGUSR2, handler)


def g(x, number):
    y = [x]
    interrupt_main(number)
    y.append("reached")
    return y


def f(x, number):
    try:
        z = g(x, number)
        return z
    except Stop as error:
        return error.args, [(s.name, s.lineno) for s in traceback.extract_tb(error.__traceback__)]


# program: exception_sent_to_the_own_thread
# f(1, False) => record, hit
# f(2, True) => hit exit
# f(3, False) => hit
import ctypes
import threading


class Sent(Exception):
    pass


def send(really):
    target = ctypes.c_ulong(threading.get_ident() if really else 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(target, ctypes.py_object(Sent))


def g(x, really):
    a = [x]
    list(map(send, [really]))
    a.append(1)
    return a


def f(x, really):
    try:
        return g(x, really)
    except Sent:
        return "sent", x


# program: pending_call
# f(1) => record, hit
# f(2) => hit
import ctypes

log = []


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def pending(argument):
    log.append("pending")
    return 0


add = ctypes.pythonapi.Py_AddPendingCall


def f(x):
    log.clear()
    a = len(log)
    add(pending, None)
    b = len(log)
    return a, b


# program: signal_in_a_loop
# f(5) => record, hit
# f(3) => hit exit
import signal
from _thread import interrupt_main

log = []


def handler(number, frame):
    log.append(frame.f_lineno)


signal.signal(signal.SIGUSR1, handler)


def f(n):
    log.clear()
    out = []
    for i in range(n):
        interrupt_main(signal.SIGUSR1)
        out.append(len(log))
    return out, list(log)


# program: thread_gets_its_turn_in_a_long_replay
# f(1) => record, hit
# f(2) => hit
import sys
import threading


def work(flag):
    rounds = 0
    while not flag:
        rounds += sum(spin(i) for i in range(50))
        if rounds > 100_000_000:
            return "never"
    return "seen"


def spin(x):
    total = 0
    for i in range(40):
        total += abs(i - x)
    return total


@trace
def chunk(x):
    total = 0
    for i in range(40):
        total += abs(i - x)
    return total


def f(x):
    flag = []
    thread = threading.Thread(target=flag.append, args=(1,))
    thread.start()
    result = work(flag)
    thread.join()
    return result


# program: sleeping_thread_changes_a_global
# f("a") => record, hit
# f("b") => hit
import threading

value = "start"


def change(text, go, done):
    global value
    go.wait(5)
    value = text
    done.set()


def f(text):
    global value
    value = "start"
    go, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=change, args=(text, go, done))
    thread.start()
    a = value
    go.set()
    done.wait(5)
    b = value
    thread.join()
    return a, b, value


# program: signal_during_a_redirect
# note: +a asks for the handler without being a call: the side exit comes first
# f(Quiet(), [5, 6, 7]) => record, hit
# f(Asks(), [5, 6, 7]) => hit exit
# f(Asks(), [5, 0, 7]) => hit exit
# f(Asks(), [0, 6]) => hit exit
import signal
from _thread import interrupt_main
from functools import partial


class Stop(Exception):
    pass


def handler(number, frame):
    raise Stop


signal.signal(signal.SIGUSR1, handler)


class Quiet:
    __pos__ = staticmethod(partial(int))


class Asks:
    __pos__ = staticmethod(partial(interrupt_main, signal.SIGUSR1))


def f(a, xs):
    out = []
    for x in xs:
        try:
            +a
            if x > 0:
                y = 1
            else:
                y = 2
            y = 3
            out = out + [divmod(y, 2)]
        except Stop:
            out = out + ["stop", x]
    return out


# program: signal_during_a_redirect_in_a_block
# f(Quiet(), 1) => record, hit
# f(Asks(), 1) => hit exit
# f(Asks(), 0) => hit exit
import signal
from _thread import interrupt_main
from functools import partial


class Stop(Exception):
    pass


def handler(number, frame):
    raise Stop


signal.signal(signal.SIGUSR1, handler)
log = []


class Block:
    def __enter__(self):
        log.append("enter")

    def __exit__(self, kind, *rest):
        log.append(("exit", kind))
        return True


class Quiet:
    __pos__ = staticmethod(partial(int))


class Asks:
    __pos__ = staticmethod(partial(interrupt_main, signal.SIGUSR1))


def f(a, x):
    log.clear()
    with Block():
        +a
        if x > 0:
            y = 1
        else:
            y = 2
        log.extend([y])
    return list(log)


# program: signal_waits_for_the_next_call
# note: +a asks for the handler; eager execution looks for it behind calls and at jumps back, nowhere else
# f(Asks(), 1) => record, hit
# f(Asks(), 2) => hit
import signal
from _thread import interrupt_main
from functools import partial

value = "start"


def handler(number, frame):
    global value
    value = "changed"


signal.signal(signal.SIGUSR1, handler)


class Asks:
    __pos__ = staticmethod(partial(interrupt_main, signal.SIGUSR1))


def f(a, x):
    global value
    value = "start"
    +a
    b = value
    y = x + 1
    c = value
    z = divmod(x, 2)
    d = value
    return b, y, c, z, d


# program: signal_waits_behind_the_return
# trace: g
# note: +a is the last thing that g does; its caller looks for signals at its next call
# f(Asks(), 1) => record
# f(Asks(), 2) => hit
import signal
from _thread import interrupt_main
from functools import partial

value = "start"


def handler(number, frame):
    global value
    value = "changed", frame.f_code.co_name


signal.signal(signal.SIGUSR1, handler)


class Asks:
    __pos__ = staticmethod(partial(interrupt_main, signal.SIGUSR1))


def g(a, x):
    y = x + 1
    +a
    return y


def f(a, x):
    global value
    value = "start"
    y = g(a, x)
    b = value
    z = divmod(x, 2)
    c = value
    return y, b, z, c


# program: signal_waits_while_an_exception_leaves
# trace: g
# note: +a is in front of a name that does not exist: no call, no jump back
# f(Asks()) => record
# f(Asks()) => hit
import signal
from _thread import interrupt_main
from functools import partial

value = "start"


def handler(number, frame):
    global value
    value = "changed", frame.f_code.co_name


signal.signal(signal.SIGUSR1, handler)


class Asks:
    __pos__ = staticmethod(partial(interrupt_main, signal.SIGUSR1))


def g(a):
    +a
    return missing


def f(a):
    global value
    value = "start"
    try:
        g(a)
    except NameError:
        b = value
    z = divmod(7, 2)
    c = value
    return b, z, c


# program: signal_waits_for_the_generator_that_is_delegated_to
# trace: outer, inner
# f(True) => record record, hit hit
# f(True) => hit hit
import signal
import _testcapi


def handler(number, frame):
    raise KeyboardInterrupt(frame.f_code.co_name)


signal.signal(signal.SIGINT, handler)


def inner():
    try:
        yield 1
    except KeyboardInterrupt as error:
        return "caught", error.args
    return "missed"


def outer():
    return (yield from inner())


def f(x):
    generator = outer()
    generator.send(None)
    try:
        _testcapi.raise_SIGINT_then_send_None(generator)
    except StopIteration as stop:
        return stop.value
