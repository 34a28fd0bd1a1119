"""Methods of operators that classes overload: which one is called, in which order, and the use of its result."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E711, E722, E731, E741, F401, F811, F821, F841, F842, I001, PTH118


# program: reflected_operator_of_strange_left_operands
# f(A()) => record, hit
# f(A(3)) => hit
# f(B()) => miss record, hit
class A:
    def __init__(self, n=1):
        self.n = n

    def __radd__(self, other):
        return "radd", other, self.n

    def __rsub__(self, other):
        return "rsub", str(other), self.n

    def __ror__(self, other):
        return "ror", other, self.n


class B(A):
    pass


class Plain:
    pass


def f(a):
    return "s" + a, [] + a, () + a, None + a, 1j + a, 1 + a, 2.5 + a, {1} - a, {} | a, type(Plain() - a)


# program: not_implemented_then_the_other
# f(A(), B()) => record, hit
# f(A(False), B()) => hit exit
# f(A(), B(False)) => hit exit
# f(A(), A()) => hit exit, hit exit
class A:
    def __init__(self, declines=True):
        self.declines = declines

    def __add__(self, other):
        log.append("A.add")
        if self.declines:
            return NotImplemented
        return "A"


class B:
    def __init__(self, answers=True):
        self.answers = answers

    def __radd__(self, other):
        log.append("B.radd")
        if self.answers:
            return "B"
        return NotImplemented


log = []


def f(a, b):
    log.clear()
    try:
        return a + b, list(log)
    except TypeError as error:
        return str(error), list(log)


# program: subclass_is_asked_first
# f(A(), B()) => record, hit
# f(A(), B(None)) => hit exit
# f(A(), C()) => miss record, hit
# f(B(), A()) => miss record, hit
class A:
    def __add__(self, other):
        return "A.add"

    def __radd__(self, other):
        return "A.radd"

    def __lt__(self, other):
        return "A.lt"

    def __gt__(self, other):
        return "A.gt"


class B(A):
    def __init__(self, answer="B.radd"):
        self.answer = answer

    def __radd__(self, other):
        if self.answer is None:
            return NotImplemented
        return self.answer

    def __gt__(self, other):
        if self.answer is None:
            return NotImplemented
        return "B.gt"


class C(A):
    pass


def f(a, b):
    return a + b, a < b


# program: subclass_declines
# f(A(), B()) => record, hit
# f(A(), B()) => hit
class A:
    def __add__(self, other):
        return "A.add"

    def __radd__(self, other):
        return "A.radd"


class B(A):
    def __radd__(self, other):
        return NotImplemented


def f(a, b):
    return a + b


# program: in_place_falls_back
# f(A(), B()) => record, hit
# f(A("i"), B()) => hit exit
# f(A("a"), B()) => hit exit
# f(A("i"), A()) => miss record, hit
class A:
    def __init__(self, answers="r"):
        self.answers = answers

    def __iadd__(self, other):
        if self.answers == "i":
            return self
        return NotImplemented

    def __add__(self, other):
        if self.answers == "a":
            return "sum"
        return NotImplemented

    def __isub__(self, other):
        return "isub"


class B:
    def __radd__(self, other):
        return "radd"


def f(a, b):
    c = a
    a += b
    c -= 1
    return a, c


# program: no_method_accepts
# f(A(), A()) => record, hit
# f(A(), B()) => miss record, hit
# f(A(), 3) => miss record, hit
# f(A(), [1]) => miss record, hit
# f(A(), "s") => miss record, hit
class A:
    def __add__(self, other):
        return NotImplemented

    def __iadd__(self, other):
        return NotImplemented

    def __mul__(self, other):
        return NotImplemented

    def __pow__(self, other):
        return NotImplemented

    def __lt__(self, other):
        return NotImplemented

    def __eq__(self, other):
        return NotImplemented


class B:
    def __radd__(self, other):
        return NotImplemented

    def __gt__(self, other):
        return NotImplemented


def f(a, b):
    found = [a == b, a == a, a != b]
    for case in range(6):
        try:
            if case == 0:
                a + b
            elif case == 1:
                a += b
            elif case == 2:
                found.append(a * b)
            elif case == 3:
                a ** b
            elif case == 4:
                a **= b
            else:
                a < b
        except TypeError as error:
            found.append(str(error))
    return found


# program: repeats_behind_numbers
# f(A(), [1]) => record, hit
# f(A(), "ab") => miss record, hit
# f(A(), [1, 2]) => hit
class A:
    def __mul__(self, other):
        return NotImplemented

    def __rmul__(self, other):
        return NotImplemented

    def __index__(self):
        return 2


def f(a, s):
    x = s * a, a * s
    s *= a
    return x, s


# program: comparisons_ask_the_other
# f(A(1)) => record, hit
# f(A(2)) => hit
# f(A(None)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        if self.n is None:
            return NotImplemented
        return self.n == other

    def __gt__(self, other):
        return self.n is None or self.n > other

    def __le__(self, other):
        return "le"


def f(a):
    return 1 == a, 1 < a, 2.5 >= a, a != 1, 1 != a, None == a, "x" != a, (1,) == a


# program: unequal_by_equal
# f(A(1)) => record, hit
# f(A([])) => hit
# f(A(Loud(True))) => hit
# f(A(NotImplemented)) => hit exit
# f(A(Loud(3))) => hit exit
class Loud:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        return self.n


class A:
    def __init__(self, answer):
        self.answer = answer

    def __eq__(self, other):
        return self.answer


def f(a):
    return a != 1


# program: unequal_declined_by_both
# f(A(), B()) => record, hit
# f(A(), A()) => hit exit, hit exit
class A:
    def __eq__(self, other):
        log.append(1)
        return NotImplemented


class B:
    def __eq__(self, other):
        log.append(2)
        return NotImplemented


log = []


def f(a, b):
    log.clear()
    return a != b, a == b, list(log)


# program: methods_replaced_between_operands
# f(A(), B()) => record, hit
# do B.__radd__ = lambda self, other: "new"
# f(A(), B()) => record, hit
# do del B.__radd__
# f(A(), B()) => record, hit
class A:
    def __add__(self, other):
        return NotImplemented


class B:
    def __radd__(self, other):
        return "old"


def f(a, b):
    try:
        return a + b
    except TypeError as error:
        return str(error)


# program: the_first_method_changes_the_second
# f(A(), B()) => record, hit, hit exit, record
class A:
    def __add__(self, other):
        calls.append(1)
        if len(calls) == 3:
            B.__radd__ = lambda self, other: "changed"
        return NotImplemented


class B:
    def __radd__(self, other):
        return "first"


calls = []


def f(a, b):
    return a + b


# program: operators_that_raise
# f(A(), B()) => record, hit
# f(A(0), B()) => hit exit
# f(A(), B(0)) => hit exit
class A:
    def __init__(self, n=1):
        self.n = n

    def __add__(self, other):
        1 // self.n
        return NotImplemented


class B:
    def __init__(self, n=1):
        self.n = n

    def __radd__(self, other):
        return 1 // self.n


def f(a, b):
    return [a + b, "done"]


# program: an_operator_that_always_raises
# f(A(), B()) => record, hit
# f(A(), B()) => hit
class A:
    def __add__(self, other):
        return NotImplemented


class B:
    def __radd__(self, other):
        raise KeyError("radd")


def f(a, b):
    try:
        return a + b
    except KeyError as error:
        tb = error.__traceback__
        lines = []
        while tb:
            lines.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
            tb = tb.tb_next
        return lines, str(error)


# program: operands_die_in_order
# f() => record, hit, hit
class T:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(self.name)

    def __bool__(self):
        log.append("bool")
        return True

    def __add__(self, other):
        t = T("local of add")
        return NotImplemented

    def __radd__(self, other):
        log.append("radd")
        return 5

    def __contains__(self, item):
        log.append("contains")
        return T("answer")

    def __getattr__(self, name):
        log.append("getattr")
        return 5

    def __eq__(self, other):
        return T("equal")

    def __len__(self):
        log.append("len")
        return 2


class U(T):
    def __add__(self, other):
        return NotImplemented


class V:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(self.name)

    def __radd__(self, other):
        log.append("V.radd")
        return 5


log = []


def f():
    log.clear()
    if T("a"):
        log.append("then")
    x = T("b") or 5
    del x
    x = T("c") and 5
    T("d") + V("e")
    T("item") in T("container")
    T("owner").foo
    T("left") != T("right")
    len(T("measured"))
    log.append("end")
    return list(log)


# program: dataclasses_compare
# f(1, 2) => record, hit
# f(2, 2) => hit
import dataclasses


@dataclasses.dataclass(order=True)
class D:
    x: int
    y: int = 2


def f(a, b):
    p, q = D(a), D(b)
    return p == q, p != q, p < q, p >= q, D(a, b) == (a, b)
