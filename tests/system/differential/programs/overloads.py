"""What classes overload, asked by operators, branches, attributes and builtins: which method, and what of its answer."""
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


# program: nobody_answers
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


# program: truth_at_branches
# f(A(True)) => record, hit
# f(A(False)) => hit exit, hit exit
# f(A(3)) => hit exit
# f(A(None)) => hit exit
class A:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        return self.answer


def f(a):
    found = []
    if a:
        found.append("if")
    if not a:
        found.append("if not")
    found.append(a and 1)
    found.append(a or 2)
    found.append(not a)
    found.append(1 if a else 2)
    while not a:
        found.append("while")
        break
    return found[:3], found[3] is a, found[4:]


# program: truth_is_false
# f(A()) => record, hit
# f(A()) => hit
class A:
    def __bool__(self):
        return False


def f(a):
    found = []
    if a:
        found.append("if")
    if not a:
        found.append("if not")
    found.append((a and 1) is a)
    found.append(a or 2)
    found.append(not a)
    while a:
        found.append("never")
    assert not a
    return found


# program: truth_by_length
# f(A(2)) => record, hit
# f(A(0)) => hit exit
# f(A(-1)) => hit exit
# f(A("x")) => hit exit
# f(A(1 << 80)) => hit exit
# f(A(Index())) => hit
class Index:
    def __index__(self):
        return 7


class A:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n


def f(a):
    if a:
        return "true", (a and 1), not a, bool(a), len(a)
    return "false", (a or 1)


# program: overloaded_truth_that_raises
# f(A(0)) => record, hit
# f(A(1)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        1 // self.n
        return True


def f(a):
    try:
        if a:
            return 1
    except ZeroDivisionError as error:
        return str(error), error.__traceback__.tb_lineno
    return 2


# program: truth_that_is_refused
# f(A(3)) => record, hit
# f(A("x")) => hit
# f(A(True)) => hit exit
class A:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        return self.answer


def f(a):
    try:
        if a:
            return 1
    except TypeError as error:
        return str(error), error.__traceback__.tb_lineno, error.__traceback__.tb_next
    return 2


# program: refused_truth_leaves_the_function
# f(A(3)) => record, hit
# f(A(False)) => hit exit
class A:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        return self.answer


def f(a):
    if not a:
        return 1
    return 2


# program: exit_in_the_middle_of_truth
# f(A(1)) => record, hit
# f(A(2)) => hit exit
# f(A(-2)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        if self.n == 1:
            return True
        seen.append(self.n)
        return self.n > 0


seen = []


def f(a):
    x = [1, (a and 5), (a or 6)]
    if a:
        x.append("yes")
    else:
        x.append("no")
    return x[1] is a, x[2] is a, x[3:], seen


# program: truth_in_inlined_callee
# f(A(1)) => record, hit
# f(A(0)) => hit exit
# f(A(-1)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        if self.n == 1:
            return True
        return self.n > 0 or self.n == 0


def g(a):
    if a:
        return "yes"
    return "no"


def h(a):
    return (a or "nothing") is a


def f(a):
    return g(a), h(a)


# program: truth_in_a_loop
# f(A(3)) => record, hit
# f(A(2)) => hit exit
# f(A(5)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        self.n -= 1
        return self.n >= 0


def f(a):
    count = 0
    while a:
        count += 1
    return count


# program: limited_at_truth
# limits: nodes=12
# f(A(1)) => record stop:node_limit, hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        log.append(self.n)
        return True


log = []


def f(a):
    if a:
        log.append("yes")
    return (a or 3) is a, len(log)


# program: containment
# f(A(True)) => record, hit
# f(A([])) => hit
# f(A("x")) => hit
# f(A(Bad())) => hit exit
# f({1: 2}) => miss record, hit
class Bad:
    def __bool__(self):
        raise ValueError("no truth")


class A:
    def __init__(self, answer):
        self.answer = answer

    def __contains__(self, item):
        return self.answer


def f(a):
    return 1 in a, 2 not in a


