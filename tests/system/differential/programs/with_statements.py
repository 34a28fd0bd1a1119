"""`with`: managers in Python and in C, exceptions that they swallow or let pass, exits within the body."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: with_manager
# f([1]) => record, hit
# f([0]) => hit exit
# f([2]) => hit
class Manager:
    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, kind, value, tb):
        print("exit", kind and kind.__name__, value, tb and tb.tb_lineno)


def f(x):
    with Manager() as m:
        print("body", type(m).__name__)
        return 10 // x[0]


# program: with_swallows
# f([1]) => record, hit
# f([0]) => hit exit
class Swallow:
    def __enter__(self):
        return "entered"

    def __exit__(self, kind, value, tb):
        print("exit", kind)
        return kind is ZeroDivisionError


def f(x):
    result = None
    with Swallow() as s:
        result = s, 10 // x[0]
    return result, "after"


# program: with_two_managers
# f([1, 2]) => record, hit
# f([]) => hit exit
# f([3, 4]) => hit
class Manager:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        print("enter", self.name)
        return self.name

    def __exit__(self, *what):
        print("exit", self.name, what[0])


def f(x):
    with Manager("a") as a, Manager("b") as b:
        y = x[0]
        print(a, b, y)
    return y


# program: with_in_callee
# f([1]) => record, hit
# f([]) => hit exit
class Manager:
    def __enter__(self):
        print("enter")

    def __exit__(self, *what):
        print("exit", what[0])


def g(x):
    with Manager():
        return x[0]


def f(x):
    try:
        return g(x)
    except IndexError as error:
        return error


# program: with_contextmanager
# f([1]) => record, hit
# f([]) => hit exit
# f([3]) => hit
from contextlib import contextmanager


@contextmanager
def manager(name):
    print("enter", name)
    try:
        yield name * 2
    except IndexError as error:
        print("caught", error)
    finally:
        print("exit", name)


def f(x):
    with manager("m") as m:
        return m, x[0]


# program: with_suppress
# f({"a": 1}) => record, hit
# f({}) => hit exit
from contextlib import suppress


def f(d):
    with suppress(KeyError):
        return d["a"]
    return "missing"


# program: with_lock
# f(1) => record, hit
# f(2) => hit
import threading

lock = threading.Lock()


def f(x):
    with lock:
        inside = lock.locked()
    return x, inside, lock.locked()


# program: with_branch_in_body
# f([1]) => record, hit
# f([-1]) => hit exit
class Manager:
    def __enter__(self):
        print("enter")
        return 1

    def __exit__(self, *what):
        print("exit", what)


def f(x):
    with Manager() as one:
        if x[0] > 0:
            x.append("plus")
        else:
            return "minus", one
    return x, one


# program: with_in_loop
# f([1, 2]) => record, hit
# f([1, 0]) => hit exit
# f([5]) => hit exit
from contextlib import suppress


def f(items):
    out = []
    for x in items:
        with suppress(ZeroDivisionError):
            if x == 7:
                break
            out.append(10 // x)
            continue
        out.append("suppressed")
    return out


# program: with_exit_raises
# f([1]) => record
# f([]) => hit exit
class Manager:
    def __enter__(self):
        return self

    def __exit__(self, *what):
        raise RuntimeError("from exit")


def f(x):
    with Manager():
        return x[0]


# program: with_not_a_manager
# f([]) => record
# f(5) => hit
def f(x):
    with x as y:
        return y


# program: with_string_io
# f("abc") => record, hit
# f("x") => hit
import io


def f(text):
    with io.StringIO() as out:
        print(text, file=out)
        out.write("end")
        return out.getvalue()


# program: with_redirected_output
# f("abc") => record, hit
# f("xyz") => hit
import contextlib
import io


def f(text):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        print(text)
    print("outside")
    return out.getvalue()


# program: with_exit_stack
# f(3) => record, hit
# f(2) => hit exit
from contextlib import ExitStack


def f(n):
    log = []
    with ExitStack() as stack:
        for i in range(n):
            stack.callback(log.append, i)
        log.append("body")
    return log


# program: with_decimal_context
# f("1.123456789") => record, hit
# f("3.3") => hit
import decimal


def f(text):
    with decimal.localcontext() as context:
        context.prec = 4
        a = decimal.Decimal(text) / 3
    return a, decimal.Decimal(text) / 3
