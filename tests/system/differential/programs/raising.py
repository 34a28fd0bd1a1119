"""Exceptions inside of graphs: raised, caught, let out; through recorded callees; every statement that deals with them."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E711, E722, F401, F811, F821, F841, F842, I001, PTH118, B012, SIM105, SIM117


# program: raising_operator_caught
# f(1, 0) => record, hit
# f(2, 0) => hit
# f(2, 1) => miss record
# f("x", 0) => miss record
def f(x, y):
    try:
        return x // y
    except ZeroDivisionError as error:
        return str(error), error.__traceback__.tb_lineno, error.__traceback__.tb_next


# program: raising_two_handlers_first_taken
# f({}, "a") => record, hit
# f({"a": 1}, "a") => hit exit
# f([], "a") => hit exit
def f(d, k):
    try:
        return d[k]
    except KeyError as error:
        return "key", error.args, error.__context__
    except TypeError as error:
        return "type", error.args


# program: raising_second_handler_taken
# f([], "a") => record, hit
# f({}, "a") => hit exit
def f(d, k):
    try:
        return d[k]
    except KeyError as error:
        return "key", error.args
    except (TypeError, AttributeError) as error:
        return "type", error.args


# program: raising_no_handler_matches
# f(0) => record, hit
# f(1) => miss record
def f(x):
    try:
        return 1 // x
    except KeyError:
        return "key"
    except (TypeError, ValueError):
        return "type"


# program: raising_bare_except
# f(None) => record, hit
# f("s") => hit exit
def f(x):
    import sys
    try:
        return x.upper() + 1
    except:
        kind, value, tb = sys.exc_info()
        return kind, str(value), tb.tb_lineno, value is sys.exception()


# program: raising_exc_info_in_callee
# f(0) => record, hit
# f(1) => hit exit
import sys


def look():
    kind, value, tb = sys.exc_info()
    return kind, value, tb is None or tb.tb_frame.f_code.co_name


def f(x):
    before = look()
    try:
        1 // x
    except ZeroDivisionError:
        inside = look()
    return before, inside if x == 0 else None, look()


# program: raising_nested_handlers_and_exc_info
# f(0) => record, hit
# f(1) => hit exit
import sys


def f(x):
    seen = [sys.exception()]
    try:
        1 // x
    except ZeroDivisionError:
        seen.append(sys.exception())
        try:
            [][x]
        except IndexError:
            seen.append(sys.exception())
            try:
                {}[x]
            except KeyError:
                seen.append(sys.exception())
            seen.append(sys.exception())
        seen.append(sys.exception())
    seen.append(sys.exception())
    return seen


# program: raising_context_of_handlers
# f(0) => record, hit
def f(x):
    try:
        try:
            1 // x
        except ZeroDivisionError:
            [][x]
    except IndexError as error:
        return error


# program: raising_from_other
# f(0) => record, hit
# f(3) => miss record
def f(x):
    try:
        try:
            1 // x
        except ZeroDivisionError as cause:
            raise ValueError("derived", x) from cause
    except ValueError as error:
        return error, error.__cause__ is error.__context__, error.__suppress_context__


# program: raising_from_none
# f(0) => record, hit
def f(x):
    try:
        1 // x
    except ZeroDivisionError:
        raise ValueError("plain") from None


# program: raising_from_wrong_cause
# f(5) => record, hit
def f(x):
    try:
        raise ValueError("v") from x
    except TypeError as error:
        return error


# program: raising_from_class
# f(0) => record, hit
def f(x):
    raise ValueError("v") from KeyError


# program: raising_reraise_bare
# f(0) => record, hit
# f(1) => miss record
def f(x):
    log = []
    try:
        try:
            1 // x
        except ZeroDivisionError:
            log.append("inner")
            raise
    except ArithmeticError as error:
        return log, error


# program: raising_reraise_bare_out
# f(0) => record, hit
# f(1) => miss record
def f(x):
    try:
        1 // x
    except ZeroDivisionError:
        print("seen")
        raise


# program: raising_reraise_named
# f(0) => record, hit
def f(x):
    try:
        1 // x
    except ZeroDivisionError as error:
        print("seen")
        raise error


# program: raising_bare_in_callee
# f(0) => record, hit
# g() => none
def g():
    raise


def f(x):
    try:
        1 // x
    except ZeroDivisionError:
        g()


# program: raising_bare_in_callee_caught
# f(0) => record, hit
def g():
    try:
        raise
    finally:
        print("finally in g")


def f(x):
    try:
        try:
            1 // x
        except ZeroDivisionError:
            g()
    except ZeroDivisionError as error:
        return error


# program: raising_bare_without_any
# f(1) => record, hit
def g():
    raise


def f(x):
    try:
        g()
    except RuntimeError as error:
        return error


# program: raising_class_or_instance
# f(KeyError) => record, hit
# f(KeyError("k")) => hit
# f(int) => hit
# f(3) => hit
def f(what):
    try:
        raise what
    except (KeyError, TypeError) as error:
        return error


# program: raising_class_with_init
# f(3) => record, hit
# f(4) => miss record
class Trouble(Exception):
    def __init__(self, *args):
        super().__init__("made", *args)
        self.extra = len(args)


def f(x):
    try:
        if x == 3:
            raise Trouble
        raise Trouble(x)
    except Trouble as error:
        return error, error.extra


# program: raising_class_whose_init_raises
# f(3) => record, hit
class Trouble(Exception):
    def __init__(self):
        raise LookupError("no way to make one")


def f(x):
    try:
        raise Trouble
    except LookupError as error:
        return error


# program: raising_through_three_callees
# f([]) => record, hit
# f([1]) => hit exit
def a(x):
    u = "a"
    return b(x) + 1


def b(x):
    v = "b"
    return c(x) + 1


def c(x):
    w = "c"
    return x[0]


def f(x):
    try:
        return a(x)
    except IndexError as error:
        found, tb = [], error.__traceback__
        while tb is not None:
            found.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, sorted(tb.tb_frame.f_locals)))
            tb = tb.tb_next
        return error, found


# program: raising_through_callees_out
# f([]) => record, hit
# f([1]) => hit exit
def b(x):
    return x[0]


def a(x):
    return [b(x)]


def f(x):
    return a(x) + [1]


# program: raising_caught_in_the_middle
# f([]) => record, hit
# f([1]) => hit exit
def c(x):
    return x[0]


def b(x):
    try:
        return c(x)
    except IndexError:
        print("caught in b")
        return "nothing"


def a(x):
    return b(x), len(x)


def f(x):
    return a(x)


# program: raising_and_frames_seen_by_handler
# f([]) => record, hit
import sys


def b(x):
    local = [1]
    return x[0]


def f(x):
    y = "y"
    try:
        return b(x)
    except IndexError as error:
        inner = error.__traceback__.tb_next.tb_frame
        return inner.f_locals, inner.f_lineno, inner.f_back is sys._getframe(), sys._getframe().f_lineno


# program: raising_finally_falls_through
# f(1) => record, hit
# f(0) => hit exit
# f(2) => hit
def f(x):
    log = []
    try:
        log.append(2 // x)
    finally:
        log.append("finally")
        print(log)
    return log


# program: raising_finally_lets_out
# f(0) => record, hit
# f(1) => miss record
def f(x):
    try:
        return 1 // x
    finally:
        print("finally")


# program: raising_finally_returns
# f(0) => record, hit
# f(1) => miss record
def f(x):
    try:
        return 1 // x
    finally:
        return "swallowed"


# program: raising_finally_breaks_and_continues
# f([0, 0, 1]) => record, hit
# f([0, 1, 0]) => hit exit
def f(items):
    out = []
    for x in items:
        try:
            out.append(1 // x)
        finally:
            if x:
                break
            continue
    return out


# program: raising_finally_raises_other
# f(0) => record, hit
def f(x):
    try:
        1 // x
    finally:
        {}["missing"]


# program: raising_try_except_else_finally
# f(0) => record, hit
# f(1) => miss record
# f("s") => miss record
def f(x):
    log = []
    try:
        y = 1 // x
    except ZeroDivisionError:
        log.append("except")
    else:
        log.append("else")
    finally:
        log.append("finally")
        print(log)
    return log


# program: raising_nested_finally
# f(0) => record, hit
def f(x):
    log = []
    try:
        try:
            try:
                1 // x
            finally:
                log.append(1)
        finally:
            log.append(2)
    except ZeroDivisionError as error:
        log.append(error.__traceback__.tb_next)
    return log


# program: raising_handler_variable_is_deleted
# f(0) => record, hit
def f(x):
    error = "bound before"
    try:
        1 // x
    except ZeroDivisionError as error:
        kept = str(error)
    try:
        error
    except UnboundLocalError as unbound:
        return kept, unbound


# program: raising_handler_variable_deleted_by_hand
# f(0) => record, hit
def f(x):
    try:
        1 // x
    except ZeroDivisionError as error:
        del error
    return "done"


# program: raising_handler_variable_is_a_cell
# f(0) => record, hit
# f(1) => miss record
def f(x):
    try:
        1 // x
    except ZeroDivisionError as error:
        text = (lambda: str(error))()
        get = lambda: error
        try:
            return text, get()
        finally:
            print("inner")
    return None


# program: raising_in_loop
# f([1, 0, 2, 0]) => record, hit
# f([1, 0, 4, 0]) => hit
# f([0, 1]) => hit exit
def f(items):
    out = []
    for x in items:
        try:
            out.append(10 // x)
        except ZeroDivisionError as error:
            out.append(str(error))
    return out


# program: raising_while_with_retry
# f([3, 2, 1]) => record, hit
# f([3, 2, 1, 0]) => hit
def f(items):
    tries = 0
    while True:
        tries += 1
        try:
            if items[tries] == 1:
                return tries
            raise LookupError(tries)
        except LookupError:
            continue


# program: raising_everything_dies_in_order
# f(0) => record, hit
import sys


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name, sys.exception() is None)


def g(x):
    local = Noisy("local of g")
    return [Noisy("operand 1"), Noisy("operand 2"), 1 // x]


def f(x):
    mine = Noisy("local of f")
    try:
        g(x)
    except ZeroDivisionError:
        print("handler")
        del mine
    print("after")


# program: raising_everything_dies_when_let_out
# note: the frames live as long as the traceback
# f(0) => record, hit
class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g(x):
    local = Noisy("local of g")
    return Noisy("operand"), 1 // x


def f(x):
    mine = Noisy("local of f")
    return Noisy("operand of f"), g(x)


# program: raising_in_init
# f(-1) => record, hit
# f(1) => hit exit
class Box:
    def __init__(self, x):
        self.x = x
        if x < 0:
            raise ValueError(self.__class__.__name__)

    def __del__(self):
        print("del", self.x)


def f(x):
    try:
        return Box(x).x
    except ValueError as error:
        return error, error.__traceback__.tb_next.tb_frame.f_locals["self"].x


# program: raising_init_returns_something
# f(1) => record, hit
class Box:
    def __init__(self, x):
        return x


def f(x):
    try:
        Box(x)
    except TypeError as error:
        return error


# program: raising_init_returns_something_or_not
# f(None) => record, hit
# f(1) => miss record
# f(None) => hit
class Box:
    def __init__(self, x):
        return x


def f(x):
    Box(x)
    return "made"


# program: raising_getter
# f(C(1)) => record, hit
# f(C(None)) => hit exit
class C:
    def __init__(self, x):
        self.x = x

    @property
    def p(self):
        if self.x:
            raise AttributeError("from getter")
        return "fine"


def f(c):
    try:
        return c.p
    except AttributeError as error:
        return error, error.name, error.obj is c


# program: raising_getter_as_method
# note: LOAD_METHOD does not tell the error its name
# f(C()) => record, hit
class C:
    @property
    def p(self):
        raise AttributeError("from getter")


def f(c):
    try:
        return c.p()
    except AttributeError as error:
        return error, error.name, error.obj


# program: raising_getter_with_getattr
# f(C()) => record, hit
class C:
    @property
    def p(self):
        raise AttributeError("from getter")

    def __getattr__(self, name):
        if name == "q":
            raise AttributeError("nor q")
        return "fallback for " + name


def f(c):
    try:
        return c.p, c.q
    except AttributeError as error:
        return error, error.name


# program: raising_setter
# f(C(), -1) => record, hit
# f(C(), 1) => miss record
class C:
    @property
    def p(self):
        return self._p

    @p.setter
    def p(self, value):
        if value < 0:
            raise ValueError(value)
        self._p = value


def f(c, x):
    try:
        c.p = x
        return c.p
    except ValueError as error:
        return error


# program: raising_operator_methods
# f(V(1), V(0)) => record, hit
# f(V(1), V(2)) => hit exit
class V:
    def __init__(self, x):
        self.x = x

    def __truediv__(self, other):
        return V(self.x / other.x)

    def __getitem__(self, key):
        if key == "bad":
            raise KeyError(key)
        return key

    def __setitem__(self, key, value):
        raise TypeError("read only")

    def __neg__(self):
        raise OverflowError("-")


def f(a, b):
    out = []
    for step in range(4):
        try:
            if step == 0:
                out.append((a / b).x)
            elif step == 1:
                out.append(a["bad"])
            elif step == 2:
                a["x"] = 1
            else:
                out.append(-a)
        except (ArithmeticError, LookupError, TypeError) as error:
            out.append(error)
    return out


# program: raising_not_implemented_reflected
# f(A(1), B(2)) => record, hit
# f(A(1), A(2)) => hit exit
# f(A(1), 5) => hit exit
# f(A(1), "s") => hit exit
class A:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        if type(other) is A:
            return A(self.x + other.x)
        return NotImplemented

    def __eq__(self, other):
        return self.x == other.x if type(other) is A else NotImplemented

    def __lt__(self, other):
        return NotImplemented


class B:
    def __init__(self, x):
        self.x = x

    def __radd__(self, other):
        return "radd", self.x, other.x

    def __gt__(self, other):
        return "gt"


def f(a, b):
    out = []
    try:
        out.append(a == b)
        out.append(a + b)
        out.append(a < b)
    except TypeError as error:
        out.append(error)
    return [x.x if type(x) is A else x for x in out]


# program: raising_not_implemented_everywhere
# f(A(), A()) => record, hit
# f(A(), 1) => miss record
class A:
    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return NotImplemented


def f(a, b):
    try:
        return a + b
    except TypeError as error:
        return error


# program: raising_not_implemented_out
# f(A(), 1) => record, hit
class A:
    def __mul__(self, other):
        return NotImplemented


def f(a, b):
    return a * b


# program: raising_not_implemented_reflected_of_number
# f(3, A()) => record, hit
# f(3.5, A()) => miss record
class A:
    def __radd__(self, other):
        print("asked", other)
        return NotImplemented


def f(x, a):
    try:
        return x + a
    except TypeError as error:
        return error


# program: raising_next_ends_loop
# f(3) => record, hit
# f(2) => hit exit
# f(4) => hit exit
class Down:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def f(n):
    out = []
    for x in Down(n):
        out.append(x)
    return out, "after"


# program: raising_next_ends_nested_loops
# f(2, 2) => record, hit
# f(2, 3) => hit exit
class Down:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration("value")
        self.n -= 1
        return self.n


def inner(a, b):
    return [(x, y) for x in Down(a) for y in Down(b)]


def f(a, b):
    return inner(a, b), sum(x for x in Down(a))


# program: raising_next_raises_other
# f(1) => record, hit
# f(2) => hit exit
# f(-1) => hit exit
class Broken:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise ValueError("broken")
        if self.n < 0:
            raise StopIteration
        self.n -= 1
        return self.n


def f(n):
    out = []
    try:
        for x in Broken(n):
            out.append(x)
    except ValueError as error:
        out.append(error)
    return out


# program: raising_next_subclass_of_stop
# f(1) => record, hit
class Done(StopIteration):
    pass


class It:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise Done(3)
        self.n -= 1
        return self.n


def f(n):
    for x in It(n):
        print(x)
    else:
        print("else")


# program: raising_next_not_stopping_recorded
# note: the exit is in __next__, in the interpreter; the loop ends in its caller
# f([1]) => record, hit
# f([]) => hit exit
class It:
    def __init__(self, items):
        self.items = items
        self.place = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.place += 1
        if self.place > len(self.items):
            raise StopIteration
        return self.items[self.place - 1]


def first(items):
    for x in It(items):
        return x
    return "none"


def f(items):
    return first(items)


# program: raising_stop_iteration_by_hand
# f(0) => record, hit
def f(x):
    it = iter(())
    out = []
    try:
        next(it)
    except StopIteration as error:
        out.append(error.value)
    try:
        raise StopIteration(x)
    except StopIteration as error:
        out.append(error.value)
    return out


# program: raising_stop_iteration_out
# f(7) => record, hit
def f(x):
    raise StopIteration(x)


# program: raising_with_swallows
# f(0) => record, hit
# f(1) => hit exit
class Swallow:
    def __enter__(self):
        return "entered"

    def __exit__(self, kind, value, tb):
        print("exit", kind, value, tb and (tb.tb_lineno, tb.tb_frame.f_code.co_name))
        return True


def f(x):
    with Swallow() as s:
        1 // x
        print("not reached by zero")
    return s


# program: raising_with_lets_pass
# f(0) => record, hit
# f(1) => hit exit
import sys


class Pass:
    def __enter__(self):
        return "entered"

    def __exit__(self, kind, value, tb):
        print("exit", kind, value is sys.exception())


def f(x):
    with Pass() as s:
        1 // x
    return s


# program: raising_with_exit_raises
# f(0) => record, hit
# f(1) => hit exit
class Bad:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        raise RuntimeError("exit")


def f(x):
    try:
        with Bad():
            1 // x
    except RuntimeError as error:
        return error


# program: raising_with_two_managers
# f(0, True, False) => record, hit
# f(0, False, True) => hit exit
# f(0, False, False) => hit exit
class M:
    def __init__(self, name, swallow):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("enter", self.name)
        return self

    def __exit__(self, kind, value, tb):
        print("exit", self.name, kind)
        return self.swallow


def f(x, outer, inner):
    with M("outer", outer) as a, M("inner", inner) as b:
        1 // x
    return "after"


# program: raising_with_exit_varargs_and_opaque
# f(0) => record, hit
from contextlib import suppress, contextmanager


class M:
    def __enter__(self):
        return self

    def __exit__(self, *what):
        print(len(what), what[0])
        return 1


def f(x):
    with M():
        1 // x
    with suppress(ZeroDivisionError):
        1 // x
    with suppress(KeyError):
        1 // x
    return "never"


# program: raising_with_return_break_continue
# f([0, 1, 2]) => record, hit
# f([0, 2]) => hit exit
class M:
    def __enter__(self):
        return self

    def __exit__(self, *what):
        print("exit", what[0])
        return True


def f(items):
    for x in items:
        with M():
            if x == 2:
                return "two"
            if x == 1:
                continue
            1 // x
    return "end"


# program: raising_with_enter_raises
# f(1) => record, hit
class M:
    def __enter__(self):
        raise ValueError("enter")

    def __exit__(self, *what):
        print("never")


def f(x):
    try:
        with M():
            return x
    except ValueError as error:
        return error


# program: raising_star_one_part
# f() => record, hit
def f():
    log = []
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as group:
        log.append(group)
    except* TypeError as group:
        log.append(group)
    return log


# program: raising_star_rest_goes_on
# f() => record, hit
import sys


def f():
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
    except* ValueError as group:
        print(repr(group), repr(sys.exception()))


# program: raising_star_raises_in_handlers
# f() => record, hit
def f():
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
    except* ValueError:
        raise RuntimeError("from value")
    except* TypeError:
        raise


# program: raising_star_naked
# f(0) => record, hit
# f(1) => miss record
def f(x):
    try:
        1 // x
    except* ZeroDivisionError as group:
        return_value = group.exceptions
        print(return_value)
    return "end"


# program: raising_star_wrong_type
# f() => record, hit
def f():
    try:
        try:
            raise ValueError(1)
        except* ExceptionGroup:
            pass
    except TypeError as error:
        return error


# program: raising_wrong_match_type
# f(int) => record, hit
# f((KeyError, 5)) => hit
# f(ZeroDivisionError) => hit exit
def f(kind):
    try:
        try:
            1 // 0
        except kind:
            return "caught"
    except TypeError as error:
        return error


# program: raising_notes
# f(0) => record, hit
def f(x):
    try:
        try:
            1 // x
        except ZeroDivisionError as error:
            error.add_note("first")
            raise
    except ZeroDivisionError as error:
        error.add_note("second")
        return error, error.__notes__


# program: raising_with_traceback_replaced
# f(0) => record, hit
def g(x):
    return 1 // x


def f(x):
    try:
        g(x)
    except ZeroDivisionError as error:
        raise KeyError("k").with_traceback(error.__traceback__)


# program: raising_traceback_removed
# f(0) => record, hit
def g(x):
    try:
        1 // x
    except ZeroDivisionError as error:
        error.__traceback__ = None
        raise


def f(x):
    try:
        g(x)
    except ZeroDivisionError as error:
        return error


# program: raising_positions
# f([1], 0) => record, hit
def g(items, key):
    return (items[0] +
            items[key]
            [0])


def f(items, key):
    try:
        return g(items, key)
    except TypeError as error:
        found, tb = [], error.__traceback__
        while tb is not None:
            where = list(tb.tb_frame.f_code.co_positions())[tb.tb_lasti // 2]
            found.append((tb.tb_lineno, where))
            tb = tb.tb_next
        return found


# program: raising_format_in_handler
# f(0) => record, hit
import traceback


def g(x):
    return 1 // x


def f(x):
    try:
        g(x)
    except ZeroDivisionError:
        return traceback.format_exc().count("line"), traceback.format_stack()[-1].count("f(")


# program: raising_logging
# f(0) => record, hit
import io
import logging

stream = io.StringIO()
logger = logging.getLogger("raising")
logger.handlers[:] = [logging.StreamHandler(stream)]
logger.propagate = False


def g(x):
    return 1 // x


def f(x):
    try:
        g(x)
    except ZeroDivisionError:
        logger.exception("oops")
    return stream.getvalue().count("in g")


# program: raising_unbound_local
# f(True) => record, hit
# f(False) => miss record
def f(x):
    if not x:
        y = 1
    try:
        return y
    except UnboundLocalError as error:
        return error


# program: raising_unbound_local_out
# f(1) => record, hit
def f(x):
    del x
    return x


# program: raising_unbound_free
# f(1) => record, hit
def f(x):
    def g():
        return y

    def d():
        nonlocal y
        del y

    out = []
    for action in (g, d):
        try:
            action()
        except NameError as error:
            out.append((type(error), str(error), error.name))
    y = 1
    return out


# program: raising_name_error
# f(1) => record, hit
def f(x):
    try:
        return no_such_name
    except NameError as error:
        return error, error.name


# program: raising_import_error
# f(1) => record, hit
def f(x):
    out = []
    try:
        import no_such_module_at_all
    except ImportError as error:
        out.append(error.name)
    try:
        from math import no_such_name
    except ImportError as error:
        out.append((error.name, str(error)[:20]))
    return out


# program: raising_unpack_errors
# f([1]) => record, hit
# f([1, 2]) => hit exit
# f(5) => hit
def f(items):
    try:
        a, b = items
        return a, b
    except (ValueError, TypeError) as error:
        return error


# program: raising_call_errors
# f(1) => record, hit
def g(a, b):
    return a, b


def f(x):
    out = []
    try:
        g(x)
    except TypeError as error:
        out.append(error)
    try:
        g(x, x, c=1)
    except TypeError as error:
        out.append(error)
    try:
        x()
    except TypeError as error:
        out.append(error)
    try:
        g(*x)
    except TypeError as error:
        out.append(error)
    try:
        g(**x)
    except TypeError as error:
        out.append(error)
    return out


# program: raising_truth
# f(Bad()) => record, hit
# f(1) => hit exit
class Bad:
    def __bool__(self):
        raise ValueError("no truth")


def f(x):
    out = []
    try:
        out.append("yes" if x else "no")
    except ValueError as error:
        out.append(error)
    try:
        out.append(x and 1)
    except ValueError as error:
        out.append(error)
    try:
        out.append(x or 2)
    except ValueError as error:
        out.append(error)
    try:
        out.append(not x)
    except ValueError as error:
        out.append(error)
    return out if type(x) is not Bad else [type(each) for each in out]


# program: raising_truth_later_holds
# note: the recorded truth raised; later it is true or false, which the original instructions find once
# f(T(None)) => record, hit
# f(T(True)) => hit exit
# f(T(False)) => hit exit
class T:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        print("asked")
        if self.answer is None:
            raise ValueError("no truth")
        return self.answer

    def __repr__(self):
        return f"T({self.answer})"


def f(t):
    out = []
    try:
        out.append(repr(t and 1))
    except ValueError:
        out.append("raised")
    try:
        out.append(repr(t or 1))
    except ValueError:
        out.append("raised")
    try:
        if t:
            out.append("yes")
        else:
            out.append("no")
    except ValueError:
        out.append("raised")
    try:
        while not t:
            out.append("round")
            break
    except ValueError:
        out.append("raised")
    return out


# program: raising_iteration_later_goes_on
# f(It(["raise"])) => record, hit
# f(It([1, 2])) => hit exit
# f(It([])) => hit exit
class Inner:
    def __init__(self, items):
        self.items = list(items)

    __slots__ = ("items",)


def make(items):
    for item in items:
        if item == "raise":
            raise ValueError(item)
        yield item


class It:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return make(self.items)


def f(it):
    out = []
    try:
        for x in it:
            out.append(x)
        out.append("end")
    except ValueError as error:
        out.append(error)
    return out


# program: raising_later_does_not
# note: each kind of node that raised goes on regularly in the next call
# f([], {}, 0, "x") => record, hit
# f([5], {1: 2}, 3, 4) => hit exit
# f([], {1: 2}, 3, 4) => hit exit
# f([5], {}, 3, 4) => hit exit
def f(items, table, number, text):
    out = []
    try:
        out.append(items[0])
    except IndexError:
        out.append("index")
    try:
        out.append(table[1])
    except KeyError:
        out.append("key")
    try:
        out.append(6 // number)
    except ZeroDivisionError:
        out.append("zero")
    try:
        out.append(text + 1)
    except TypeError:
        out.append("type")
    try:
        del table[1]
    except KeyError:
        out.append("del")
    try:
        text.real.imag
    except AttributeError:
        out.append("attribute")
    return out


# program: raising_exit_in_handler
# f([], 1) => record, hit
# f([], -1) => hit exit
# f([], "s") => hit exit
def f(items, x):
    try:
        items[0]
    except IndexError as error:
        kept = error
        if x.real > 0 if type(x) is int else False:
            y = "plus"
        else:
            y = "minus"
        return y, kept, kept.__traceback__.tb_lineno
    return None


# program: raising_exit_in_handler_of_callee
# f([], [1]) => record, hit
# f([], [-1]) => hit exit
# f([], []) => hit exit
import sys


def g(items, x):
    try:
        items[0]
    except IndexError as error:
        if x[0] > 0:
            return "plus", sys.exception()
        return "minus", sys.exception()
    finally:
        print("finally", sys.exception())


def f(items, x):
    try:
        return g(items, x), sys.exception()
    except IndexError as error:
        return error


# program: raising_exit_in_nested_handlers_then_reraise
# f([], [1]) => record, hit
# f([], [-1]) => hit exit
def g(items, x):
    try:
        try:
            items[0]
        except IndexError:
            try:
                {}[1]
            except KeyError as error:
                if x[0] > 0:
                    print("plus")
                raise
    finally:
        print("finally")


def f(items, x):
    try:
        g(items, x)
    except KeyError as error:
        return error


# program: raising_exit_then_reraise_out
# f([], [1]) => record, hit
# f([], [-1]) => hit exit
def f(items, x):
    try:
        items[0]
    except IndexError:
        if x[0] > 0:
            print("plus")
        raise


# program: raising_other_exception_than_recorded
# f([]) => record, hit
# f({}) => hit exit
# f(5) => hit exit
def g(x):
    return x[0]


def f(x):
    try:
        return g(x)
    except IndexError as error:
        return "index", error
    except LookupError as error:
        return "lookup", error
    finally:
        print("finally")


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
# note: whoever watches sees the original instructions
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
# f(0) => record record, hit hit
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