# program: containment_without_method
# f(A()) => record, hit
# f(A()) => hit
class A:
    def __getitem__(self, i):
        if i > 3:
            raise IndexError
        return i


def f(a):
    return 1 in a, 7 not in a, list(a)


# program: containers_refuse
# f(A()) => record, hit
class A:
    __contains__ = None
    __iter__ = None


def f(a):
    found = []
    try:
        1 in a
    except TypeError as error:
        found.append(str(error))
    try:
        for x in a:
            pass
    except TypeError as error:
        found.append(str(error))
    return found


# program: iteration
# f(A([1, 2])) => record, hit
# f(A((1, 2))) => hit
# f(A(3)) => hit exit
class A:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        if self.items == 3:
            return 3
        return iter(self.items)


def f(a):
    total = 0
    for x in a:
        total += x
    return total, list(iter(a)), [x for x in a]


# program: iterator_that_is_its_own
# f(A(2)) => record, hit
# f(A(3)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration("end")
        self.n -= 1
        return self.n


def f(a):
    found = []
    for x in a:
        found.append(x)
    try:
        next(a)
    except StopIteration as stop:
        found.append(stop.value)
    return found


# program: iter_that_is_refused
# f(A()) => record, hit
class A:
    def __iter__(self):
        return 3


def f(a):
    try:
        for x in a:
            pass
    except TypeError as error:
        return str(error)


# program: builtins_that_ask
# f(A(3)) => record, hit
# f(A(4)) => hit
# f(A(-1)) => hit exit
# f(A("x")) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __abs__(self):
        return "abs"

    def __repr__(self):
        return f"A({self.n})"

    def __hash__(self):
        return self.n + (1 << 70)

    def __next__(self):
        return self.n

    def __bool__(self):
        return self.n > 1


def f(a):
    return len(a), abs(a), repr(a), hash(a), next(a), bool(a), str(a)


# program: builtins_exchanged
# f(A()) => record, hit
# do len = lambda x: "own"
# f(A()) => miss record, hit
# do del len
# f(A()) => hit
class A:
    def __len__(self):
        return 3


def f(a):
    return len(a)


# program: strings_that_are_refused
# f(A(1)) => record, hit
# f(A("text")) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __str__(self):
        return self.n

    def __repr__(self):
        return self.n

    def __format__(self, spec):
        return self.n

    def __hash__(self):
        return self.n

    def __len__(self):
        return self.n


class B:
    def __init__(self, n):
        self.n = n

    def __str__(self):
        return self.n


class C:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return self.n


def f(a):
    found = []
    for case in range(9):
        try:
            if case == 0:
                found.append(str(a))
            elif case == 1:
                found.append(repr(a))
            elif case == 2:
                found.append(f"{a}")
            elif case == 3:
                found.append(f"{a!s}")
            elif case == 4:
                found.append(f"{a!r}")
            elif case == 5:
                found.append(f"{a:>5}")
            elif case == 6:
                found.append(f"{B(a.n)}")
            elif case == 7:
                found.append(f"{C(a.n)}")
            else:
                found.append(f"{a!r:>9}")
        except TypeError as error:
            found.append(str(error))
    return found


# program: formatting
# f(A("a"), B("b"), C("c")) => record, hit
# f(A(S("aa")), B("bb"), C(S("cc"))) => hit
class S(str):
    def __format__(self, spec):
        return "S:" + spec


class A:
    def __init__(self, text):
        self.text = text

    def __format__(self, spec):
        return self.text + "|" + spec

    def __str__(self):
        return self.text


class B:
    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


class C:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def f(a, b, c):
    return f"{a} {a:3} {a!s} {b} {b!s} {c} {c!r} {c!s}", f"{a:{b}}", str(c), str(b)


# program: attribute_hooks
# f(A()) => record, hit
# f(A(own="mine")) => hit exit
# f(B()) => hit exit, hit exit
class A:
    def __init__(self, **values):
        self.__dict__.update(values)

    def __getattr__(self, name):
        if name.startswith("bad"):
            raise AttributeError(name)
        return lambda *args: (name, args)

    def __setattr__(self, name, value):
        log.append((name, value))

    def __delattr__(self, name):
        log.append(name)


