"""What classes overload, asked by attributes and items: hooks, descriptors, deletions."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E711, E722, E731, E741, F401, F811, F821, F841, F842, I001, PTH118


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
