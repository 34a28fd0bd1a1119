"""What classes overload, asked by builtins: containment, iteration, text."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E711, E722, E731, E741, F401, F811, F821, F841, F842, I001, PTH118


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