class B(A):
    own = "class"


log = []


def f(a):
    log.clear()
    a.x = 3
    del a.x
    own = a.own
    try:
        a.bad
    except AttributeError as error:
        bad = str(error), error.name, error.obj is a
    return own if isinstance(own, str) else own(1), a.call(2, 3), bad, list(log)


# program: attribute_gate
# f(A()) => record, hit
# f(B()) => miss record, hit
class A:
    x = 1

    def __getattribute__(self, name):
        if name == "bad":
            raise AttributeError
        return name


class B:
    def __getattribute__(self, name):
        raise AttributeError(name)

    def __getattr__(self, name):
        return "fallback " + name


def f(a):
    try:
        bad = a.bad
    except AttributeError as error:
        bad = error.name, error.obj is a
    return a.x, bad


# program: overloaded_descriptors
# f(A()) => record, hit
# f(A(plain="own")) => hit exit
# do A.__dict__["plain"].extra = 5
# f(A()) => hit
# do D.__get__ = lambda self, obj, cls: "other get"
# f(A()) => record, hit
class D:
    def __init__(self, name):
        self.name = name

    def __get__(self, obj, cls):
        return self.name, obj is None, cls.__name__

    def __set__(self, obj, value):
        log.append(("set", self.name, value))

    def __delete__(self, obj):
        log.append(("delete", self.name))


class N:
    def __get__(self, obj, cls):
        return lambda *args: (type(self).__name__, type(obj).__name__, cls, args)


class A:
    data = D("data")
    plain = N()

    def __init__(self, **own):
        self.__dict__.update(own)


log = []


def f(a):
    log.clear()
    a.data = 1
    del a.data
    plain = a.plain
    return a.data, plain if isinstance(plain, str) else (plain(1), a.plain(2)), list(log)


# program: descriptor_that_raises
# f(A()) => record, hit
class D:
    def __get__(self, obj, cls):
        raise AttributeError("none here")

    def __set__(self, obj, value):
        raise ValueError(value)


class A:
    d = D()


def f(a):
    found = []
    try:
        a.d
    except AttributeError as error:
        found.append((str(error), error.name, error.obj is a))
    try:
        a.d()
    except AttributeError as error:
        found.append((str(error), error.name, error.obj is a))
    try:
        a.d = 3
    except ValueError as error:
        found.append(str(error))
    return found


# program: property_deleted
# f(A(1)) => record, hit
# f(A(0)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    @property
    def p(self):
        return self.n

    @p.deleter
    def p(self):
        self.n = 10 // self.n


def f(a):
    del a.p
    return a.p


# program: items_deleted
# f(A()) => record, hit
# f([1, 2, 3]) => hit exit, hit exit
class A:
    def __delitem__(self, key):
        log.append(key)


log = []


def f(a):
    log.clear()
    del a[1]
    return list(log)


# program: spread_calls
# f((1, 2), {"y": 3}) => record, hit
# f((1, 2), {"y": 4}) => hit
# f((1, 2), {"x": 4}) => hit exit, hit exit
# f((1, 2), {"y": 3, "z": 5}) => hit exit
# f((1,), {"y": 3}) => hit exit, hit exit
class A:
    def __init__(self, *args, **kwargs):
        self.got = args, kwargs

    def __call__(self, a, b=None, *, y=7, **rest):
        return a, b, y, rest


def g(*args, **kwargs):
    return args, kwargs


def h(*args, **kwargs):
    return A()(*args, **kwargs), A(*args, **kwargs).got, g(*args, **kwargs)


def f(args, kwargs):
    return h(*args, **kwargs), A()(*args)


# program: decorators_with_keywords
# f(1) => record, hit
# f(2) => hit
import functools


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs), function(*args, **kwargs)

    return wrapper


@twice
def g(x, *, y=2):
    return x, y


def f(n):
    return g(n, y=n + 1), g(x=n), g(n)


