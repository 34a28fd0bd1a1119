"""Exceptions and everything else: comprehensions, recursion, C code, finalisers, generators, who watches the thread."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E711, E722, F401, F811, F821, F841, F842, I001, PTH118, B012, SIM105, SIM117


# program: raising_in_comprehension
# f([1, 0]) => record, hit
# f([1, 2]) => hit exit
def f(items):
    try:
        return [10 // x for x in items]
    except ZeroDivisionError as error:
        return error


# program: raising_in_lambda_default_and_decorator
# f(0) => record, hit
def check(function):
    def wrapper(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ZeroDivisionError as error:
            raise ValueError("wrapped") from error

    return wrapper


@check
def g(x, y=1):
    return y // x


def f(x):
    return g(x)


# program: raising_assert
# f(0) => record, hit
# f(1) => miss record
def f(x):
    try:
        assert x, ("not", x)
    except AssertionError as error:
        return error
    return "fine"


# program: raising_recursive
# f(3) => record, hit
# f(2) => miss record
def down(n):
    if n == 0:
        raise LookupError("bottom")
    try:
        return down(n - 1)
    except LookupError as error:
        raise ValueError(n) from error
    except ValueError as error:
        error.add_note(f"passed {n}")
        raise


def f(n):
    try:
        down(n)
    except ValueError as error:
        return error, error.__notes__ if n > 1 else None


# program: raising_kept_in_global
# do kept = []
# f(0) => record, hit
kept = []


def g(x):
    local = ["of g"]
    return 1 // x


def f(x):
    try:
        g(x)
    except ZeroDivisionError as error:
        kept.append(error)
    last = kept[-1].__traceback__
    return last.tb_frame.f_locals["x"], last.tb_next.tb_frame.f_locals, len(kept)


# program: raising_base_exceptions
# f(KeyboardInterrupt) => record, hit
# f(SystemExit) => hit
# f(GeneratorExit) => hit
def f(kind):
    try:
        try:
            raise kind("k")
        except Exception:
            return "no"
        finally:
            print("finally")
    except BaseException as error:
        return type(error), error.args


# program: raising_array_error
# f(a0) => record, hit
import numpy as np

a0 = np.arange(3.0)


def f(a):
    out = []
    try:
        out.append(a + np.arange(4.0))
    except ValueError as error:
        out.append(str(error))
    try:
        if a:
            out.append(1)
    except ValueError as error:
        out.append(str(error)[:20])
    try:
        a[7]
    except IndexError as error:
        out.append(str(error))
    return out


# program: raising_dict_of_exceptions_as_switch
# f([1, "a", None]) => record, hit
# f(["b", 2, None]) => hit exit
def f(items):
    out = []
    for item in items:
        try:
            out.append(item + 1)
        except TypeError:
            try:
                out.append(item.upper())
            except AttributeError:
                out.append("neither")
    return out


# program: raising_through_c_code
# note: sorted() calls back: an opaque call that raises
# f([3, "a"]) => record, hit
# f([3, 1]) => hit exit
def key(x):
    return -x


def f(items):
    try:
        return sorted(items, key=key)
    except TypeError as error:
        return error


# program: raising_match_statement
# f({"a": 1}) => record, hit
# f({"a": 0}) => hit exit
def f(x):
    try:
        match x:
            case {"a": a} if 1 // (a - 1):
                return "one"
            case _:
                return "other"
    except ZeroDivisionError as error:
        return error


# program: raising_del_in_unwinding_calls_python
# f(0) => record, hit
class Closer:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        try:
            {}["x"]
        except KeyError as error:
            self.log.append(repr(error.__context__))


def g(x, log):
    return Closer(log), 1 // x


def f(x):
    log = []
    try:
        g(x, log)
    except ZeroDivisionError:
        log.append("handler")
    return log


# program: raising_specialised_call
# note: a specialised PRECALL makes the call and raises by itself
# f([""] * 20 + [5]) => record, hit
# f([""] * 20 + [7]) => hit
def f(items):
    n = 0
    try:
        for x in items:
            n += len(x)
    except TypeError as error:
        return n, error


# program: raising_specialised_call_in_callee
# f([""] * 20 + [5]) => record, hit
def g(x):
    return len(x)


def f(items):
    n = 0
    for x in items:
        n += g(x)
    return n


# program: raising_c_code_makes_the_exception_later
# note: C code names the class, the handler's arrival makes the instance, which fails
# f(Bad) => record, hit
class Bad(Exception):
    def __init__(self):
        raise RuntimeError("cannot be made")


def f(kind):
    def generator():
        yield 1

    g = generator()
    next(g)
    try:
        g.throw(kind)
    except RuntimeError as error:
        return error


# program: raising_with_exit_raises_and_operands_die
# f(0) => record, hit
class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


class Bad:
    def __enter__(self):
        return Noisy("entered")

    def __exit__(self, *what):
        local = Noisy("local of exit")
        raise RuntimeError("exit") from what[1]

    def __del__(self):
        print("del manager")


def g(x):
    for item in [Noisy("item")]:
        with Bad() as entered:
            1 // x


def f(x):
    try:
        g(x)
    except RuntimeError as error:
        kept = error
    print("handled")
    result = kept.__cause__ is kept.__context__
    kept = None
    return result


# program: raising_call_whose_operands_die
# f(len) => record, hit
class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)

    def __call__(self, a):
        raise LookupError(a.name)


def f(function):
    out = []
    try:
        [Noisy("below"), function(Noisy("a"), Noisy("b"))]
    except TypeError as error:
        out.append(str(error))
    try:
        [Noisy("below"), Noisy("callable")(Noisy("c"))]
    except LookupError as error:
        out.append(str(error))
    try:
        (lambda: 1)(Noisy("d"))
    except TypeError as error:
        out.append(str(error)[-40:])
    try:
        int(*[Noisy("e"), Noisy("f")])
    except TypeError as error:
        out.append(str(error))
    return out


# program: raising_recursion_error
# f(1) => record, hit
# f(2) => hit
def down(n):
    return down(n + 1)


def f(x):
    try:
        down(0)
    except RecursionError as error:
        return x, str(error)[:40]


# program: raising_recursion_error_through_finally
# f(1) => record, hit
def down(n):
    try:
        return down(n + 1)
    finally:
        n = None


def f(x):
    try:
        down(0)
    except RecursionError as error:
        return x, str(error)[:40]


# program: raising_signal_handler
# note: the handler runs behind the call and raises there
# f(True) => record, hit
# f(False) => hit exit
import signal


class Signal(Exception):
    pass


def handler(number, frame):
    raise Signal(number)


def f(really):
    old = signal.signal(signal.SIGUSR1, handler)
    try:
        if really.real:
            signal.raise_signal(signal.SIGUSR1)
        return "no signal"
    except Signal as error:
        return error
    finally:
        signal.signal(signal.SIGUSR1, old)


# program: raising_trace_function_sees_exceptions
# note: a watcher sees the original instructions
# f(0, []) => record stop:watched, hit exit, hit exit
import sys


def g(x):
    return 1 // x


def f(x, log):
    def watch(frame, event, argument):
        if frame.f_code.co_name in ("g", "watched"):
            log.append((frame.f_code.co_name, event, frame.f_lineno))
        return watch

    def watched():
        try:
            return g(x)
        except ZeroDivisionError:
            return "caught"

    sys.settrace(watch)
    try:
        result = watched()
    finally:
        sys.settrace(None)
    return result


# program: raising_profile_function_installed_in_handler
# f(0) => record stop:watched, hit exit
import sys


def g(x):
    return 1 // x


def f(x):
    log = []

    def profile(frame, event, argument):
        if event != "c_call" and event != "c_return" and event != "c_exception":
            log.append((frame.f_code.co_name, event))

    try:
        g(x)
    except ZeroDivisionError:
        sys.setprofile(profile)
        try:
            g(x)
        except ZeroDivisionError as error:
            kept = str(error), sys.exception() is error, error.__context__ is not None
        sys.setprofile(None)
        return kept, log


# program: raising_generator_in_handler
# f(0) => record, hit
import sys


def numbers():
    yield sys.exception()
    try:
        raise KeyError("inside")
    except KeyError:
        yield sys.exception()
    yield sys.exception()


def f(x):
    try:
        1 // x
    except ZeroDivisionError:
        return list(numbers()), sys.exception()


# program: raising_into_a_generator
# trace: f, g
# f(0) => record, hit
def g(log):
    try:
        yield 1
    except ValueError as error:
        log.append(error)
        yield 2
    finally:
        log.append("finally")


def f(x):
    log = []
    it = g(log)
    out = [next(it), it.throw(ValueError("thrown"))]
    try:
        next(it)
    except StopIteration as error:
        out.append(error.value)
    return out, log


# program: raising_contextmanagers_nested
# f(0) => record, hit
# f(1) => hit exit
from contextlib import ExitStack, contextmanager


@contextmanager
def section(name):
    print("enter", name)
    try:
        yield name
    except ZeroDivisionError as error:
        print("in", name, error.__traceback__.tb_next is not None)
        raise LookupError(name) from error
    finally:
        print("exit", name)


def f(x):
    try:
        with ExitStack() as stack:
            stack.enter_context(section("a"))
            with section("b"):
                1 // x
    except LookupError as error:
        return error
    return "fine"


# program: raising_dunder_methods_called_by_c
# f(C()) => record, hit
class C:
    def __len__(self):
        raise ValueError("len")

    def __contains__(self, item):
        raise KeyError(item)

    def __iter__(self):
        raise TypeError("not today")

    def __hash__(self):
        raise OverflowError("hash")

    def __eq__(self, other):
        raise ArithmeticError("eq")

    def __format__(self, spec):
        raise LookupError(spec)

    def __getattr__(self, name):
        raise AttributeError("no " + name)

    def __delitem__(self, key):
        raise IndexError(key)

    def __call__(self, *args):
        raise EOFError(args)


def f(c):
    out = []
    for step in range(10):
        try:
            if step == 0:
                len(c)
            elif step == 1:
                1 in c
            elif step == 2:
                for _ in c:
                    pass
            elif step == 3:
                {c: 1}
            elif step == 4:
                c == 1
            elif step == 5:
                f"{c:spec}"
            elif step == 6:
                c.missing
            elif step == 7:
                del c["k"]
            elif step == 8:
                c(1, 2)
            else:
                a, *b = c
        except Exception as error:
            out.append(error)
    return out


# program: raising_class_body
# f(0) => record, hit
def f(x):
    try:
        class C:
            y = 1 // x
    except ZeroDivisionError as error:
        return error


# program: raising_deep_handlers_in_loop_with_else
# f([0, 1, "a", None]) => record, hit
def f(items):
    log = []
    for x in items:
        try:
            try:
                y = 10 // x
            except ZeroDivisionError as zero:
                log.append("zero")
                raise ValueError(x) from zero
            except TypeError:
                log.append("type")
                if x is None:
                    continue
            else:
                log.append(y)
            finally:
                log.append("finally")
        except ValueError as error:
            log.append(error.__cause__.args)
        else:
            log.append("else")
    else:
        log.append("loop else")
    return log


# program: raising_return_in_handler_of_callee_in_loop
# f([[], [1], []]) => record, hit
# f([[1], [1], []]) => hit exit
def first(items):
    try:
        return items[0]
    except IndexError:
        return "empty"
    finally:
        items.append("seen")


def f(lists):
    return [first(x) for x in lists]
