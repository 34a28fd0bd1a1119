"""Code that changes classes and attributes in the middle of a recording or a replay."""
# fmt: off
# ruff: noqa: B010, B018, B023, E402, E501, E702, E704, E722, F401, F811, F821, F822, F842, I001, PLW0602, S102, UP008


# program: attribute_becomes_a_property
# f(A(), "pass") => record, hit
# f(A(), "A.v = property(lambda self: 'property')") => hit
# f(B(), "pass") => hit
# f(A(), "del A.v") => hit
class A:
    def __init__(self):
        self.__dict__["v"] = 1


class B:
    v = "class attribute"


def f(a, text):
    first = a.v
    exec(text, globals())
    return first, a.v, a.v


# program: getattribute_added_in_the_middle
# f(A(), "pass") => record, hit
# f(A(), "A.__getattribute__ = loud") => hit exit
# f(A(), "pass") => miss record
# f(A(), "del A.__getattribute__") => hit exit
# f(A(), "pass") => miss record, hit
def loud(self, name):
    return ("loud", name)


class A:
    x = 1

    @property
    def p(self):
        return self.x

    def m(self):
        return self.p


def f(a, text):
    before = a.p, a.x
    exec(text, globals())
    return before, a.p, a.x, A.m(a)


# program: getattr_added_in_the_middle
# f(A(), "pass") => record, hit
# f(A(), "A.__getattr__ = lambda self, name: name.upper()") => hit
# f(A(), "A.x and delattr(A, 'x')") => hit
class A:
    x = 1


def f(a, text):
    exec(text, globals())
    return getattr(a, "missing", "none"), a.x


# program: method_replaced_between_lookup_and_call
# note: the arguments are evaluated after the method was looked up
# f(A(), "pass") => record, hit
# f(A(), "A.m = lambda self, x: 'new'") => hit
# f(A(), "pass") => hit exit
class A:
    def m(self, x):
        return ("old", x)


def run(text):
    exec(text, globals())
    return text


def f(a, text):
    return a.m(exec(text, globals())), len(text)


# program: method_code_replaced_between_lookup_and_call
# f(A(), "pass") => record, hit
# f(A(), "A.m.__code__ = (lambda self, x: 'new code').__code__") => hit exit
# f(A(), "pass") => hit exit, hit exit
class A:
    def m(self, x):
        return ("old", x)


def f(a, text):
    return a.m(exec(text, globals()))


# program: bases_changed
# f(C(), "pass") => record, hit
# f(C(), "C.__bases__ = (B,)") => hit exit
# f(C(), "pass") => hit exit
# f(C(), "C.__bases__ = (A,)") => hit exit
class A:
    name = "A"

    def m(self):
        return "A.m"


class B:
    name = "B"

    def m(self):
        return "B.m"


class C(A):
    pass


def f(c, text):
    before = c.m(), c.name, isinstance(c, A)
    exec(text, globals())
    return before, c.m(), c.name, isinstance(c, A)


# program: base_class_method_replaced
# f(C(), "pass") => record, hit
# f(C(), "A.m = lambda self: 'patched'") => hit exit
# f(C(), "pass") => hit exit
class A:
    def m(self):
        return "A.m"


class B(A):
    pass


class C(B):
    pass


def f(c, text):
    before = c.m()
    exec(text, globals())
    return before, c.m()


# program: class_of_an_object_assigned
# f(A(), A) => record, hit
# f(A(), B) => hit exit
# f(B(), A) => hit exit
class A:
    def m(self):
        return "A", self.v

    v = 1

    @property
    def p(self):
        return "pA"

    def __add__(self, other):
        return "A+"


class B:
    def m(self):
        return "B", self.v

    v = 2

    @property
    def p(self):
        return "pB"

    def __add__(self, other):
        return "B+"


def f(x, kind):
    before = x.m(), x.p, x + 1
    x.__class__ = kind
    return before, x.m(), x.p, x + 1


# program: metaclass_changes
# f(1) => record, hit
# do C.__class__ = Meta
# f(2) => miss record
# do C.__class__ = Plain
# f(3) => miss record
class Meta(type):
    def __call__(cls, *args):
        return ("from the metaclass", args)


class Plain(type):
    pass


class C(metaclass=Plain):
    def __init__(self, x):
        self.x = x


def f(x):
    c = C(x)
    return c if isinstance(c, tuple) else c.x


