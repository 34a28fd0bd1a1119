"""Classes: construction, properties, operators, descriptors, `super()`, class bodies, dataclasses, enums."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: construct_and_use
# f(3) => record, hit
# f(4) => hit
# f(2.5) => miss record
class Point:
    def __init__(self, x, y=1):
        self.x = x
        self.y = y

    def total(self):
        return self.x + self.y


def f(a):
    p = Point(a, a * 2)
    q = Point(a)
    p.x += 1
    return p.total() + q.total(), p, q


# program: method_of_argument
# f(A(1)) => record, hit
# f(A(5)) => hit
# f(B(5)) => hit exit, hit exit
# f(A(6)) => hit
class A:
    def __init__(self, n):
        self.n = n

    def value(self):
        return self.n + 1


class B(A):
    def value(self):
        return self.n * 100


def f(a):
    return a.value() + a.value()


# program: class_changed_between_calls
# f(A()) => record, hit
# do A.value = lambda self: "patched"
# f(A()) => hit exit, hit exit
# do del A.value
# f(A()) => hit exit
class A:
    def value(self):
        return "original"


def f(a):
    return a.value()


# program: instance_shadows_method
# f(A()) => record, hit
# do special = A(); special.value = lambda: "own"
# f(special) => hit exit
# f(A()) => hit
class A:
    def value(self):
        return "class"


def f(a):
    return a.value()


# program: traced_method
# trace: A.scale
# A(3).scale(2) => record, hit
# A(3).scale(2.5) => hit
# B(4).scale(5) => hit
class A:
    def __init__(self, n):
        self.n = n

    def scale(self, k):
        self.n = self.n * k
        return self.n


class B(A):
    pass


# program: traced_init
# trace: A.__init__
# A(1, 2) => record, hit
# A("x", []) => hit
class A:
    def __init__(self, a, b):
        self.a = a
        self.b = (a, b)


# program: properties
# f(Temp(10)) => record, hit
# f(Temp(20)) => hit
# f(Temp(-300)) => hit exit
class Temp:
    def __init__(self, c):
        self.c = c

    @property
    def kelvin(self):
        return self.c + 273

    @kelvin.setter
    def kelvin(self, v):
        if v < 0:
            raise ValueError("too cold")
        self.c = v - 273


def f(t):
    t.kelvin = t.kelvin + 1
    return t.kelvin, t


# program: class_and_static_methods
# f(3) => record, hit
# f(4) => hit
class A:
    factor = 10

    @classmethod
    def make(cls, n):
        return cls.__name__, n * cls.factor

    @staticmethod
    def plain(n):
        return n + 1


class B(A):
    factor = 20


def f(n):
    return A.make(n), B.make(n), B().make(n), A.plain(n), B().plain(n)


# program: operators_in_python
# f(V(1, 2), V(3, 4)) => record, hit
# f(V(5, 6), V(7, 8)) => hit
# f(V(1, 2), 5) => miss record
class V:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, o):
        return V(self.x + o.x, self.y + o.y) if isinstance(o, V) else NotImplemented

    def __mul__(self, k):
        return V(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return V(-self.x, -self.y)

    def __eq__(self, o):
        return (self.x, self.y) == (o.x, o.y)

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __len__(self):
        return 2

    def __iadd__(self, o):
        self.x += o.x
        return self


def f(a, b):
    c = a + b
    d = 2 * c * 3
    c += a
    return c, -d, a == b, a != b, d[0] + d[1], len(d)


# program: reflected_operators
# f(1, R()) => record, hit
# f([1], R()) => miss record
# f(1, 2) => miss record, hit
# f("x", R()) => miss record, hit
class R:
    def __radd__(self, o):
        return ("radd", o)

    def __rsub__(self, o):
        return ("rsub", o)

    def __sub__(self, o):
        return NotImplemented

    def __gt__(self, o):
        return ("gt", o)


def f(a, b):
    return a + b, a < b


# program: callable_objects
# f(Adder(1), 5) => record, hit
# f(Adder(10), 5) => hit
# f(abs, -5) => miss record
class Adder:
    def __init__(self, n):
        self.n = n

    def __call__(self, x, *, k=0):
        return self.n + x + k


def f(adder, x):
    return adder(x), adder(x + 1)


# program: getattr_hooks
# f(Dynamic(), 1) => record, hit
# f(Dynamic(), "v") => hit
class Dynamic:
    def __getattr__(self, name):
        print("getattr", name)
        if name.startswith("no"):
            raise AttributeError(name)
        return name.upper()

    def __setattr__(self, name, value):
        print("setattr", name)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        print("delattr", name)
        super().__delattr__(name)


def f(d, v):
    d.x = v
    y = d.x, d.other
    del d.x
    return y, d.x, hasattr(d, "no"), getattr(d, "nope", "default")


# program: getattribute
# f(Watched(5)) => record, hit
# f(Watched("q")) => hit
class Watched:
    def __init__(self, v):
        self.v = v

    def __getattribute__(self, name):
        print("get", name)
        return object.__getattribute__(self, name)

    def method(self):
        return self.v


def f(w):
    return w.v, w.method()


# program: descriptors
# f(Owner()) => record, hit
# f(Owner()) => hit
class Field:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        print("get", self.name)
        return self if instance is None else instance.__dict__.get(self.name, "unset")

    def __set__(self, instance, value):
        print("set", self.name)
        instance.__dict__[self.name] = value


class NonData:
    def __get__(self, instance, owner):
        return "non-data"


class Owner:
    a = Field()
    b = NonData()


def f(o):
    before = o.a, o.b
    o.a = 5
    o.b = "own"
    return before, o.a, o.b, Owner.a is Owner.__dict__["a"]


# program: slots
# f(S(1)) => record, hit
# f(S("x")) => hit
class S:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


def f(s):
    s.b = s.a
    try:
        s.c = 1
    except AttributeError as error:
        return s.a, s.b, str(error)


# program: slots_without_failure
# f(S(1)) => record, hit
# f(S(2)) => hit
# f(S(2.5)) => hit
class S:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


def f(s):
    s.b = s.a + 1
    del s.a
    return s.b * 2, s


# program: super_calls
# f(3) => record, hit
# f(4) => hit
class A:
    def __init__(self, n):
        self.n = n
        self.log = ["A"]

    def m(self, x):
        return ("A", x + self.n)


class B(A):
    def __init__(self, n):
        super().__init__(n * 2)
        self.log.append("B")

    def m(self, x):
        return ("B", super().m(x))


class C(A):
    def m(self, x):
        return ("C", super().m(x))


class D(B, C):
    def m(self, x):
        return ("D", super().m(x), super(B, self).m(x))


def f(n):
    d = D(n)
    return d.m(1), d.log


# program: class_body_in_function
# f(3) => record, hit
# f("x") => hit
def f(n):
    outside = [n]

    class Local:
        attribute = n
        outside.append("body")
        items = [attribute for _ in range(2)] if False else (attribute, 1)

        def get(self):
            return self.attribute, outside, __class__.__name__

    return Local().get(), Local.items, Local


# program: metaclass_and_hooks
# f("New") => record, hit
# f("Other") => hit
class Meta(type):
    def __new__(mcls, name, bases, names, **kw):
        print("new", name, sorted(kw))
        return super().__new__(mcls, name, bases, names)

    def __init__(cls, name, bases, names, **kw):
        super().__init__(name, bases, names)

    def __call__(cls, *args):
        print("call", cls.__name__)
        return super().__call__(*args)


class Base:
    def __init_subclass__(cls, **kw):
        print("subclass", cls.__name__, kw)


def f(name):
    class K(metaclass=Meta, flag=1):
        pass

    class L(Base, key=name):
        pass

    K.__name__ = name
    return type(K()).__name__, L.__mro__[1].__name__


# program: new_returns_something_else
# f(3) => record, hit
# f(-3) => hit
class Odd:
    def __new__(cls, n):
        if n < 0:
            return "not an Odd"
        return super().__new__(cls)

    def __init__(self, n):
        print("init", n)
        self.n = n


def f(n):
    return Odd(n)


# program: init_returns_value
# f(1) => record
# f(2) => hit
class Bad:
    def __init__(self, n):
        self.n = n
        return n


def f(n):
    try:
        return Bad(n)
    except TypeError as error:
        return str(error)


# program: init_raises
# f(1) => record, hit
# f(-1) => miss record
# f(2) => hit
class Picky:
    def __init__(self, n):
        if n < 0:
            raise ValueError(n)
        self.n = n


def f(n):
    try:
        return Picky(n)
    except ValueError as error:
        return error


# program: dataclasses_and_enums
# f(3) => record, hit
# f(1) => hit
# f(9) => hit exit
import enum
from dataclasses import dataclass, field, replace


class Kind(enum.Enum):
    ONE = 1
    THREE = 3


class Bits(enum.Flag):
    A = 1
    B = 2


@dataclass(order=True)
class Item:
    n: int
    tags: list = field(default_factory=list)

    def __post_init__(self):
        self.tags.append(self.n)


def f(n):
    kind = Kind(n)
    a, b = Item(n), Item(n + 1, ["t"])
    return kind.name, kind is Kind.ONE, a < b, a == Item(n), replace(a, n=0), repr(b), Bits.A | Bits.B


# program: frozen_dataclass
# f(1) => record
# f(2) => hit
from dataclasses import dataclass


@dataclass(frozen=True)
class Frozen:
    a: int


def f(n):
    x = Frozen(n)
    try:
        x.a = 5
    except AttributeError as error:
        return x, str(error), hash(x) == hash(Frozen(n))


# program: abstract_and_generic_classes
# f([1, 2]) => record, hit
# f("abc") => hit
from abc import ABC, abstractmethod
from collections.abc import Sequence, Sized


class Shape(ABC):
    @abstractmethod
    def area(self): ...


class Square(Shape):
    def __init__(self, a):
        self.a = a

    def area(self):
        return self.a * self.a


def f(x):
    return isinstance(x, Sized), isinstance(x, Sequence), Square(len(x)).area(), isinstance(Square(1), Shape)


# program: container_protocol_in_python
# f(Box([1, 2, 3])) => record, hit
# f(Box("xyz")) => hit
# f(Box([1])) => hit exit
class Box:
    def __init__(self, items):
        self.items = list(items)

    def __getitem__(self, i):
        print("getitem", i)
        return self.items[i]

    def __setitem__(self, i, v):
        print("setitem", i)
        self.items[i] = v

    def __delitem__(self, i):
        print("delitem", i)
        del self.items[i]

    def __contains__(self, v):
        return v in self.items

    def __len__(self):
        return len(self.items)


def f(b):
    b[0] = b[1]
    del b[2]
    return b[0], 2 in b, len(b), b[0:1], bool(b)


# program: exit_inside_operator
# note: the branch within __add__ is left in the middle, two frames deep
# f(N(1), N(2)) => record, hit
# f(N(1), N(-2)) => hit exit
# f(N(3), N(4)) => hit
class N:
    def __init__(self, v):
        self.v = v

    def __add__(self, o):
        print("add")
        if o.v < 0:
            return "negative"
        return self.v + o.v


def f(a, b):
    return [a + b, "rest"]


# program: exit_inside_init
# f([1]) => record, hit
# f([-1]) => hit exit
# f([2]) => hit
class N:
    def __init__(self, x):
        self.x = x
        x.append("init")
        if x[0] < 0:
            self.sign = "minus"
        else:
            self.sign = "plus"


def f(x):
    n = N(x)
    return n.sign, n


# program: comparison_dunders
# f(Ver(1), Ver(2)) => record, hit
# f(Ver(3), Ver(2)) => hit
from functools import total_ordering


@total_ordering
class Ver:
    def __init__(self, n):
        self.n = n

    def __eq__(self, o):
        return self.n == o.n

    def __lt__(self, o):
        return self.n < o.n

    def __hash__(self):
        return hash(self.n)


def f(a, b):
    return a < b, a >= b, a == b, max(a, b).n, len({a, b}), sorted([b, a])[0].n


# program: type_called_with_three_arguments
# f("Made", 5) => record, hit
# f("Other", "v") => hit
def f(name, v):
    T = type(name, (dict,), {"v": v, "get_v": lambda self: self.v})
    t = T(a=1)
    t.extra = v
    return T.__name__, t.get_v(), t, issubclass(T, dict), t.__class__ is T


# program: protocol_methods_in_python
# f(Proto([3, 1])) => record, hit
# f(Proto([5, 6, 7])) => hit
class Proto:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        print("len")
        return len(self.items)

    def __getitem__(self, i):
        print("get", i)
        return self.items[i]

    def __contains__(self, v):
        print("contains", v)
        return "truthy"

    def __index__(self):
        print("index")
        return 1

    def __hash__(self):
        print("hash")
        return 7

    def __int__(self):
        return 42

    def __reversed__(self):
        return "reversed"

    def __matmul__(self, o):
        return ("matmul", o)

    def __invert__(self):
        return "invert"

    def __divmod__(self, o):
        return ("divmod", o)


def f(p):
    return (len(p), p[0], 5 in p, [10, 20, 30][p], {p: 1}, int(p), reversed(p), p @ 2, ~p, divmod(p, 3),
            "yes" if p else "no", list(p)[:2], range(5)[p:])


# program: bad_protocol_results
# f("len") => record
# f("bool") => hit exit
# f("hash") => hit exit
# f("iter") => hit exit
class Bad:
    def __len__(self):
        return -1

    def __hash__(self):
        return "no"

    def __iter__(self):
        return 5


class BadBool:
    def __bool__(self):
        return 2


def f(what):
    b = Bad()
    try:
        if what == "len":
            return len(b)
        elif what == "bool":
            return not BadBool()
        elif what == "hash":
            return {b: 1}
        return [*b]
    except (TypeError, ValueError) as error:
        return error


# program: super_in_inlined_methods
# note: super() looks at the frame that calls it: its first argument and its __class__ cell
# f(1) => record, hit
# f(2) => hit
class A:
    def __init__(self, n):
        self.log = ["A", n]

    def go(self, k):
        self.log.append(("A.go", k))
        return self


class B(A):
    def __init__(self, n):
        super().__init__(n + 1)
        self.log.append("B")

    def go(self, k):
        cell = lambda: self
        super().go(k + 1).log.append("B.go")
        return cell()


class C(B):
    def __init__(self, n):
        super().__init__(n + 1)

    def go(self, k):
        return super().go(k * 10)


def f(n):
    return C(n).go(n).go(5).log


# program: instances_of_changing_shape
# note: attributes appear, disappear and move from the class to the instance
# f([]) => record, hit
# f(["late"]) => hit exit
class P:
    shared = "class"


def f(names):
    p = P()
    before = p.shared
    p.shared = "instance"
    for name in names:
        setattr(p, name, 1)
    after = p.shared
    del p.shared
    return before, after, p.shared, sorted(vars(p))


# program: class_attribute_changes_during_call
# f("Q.k = 2") => record, hit
# do Q.k = 1
# f("Q.k = 'x'") => hit exit
# do Q.k = 1
# f("pass") => hit
class Q:
    k = 1

    def m(self):
        return self.k + 1


def f(text):
    q = Q()
    a = q.m()
    exec(text, globals())
    return a, q.m()


# program: class_of_instance_changes
# f(A, A) => record, hit
# f(A, B) => hit exit
# f(A, A) => hit
class A:
    def m(self):
        return "A.m"


class B:
    def m(self):
        return "B.m"


def f(first, second):
    a = first()
    r = [a.m()]
    a.__class__ = second
    r.append(a.m())
    return r


# program: bases_change_between_calls
# f() => record, hit
# do B.__bases__ = (Other,)
# f() => hit exit, hit exit
class A:
    def m(self):
        return "A.m"


class Other:
    def m(self):
        return "Other.m"


class B(A):
    pass


def f():
    return B().m()


# program: method_resolution_through_getattr
# f(Proxy([1, 2])) => record, hit
# f(Proxy("abc")) => hit exit
# f(Proxy(5)) => hit exit
class Proxy:
    def __init__(self, target):
        self.__dict__["target"] = target

    def __getattr__(self, name):
        return getattr(self.target, name)


def f(p):
    return p.index, p.count(1) if isinstance(p.target, list) else p.count("a")
