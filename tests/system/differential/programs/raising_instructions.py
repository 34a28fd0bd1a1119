"""Exceptions that instructions raise themselves, and replays that raise others than were recorded, or none."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E711, E722, F401, F811, F821, F841, F842, I001, PTH118, B012, SIM105, SIM117


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
# note: each kind of node that raised has a result in the next call
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
