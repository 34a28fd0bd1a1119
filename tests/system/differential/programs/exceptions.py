"""Exceptions: raised, handled, chained; in the root, in callees, in nodes of the graph."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: raise_uncaught
# f(1) => record
# f(2) => hit
def f(x):
    y = x + 1
    raise ValueError("bad", y)


# program: raise_caught_in_root
# f(1) => record
# f(2) => hit
def f(x):
    try:
        raise KeyError(x)
    except KeyError as error:
        return error


# program: node_raises_caught_in_root
# f({"a": 1}) => record, hit
# f({}) => hit exit
# f({"a": 2}) => hit
def f(d):
    try:
        return d["a"]
    except KeyError as error:
        return ("missing", error)


# program: node_raises_uncaught
# f([1, 2]) => record, hit
# f([]) => hit exit
# f([3]) => hit
def f(x):
    y = [len(x)]
    return x[0], y


# program: else_and_finally
# f([4]) => record, hit
# f([0]) => hit exit
# f(["x"]) => hit exit
# f([5]) => hit
def f(x):
    log = []
    try:
        log.append("try")
        y = 8 / x[0]
    except ZeroDivisionError:
        log.append("except")
        y = None
    else:
        log.append("else")
    finally:
        log.append("finally")
        x.append(log)
    return y, log


# program: return_in_finally
# note: the finally swallows the exception
# f([4]) => record, hit
# f([]) => hit exit
def f(x):
    try:
        return x[0]
    finally:
        return "from finally"


# program: return_in_try_with_finally
# f([4]) => record, hit
# f([]) => hit exit
def f(x):
    try:
        return len(x), x[0]
    finally:
        x.append("finally")


# program: callee_raises_root_handles
# f([1]) => record, hit
# f([]) => hit exit
# f([2]) => hit
def g(x):
    y = len(x)
    return x[0] + y


def f(x):
    try:
        return g(x)
    except IndexError as error:
        return error


# program: callee_raises_uncaught
# f([1]) => record, hit
# f([]) => hit exit
def h(x):
    return x[0]


def g(x):
    return h(x)


def f(x):
    return g(x)


# program: handlers_at_three_levels
# note: h handles KeyError, g IndexError, f ZeroDivisionError; TypeError is unhandled
# f([1]) => record, hit
# f([KeyError("k")]) => hit exit
# f([IndexError("i")]) => hit exit
# f([ZeroDivisionError("z")]) => hit exit
# f([TypeError("t")]) => hit exit
# f([2]) => hit
def fail(x):
    if isinstance(x[0], Exception):
        raise x[0]
    return x


def h(x):
    try:
        return [x.copy(), fail(x)]
    except KeyError as error:
        x.append("h")
        return error


def g(x):
    try:
        return h(x), "g"
    except IndexError as error:
        x.append("g")
        return error


def f(x):
    try:
        return g(x), "f"
    except ZeroDivisionError as error:
        x.append("f")
        return error


# program: finally_at_three_levels
# f([1]) => record, hit
# f([]) => hit exit
# f([2]) => hit
def h(x):
    try:
        return x[0]
    finally:
        print("h")


def g(x):
    try:
        return h(x)
    finally:
        print("g")


def f(x):
    try:
        return g(x)
    finally:
        print("f")


# program: callee_handles
# f({"a": 1}) => record, hit
# f({}) => hit exit
def g(d):
    try:
        return d["a"]
    except KeyError:
        return "handled"


def f(d):
    r = g(d)
    return r, len(d)


# program: chained_from
# f([1]) => record, hit
# f([]) => hit exit
def f(x):
    try:
        return x[0]
    except IndexError as error:
        raise ValueError("chained") from error


# program: implicit_context
# f([1]) => record, hit
# f([]) => hit exit
def f(x):
    try:
        return x[0]
    except IndexError:
        return {}["nothing"]


# program: from_none
# f([1]) => record, hit
# f([]) => hit exit
def g(x):
    try:
        return x[0]
    except IndexError:
        raise ValueError("hidden") from None


def f(x):
    return g(x)


# program: reraise
# f([1]) => record, hit
# f([]) => hit exit
def f(x):
    try:
        return x[0]
    except IndexError as error:
        error.add_note("seen")
        x.append("handled")
        raise


# program: context_of_the_caller
# note: called while an exception is being handled: __context__ must be that exception
# call([1]) => record, hit
# call([]) => hit exit
def f(x):
    return x[0]


def call(x):
    try:
        raise RuntimeError("outer")
    except RuntimeError:
        try:
            return f(x)
        except IndexError as error:
            return error


# program: exc_info_inside_handler
# f([1]) => record, hit
# f([]) => hit exit
import sys


def g():
    kind, value, tb = sys.exc_info()
    return kind, value, None if tb is None else tb.tb_lineno


def f(x):
    try:
        x[0]
    except IndexError:
        inside = g()
    else:
        inside = g()
    return inside, g()


# program: name_of_handler_is_deleted
# f([1]) => record, hit
# f([]) => hit exit
def f(x):
    error = "before"
    try:
        x[0]
    except IndexError as error:
        pass
    return error


# program: handlers_in_order
# f(ValueError("v")) => record
# f(KeyError("k")) => hit exit
# f(OSError(2, "o")) => hit exit
# f(SystemExit(3)) => hit exit
def f(error):
    try:
        raise error
    except (ValueError, TypeError) as e:
        return "first", e.args
    except LookupError as e:
        return "second", e.args
    except Exception as e:
        return "third", e.args
    except:
        return "fourth"


# program: exception_groups
# f([1]) => record, hit
# f([]) => hit exit
# f({}) => hit exit
def f(x):
    log = []
    try:
        try:
            x[0]
        except LookupError as error:
            raise ExceptionGroup("group", [error, ValueError("v")])
    except* KeyError as group:
        log.append(("key", group))
    except* IndexError as group:
        log.append(("index", group))
    except* ValueError as group:
        log.append(("value", group.exceptions))
    return log


# program: exception_group_rest_is_raised
# f([1]) => record, hit
# f([TypeError("t"), ValueError("v")]) => hit exit
def f(x):
    try:
        if isinstance(x[0], Exception):
            raise ExceptionGroup("group", x)
    except* TypeError as group:
        x.append(group)
    return len(x)


# program: nested_try_in_handler
# f({}, {}) => record
# f({1: 2}, {}) => hit exit
# f({1: 2}, {1: 3}) => hit exit
def f(a, b):
    try:
        return a[1]
    except KeyError as first:
        try:
            return b[1]
        except KeyError as second:
            return first, second, second.__context__ is first


# program: exceptions_in_a_loop
# f([1, 2]) => record, hit
# f([1, 0]) => hit exit
# f([0, 2]) => hit exit
# f([4, 5]) => hit
def f(items):
    out = []
    for item in items:
        try:
            out.append(10 // item)
        except ZeroDivisionError as error:
            out.append(error)
            continue
        finally:
            out.append("f")
        out.append("end")
    return out


# program: break_through_finally
# f([1, 2, 3]) => record, hit
# f([1, -2, 3]) => hit exit
def f(items):
    out = []
    for item in items:
        try:
            if item < 0:
                break
            out.append(item)
        finally:
            out.append("f")
    return out


# program: stop_iteration_by_function
# note: the function itself raises StopIteration, its entry must not take that for exhaustion
# f([1]) => record, hit
# f([]) => hit exit
# f([2]) => hit
def f(x):
    if not x:
        raise StopIteration("mine")
    return x[0]


# program: stop_iteration_from_next
# f([1, 2]) => record, hit
# f([]) => hit exit
# f([3]) => hit
def f(x):
    it = iter(x)
    return next(it), list(it)


# program: stop_iteration_in_callee_of_loop
# note: __next__ written in Python, with a value in its StopIteration
# f([1, 2]) => record, hit
# f([]) => hit exit
class Once:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return self

    def __next__(self):
        if not self.items:
            raise StopIteration("end")
        return self.items.pop()


def f(x):
    return [y for y in Once(x)], x


# program: exception_from_property
# f(Thing(1)) => record, hit
# f(Thing(-1)) => hit exit
# f(Thing(2)) => hit
class Thing:
    def __init__(self, n):
        self.n = n

    @property
    def checked(self):
        if self.n < 0:
            raise AttributeError("negative")
        return self.n


def f(t):
    try:
        return t.checked * 2
    except AttributeError as error:
        return error


# program: traceback_lines_of_long_expressions
# note: the line within the expression counts
# f([1], [2], [3]) => record, hit
# f([1], [], [3]) => hit exit
# f([1], [2], []) => hit exit
def f(a, b, c):
    return (
        a[0]
        + b[
            0
        ]
        + c[0]
    )


# program: custom_exception
# f(3) => record, hit
# f(-3) => miss record
# f(-4) => hit
class Custom(Exception):
    def __init__(self, code, *, why):
        super().__init__(code)
        self.code, self.why = code, why

    def __str__(self):
        return f"{self.code}: {self.why}"


def f(x):
    if x < 0:
        raise Custom(x, why="negative")
    return x


# program: raise_class_and_instance
# f(ValueError) => record
# f(ValueError("x")) => hit
# f(5) => hit
def f(what):
    raise what


# program: bare_raise_without_exception
# f() => record
# f() => hit
def f():
    raise


# program: unbound_local
# f(True) => record, hit
# f(False) => miss record
# f(True) => hit
def f(flag):
    if flag:
        x = 1
    return x


# program: unknown_global
# f(1) => record
# f(1) => hit
# do missing = 5
# f(1) => miss record
def f(x):
    y = x + 1
    return missing + y


# program: attribute_errors
# f("s") => record, hit
# f(5) => hit exit
def f(x):
    return x.upper()


# program: keyboard_interrupt_and_base_exceptions
# f([1]) => record, hit
# f([KeyboardInterrupt()]) => hit exit
# f([GeneratorExit()]) => hit exit
def check(x):
    if isinstance(x, BaseException):
        raise x
    return [x]


def f(x):
    try:
        return check(x[0])
    except Exception:
        return "not this"
    finally:
        x.append("finally")


# program: exception_keeps_frames_locals
# note: the frames of a traceback show the locals that eager frames have
# f([1]) => record, hit
# f([]) => hit exit
def g(x, depth):
    local = [depth, "g"]
    return x[0], local


def f(x):
    here = ("f", len(x))
    try:
        return g(x, 1)
    except IndexError as error:
        tb, out = error.__traceback__, []
        while tb:
            out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno, sorted(tb.tb_frame.f_locals)))
            tb = tb.tb_next
        return out, here


# program: same_exception_object_again
# f([1]) => record, hit
# f([problem]) => hit exit
# f([problem]) => hit exit
problem = ValueError("once")


def g(x):
    if x is problem:
        raise x
    return [x]


def f(x):
    try:
        return g(x[0])
    except ValueError as error:
        tb, n = error.__traceback__, 0
        while tb:
            tb, n = tb.tb_next, n + 1
        return n, error


# program: exception_at_each_kind_of_instruction
# note: one instruction kind each, the line of each is in its traceback; after four recordings that ended before
# note: they did anything the function is left alone
# f(0, []) => record
# f(1, []) => miss record
# f(2, []) => miss record
# f(3, []) => miss record
# f(4, []) => miss record
# f(5, []) => miss record
# f(6, []) => miss record
# f(7, []) => miss record
# f(8, []) => miss
def f(kind, x):
    if kind == 0:
        x.missing
    elif kind == 1:
        x[3]
    elif kind == 2:
        x.missing = 5
    elif kind == 3:
        del x[7]
    elif kind == 4:
        a, b = x
    elif kind == 5:
        undefined_name
    elif kind == 6:
        -x
    elif kind == 7:
        x.missing_method(kind)
    else:
        import a_module_that_is_not_there


# program: exception_at_each_kind_after_recording
# note: as above, but the instruction has been recorded and raises at replay
# f(Safe()) => record, hit
# f(Fails("attr")) => miss record
# f(Fails("item")) => hit exit
# f(Fails("call")) => hit exit
# f(Fails("neg")) => hit exit
# f(Fails("iter")) => hit exit
# f(Fails("set")) => hit exit
# f(Fails("bool")) => hit exit
# f(Fails("lt")) => hit exit
# f(Fails("contains")) => hit exit
# f(Fails("format")) => hit exit
class Safe:
    why = None

    def check(self, what):
        if self.why == what:
            raise ArithmeticError(what)
        return what

    def __getattr__(self, name):
        return self.check("attr")

    def __getitem__(self, i):
        return self.check("item")

    def __call__(self):
        return self.check("call")

    def __neg__(self):
        return self.check("neg")

    def __iter__(self):
        return iter(self.check("iter"))

    def __setitem__(self, i, v):
        self.check("set")

    def __bool__(self):
        return bool(self.check("bool"))

    def __lt__(self, o):
        return self.check("lt")

    def __contains__(self, o):
        return self.check("contains")

    def __format__(self, spec):
        return self.check("format")


class Fails(Safe):
    def __init__(self, why):
        self.why = why


def f(s):
    a = s.attribute
    b = s[0]
    c = s()
    d = -s
    e, *g = s
    s[1] = 2
    h = not s
    i = s < 5
    j = 5 in s
    k = f"{s:x}"
    return a, b, c, d, e, g, h, i, j, k


# program: finally_runs_once
# f([2]) => record, hit
# f([0]) => hit exit
# f([]) => hit exit
# f([5]) => hit
def g(x):
    try:
        print("g try")
        return 10 // x[0]
    finally:
        print("g finally")


def f(x):
    try:
        print("f try")
        r = g(x)
        print("f got", r)
    except ZeroDivisionError:
        print("f except")
        r = "zero"
    finally:
        print("f finally")
    return r


# program: exception_passes_through_c
# note: from the callback through sorted to the handler, with all frames in the traceback
# f([1, 2]) => record, hit
# f([1, "a"]) => hit exit
def key(v):
    return v + 1


def g(x):
    return sorted(x, key=key)


def f(x):
    try:
        return g(x)
    except TypeError as error:
        return error


# program: raise_in_callee_handled_in_its_caller_then_continue
# note: after the handler the caller calls on; the rest runs in the original instructions
# f([1, 2]) => record, hit
# f([1, 0]) => hit exit
# f([0, 2]) => hit exit
# f([3, 4]) => hit
def inverse(v):
    return 12 // v


def safe(v):
    try:
        return inverse(v)
    except ZeroDivisionError as error:
        return str(error)


def f(x):
    return [safe(x[0]), safe(x[1]), safe(6)]


# program: exception_with_pending_operands
# note: operands that wait on the stacks of two frames are dropped, in order
# f([1]) => record, hit
# f([]) => hit exit
class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


def g(x):
    return (Loud("g1"), Loud("g2"), x[0])


def f(x):
    try:
        r = [Loud("f1"), g(x), Loud("f2")]
    except IndexError:
        print("handled")
        return None
    print("made")
    return len(r)


# program: error_in_default_and_decorator_expressions
# f([1]) => record, hit
# f([]) => hit exit
def f(x):
    try:
        def g(a=x[0]):
            return a
        return g()
    except IndexError as error:
        return error


# program: generator_exit_and_runtime_error
# f([1]) => record, hit
# f([]) => hit exit
def gen(x):
    yield x[0]
    raise StopIteration


def f(x):
    g = gen(x)
    first = next(g)
    try:
        next(g)
    except RuntimeError as error:
        return first, str(error), error.__cause__


# program: same_exception_in_many_calls
# note: the third and fourth calls must not see the traceback of the second
# f([1]) => record
# f([]) => hit exit, hit exit, hit exit
def g(x):
    return x[0]


def f(x):
    return g(x)


# program: exception_in_condition_of_while
# f([2, 1, 0]) => record, hit
# f([2, 1]) => hit exit
def f(x):
    n = 0
    while x.pop(0):
        n += 1
    return n


# program: try_in_loop_with_else_and_break
# f(["1", "2"]) => record, hit
# f(["1", "x", "3"]) => hit exit
# f(["", "2"]) => hit exit
def f(items):
    out = []
    for item in items:
        try:
            n = int(item)
        except ValueError as error:
            out.append(("bad", item))
            if not item:
                break
        else:
            out.append(n)
    else:
        out.append("all")
    return out


# program: exception_leaves_recursion
# f(3, [1]) => record, hit
# f(3, []) => hit exit
def walk(n, x):
    if n == 0:
        return x[0]
    return walk(n - 1, x) + 1


def f(n, x):
    try:
        return walk(n, x)
    except IndexError as error:
        return error


# program: exception_from_inlined_init
# f([1]) => record, hit
# f([]) => hit exit
class Thing:
    def __init__(self, x):
        self.ready = False
        self.first = x[0]
        self.ready = True


def f(x):
    try:
        return Thing(x)
    except IndexError as error:
        return error


# program: exception_in_inlined_operator
# f(V(1), V(2)) => record, hit
# f(V(1), V("s")) => hit exit
class V:
    def __init__(self, n):
        self.n = n

    def __mul__(self, o):
        return V(self.n - o.n)


def f(a, b):
    try:
        return (a * b) * b
    except TypeError as error:
        return error
