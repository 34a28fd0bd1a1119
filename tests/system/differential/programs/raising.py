"""Exceptions inside of graphs: raised, caught, let out; through recorded callees; the statements that deal with them."""
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