# program: metaclass_changes_in_the_middle
# f(1, "pass") => record, hit
# f(2, "C.__class__ = Meta") => hit exit
# do C.__class__ = Plain
# f(3, "pass") => miss record, hit
class Meta(type):
    def __call__(cls, *args):
        return ("from the metaclass", args)

    def __getattribute__(cls, name):
        return ("meta", name)


class Plain(type):
    pass


class C(metaclass=Plain):
    x = 1

    def __init__(self, x):
        self.x = x


def f(x, text):
    a = C(x).x, C.x
    exec(text, globals())
    c = C(x)
    return a, c if isinstance(c, tuple) else c.x, C.x


# program: new_and_init_replaced
# f(1, "pass") => record, hit
# f(1, "C.__init__ = lambda self, x: setattr(self, 'x', 'other init')") => hit exit
# note: a graph ends with the function that it is about
# f(1, "C.__new__ = staticmethod(lambda cls, *a: 'made by new')") => record
# f(1, "pass") => miss record
class C:
    def __init__(self, x):
        self.x = x


def f(x, text):
    a = C(x)
    exec(text, globals())
    b = C(x)
    return getattr(a, "x", a), getattr(b, "x", b)


# program: slots_and_instance_dict
# f(S(), "pass") => record, hit
# f(S(), "del s.a") => hit exit
# f(S(), "S.a = 'class attribute now'") => hit
# f(S(), "pass") => hit
class S:
    __slots__ = ("a", "b", "__dict__")

    def __init__(self):
        self.a = 1
        self.c = 2


def f(s, text):
    before = s.a, s.c
    exec(text, globals(), {"s": s})
    try:
        s.__dict__ = {"c": "new dict"}
        return before, s.a, s.c
    except AttributeError as error:
        return before, str(error), s.c


# program: instance_dict_replaced
# f(A(), {"v": 1}) => record, hit
# f(A(), {"v": 2.5, "m": 3}) => hit exit
# f(A(), {"m": len}) => hit exit
class A:
    v = "class"

    def m(self):
        return "method"


def f(a, d):
    a.v = 5
    first = a.v
    a.__dict__ = d
    return first, a.v, a.m if "m" in d else a.m()


# program: property_replaced_in_the_middle
# f(A(), "pass") => record, hit
# f(A(), "A.p = property(lambda self: 'other')") => hit exit
# f(A(), "A.p = 5") => record
calls = []


class A:
    @property
    def p(self):
        calls.append(1)
        return len(calls)


def f(a, text):
    before = a.p
    exec(text, globals())
    return before, a.p, a.p


# program: property_getter_replaces_itself
# note: the graph dies with the second getter, while it runs
# f(A()) => record, hit exit
# f(A()) => record
class A:
    @property
    def p(self):
        type(self).p = property(lambda self: "second")
        return "first"


original = A.p


def f(a):
    A.p = original
    return a.p, a.p, a.p


# program: descriptor_with_side_effects
# f(A()) => record, hit
# f(A()) => hit
counter = 0


class D:
    def __get__(self, obj, kind=None):
        global counter
        counter += 1
        return counter

    def __set__(self, obj, value):
        global counter
        counter = value

    def __delete__(self, obj):
        global counter
        counter = -100


class A:
    d = D()


def f(a):
    x = counter
    y = a.d
    z = counter
    a.d = 50
    w = counter
    del a.d
    return x, y, z, w, counter, a.d, counter


# program: class_attribute_number_changes_type
# f() => record, hit
# do A.v = 2.5
# f() => hit
# do A.v = "s"
# f() => hit
class A:
    v = 1


def f():
    return A.v * 2, A.v == 2


# program: type_error_texts_after_a_method_vanished
# f(A(), "pass") => record, hit
# f(A(), "del A.m") => hit exit
# f(A(), "A.m = 5") => hit exit
class A:
    def m(self):
        return 1


def f(a, text):
    exec(text, globals())
    try:
        return a.m()
    except (AttributeError, TypeError) as error:
        return str(error)


# program: enter_and_exit_replaced_inside_the_block
# f("pass") => record, hit
# f("M.__exit__ = lambda self, *a: log.append('other exit')") => hit exit
# f("M.__enter__ = lambda self: log.append('other enter')") => record
# f("del M.__exit__") => record
log = []


class M:
    def __enter__(self):
        log.append("enter")
        return self

    def __exit__(self, *a):
        log.append("exit")


def f(text):
    log.clear()
    with M():
        exec(text, globals())
    try:
        with M():
            log.append("second")
    except TypeError as error:
        log.append(str(error))
    return list(log)