# program: partial_with_keywords
# f(1) => record, hit
# f(2) => hit
# do p.keywords["y"] = "changed"
# f(2) => hit
# do p.keywords["z"] = "more"
# f(2) => miss record, hit
import functools


def g(x, y=1, **rest):
    return x, y, rest


p = functools.partial(g, y=5)


def f(n):
    return p(n)


# program: classes_with_metaclasses
# f(1) => record, hit
# f(2) => hit
# do M.__call__ = lambda cls, *args: "called"
# f(1) => miss record, hit
import abc


class M(type):
    pass


class A(metaclass=M):
    def __init__(self, x):
        self.x = x


class B(abc.ABC):
    def __init__(self, x):
        self.x = x


def f(n):
    a = A(n)
    return a if isinstance(a, str) else a.x, B(n).x


# program: managers_in_a_variable
# f(A(True)) => record, hit
# f(A(False)) => hit exit
# f(A(0)) => hit exit
class A:
    def __init__(self, answer):
        self.answer = answer

    def __enter__(self):
        if self.answer == 0 and self.answer is not False:
            raise ValueError("enter")
        return self

    def __exit__(self, *what):
        return self.answer


def f(a):
    with a as b:
        c = b
    return c is a


# program: frames_seen_from_special_methods
# f(A()) => record, hit
# f(A()) => hit
import sys


def where():
    found = []
    frame = sys._getframe(1)
    for _ in range(2):
        found.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
        frame = frame.f_back
    log.append(found)


class A:
    def __bool__(self):
        where()
        return True

    def __len__(self):
        where()
        return 3

    def __contains__(self, item):
        where()
        return True

    def __radd__(self, other):
        where()
        return 1

    def __eq__(self, other):
        where()
        return NotImplemented

    def __getattr__(self, name):
        where()
        return 1

    def __iter__(self):
        where()
        return iter(())

    def __format__(self, spec):
        where()
        return spec


log = []


def f(a):
    log.clear()
    x = 1
    if a:
        x = 2
    y = not a
    len(a)
    x in a
    x + a
    x == a
    x != a
    a.foo
    for z in a:
        pass
    f"{a:5}"
    return list(log)


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


# program: values_that_overload_everything
# f(V(3), V(4)) => record, hit
# f(V(5), V(6)) => hit
# f(V(5), 6) => hit exit, hit exit
class V:
    def __init__(self, n):
        self.n = n

    def _of(self, other):
        return other.n if isinstance(other, V) else other

    def __add__(self, other):
        return V(self.n + self._of(other))

    __radd__ = __add__

    def __sub__(self, other):
        return V(self.n - self._of(other))

    def __rsub__(self, other):
        return V(self._of(other) - self.n)

    def __neg__(self):
        return V(-self.n)

    def __abs__(self):
        return V(abs(self.n))

    def __eq__(self, other):
        return self.n == self._of(other)

    def __lt__(self, other):
        return self.n < self._of(other)

    def __gt__(self, other):
        return self.n > self._of(other)

    def __bool__(self):
        return self.n != 0

    def __pow__(self, other, modulus=None):
        return V(self.n ** self._of(other))

    def __rpow__(self, other):
        return V(self._of(other) ** self.n)


def f(a, b):
    c = 1 + a - b + 2 ** a
    c += b
    c -= 3
    d = 10 - c
    if a < b and 3 < b and d != 5 and a:
        return abs(-d).n, (c ** 2).n, 7 > a
    return d.n


# program: metaclass_that_is_called
# f(1) => record, hit
# f(2) => hit
# f(-1) => hit exit
# do M.__call__ = lambda cls, *args: "changed"
# f(1) => record, hit
class M(type):
    def __call__(cls, *args):
        if args[0] < 0:
            return NotImplemented
        return super().__call__(*args)


class A(metaclass=M):
    def __init__(self, x):
        self.x = x


def f(n):
    t = (n,)
    a, b = A(n), A(*t)
    return getattr(a, "x", a), getattr(b, "x", b)
