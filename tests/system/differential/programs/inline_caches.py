"""Attributes that are found where they lay the last time, and are not there any more."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, PTH118, SIM115


# program: caches_method_hidden
# limits: loops=1, heat=2, grow_after=2
# note: an instance gets an attribute of the method's name in the middle
# f(12) => record record (hit exit)*3 bridge hit exit
class Counter:
    def __init__(self):
        self.total = 0

    def add(self, x):
        self.total += x
        return self.total


def f(n):
    counter, seen = Counter(), []
    for i in range(n):
        if i == 8:
            counter.add = lambda x: -x
        seen.append(counter.add(i))
    return seen, list(vars(counter))[:1]


# program: caches_method_replaced
# limits: loops=1, heat=2, grow_after=2
# f(12) => record record (hit exit)*3 bridge hit exit
class Thing:
    def act(self):
        return 1


def f(n):
    thing, seen = Thing(), []
    for i in range(n):
        if i == 8:
            Thing.act = lambda self: 2
        seen.append(thing.act())
    Thing.act = lambda self: 1
    return seen


# program: caches_attribute_deleted
# limits: loops=1, heat=2, grow_after=2
# f(12) => record record (hit exit)*4
class Box:
    pass


def f(n):
    box, seen = Box(), []
    box.x, box.y = 1, 2
    for i in range(n):
        if i == 7:
            del box.x
        if i == 9:
            box.x = 5
        try:
            seen.append(box.x + box.y)
        except AttributeError as error:
            seen.append(str(error))
    return seen, list(vars(box))


# program: caches_dict_made
# limits: loops=1, heat=2, grow_after=2
# note: from then on the values lie in a dict
# f(12) => record record (hit exit)*3
class Point:
    def __init__(self, x):
        self.x = x
        self.y = -x


def f(n):
    seen = []
    point = Point(3)
    for i in range(n):
        if i == 6:
            point.__dict__["x"] = 10
        if i == 9:
            point.__dict__ = {"y": 7, "x": 8}
        seen.append(point.x * 100 + point.y)
    return seen


# program: caches_property_comes
# limits: loops=1, heat=2, grow_after=2
# note: the class gets a data descriptor of the attribute's name
# f(12) => record record (hit exit)*2
class Holder:
    def __init__(self):
        self.value = 1


def f(n):
    holder, seen = Holder(), []
    for i in range(n):
        if i == 7:
            Holder.value = property(lambda self: 50, lambda self, x: seen.append(("set", x)))
        seen.append(holder.value)
        holder.value = i
    del Holder.value
    return seen, vars(holder)


# program: caches_class_attribute
# limits: loops=1, heat=2, grow_after=2
# f(12) => record record (hit exit)*4
class Settings:
    size = 4


class Other(Settings):
    pass


def f(n):
    seen = []
    one = Other()
    for i in range(n):
        if i == 6:
            Settings.size = 5
        if i == 8:
            one.size = 6
        if i == 10:
            del one.size
        seen.append(one.size)
    Settings.size = 4
    return seen


# program: caches_slots
# limits: loops=1, heat=2, grow_after=2
# f(12) => record record (hit exit)*3
class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


def f(n):
    seen = []
    for i in range(n):
        one = Slotted(i)
        if i != 8:
            one.b = one.a + 1
        try:
            seen.append(one.b)
        except AttributeError as error:
            seen.append(str(error))
        if i == 9:
            del one.a
            seen.append(hasattr(one, "a"))
    return seen


# program: caches_class_of_instance_changes
# limits: loops=1, heat=2, grow_after=2
# f(12) => record record (hit exit)*2 bridge hit exit stitch (exit hit)*2 exit bridge
class First:
    def name(self):
        return "first", self.x


class Second:
    def name(self):
        return "second", self.x


def f(n):
    one, seen = First(), []
    one.x = 1
    for i in range(n):
        if i in (5, 6, 9):
            one.__class__ = Second if type(one) is First else First
        seen.append(one.name())
    return seen


# program: caches_order_of_attributes
# limits: loops=1, heat=2, grow_after=2
# note: the first value under a key goes to the end of the order
# f(9) => record record (hit exit)*2 bridge
class Bag:
    pass


def f(n):
    orders = []
    for i in range(n):
        bag = Bag()
        if i % 2:
            bag.a = 1
            bag.b = 2
        else:
            bag.b = 2
            bag.a = 1
        bag.a = 3
        orders.append((list(vars(bag)), bag.a, bag.b))
    return orders


# program: caches_getattr
# limits: loops=1, heat=2, grow_after=2
# f(12) => record record (hit exit)*3
class Asked:
    def __init__(self):
        self.known = 1

    def __getattr__(self, name):
        return name


def f(n):
    one, seen = Asked(), []
    for i in range(n):
        if i == 6:
            del one.known
        if i == 9:
            Asked.known = 3
        seen.append(one.known)
    del Asked.known
    return seen


# program: caches_what_dies_looks
# limits: loops=1, heat=2, grow_after=2
# note: the old value's finaliser sees the frame and the new value
# f(10) => record record (hit exit)*2 bridge hit exit
import sys


class Old:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        frame = sys._getframe(1)
        self.log.append((frame.f_lineno - frame.f_code.co_firstlineno, frame.f_locals.get("i")))


class Place:
    pass


def f(n):
    place, log = Place(), []
    place.old = None
    for i in range(n):
        place.old = Old(log) if i % 3 == 0 else i
    return log


# program: caches_many_classes
# limits: loops=1, heat=2, grow_after=2
# f(9) => record record hit exit
def f(n):
    seen = []
    for i in range(n):
        kind = type("K", (), {"twice": lambda self: self.x * 2})
        one = kind()
        one.x = i
        seen.append(one.twice())
        seen.append(one.x)
    return seen


# program: cached_for_several_classes
# note: more classes than a step caches; some instances get new attributes late, or ones that hide the class's
# limits: loops=1, heat=2, grow_after=2
# f([kind(k) for k in range(6) for kind in KINDS], None) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow stitch exit hit exit bridge hit stitch grow (stitch exit)*2 hit exit stitch stitch exit grow stitch exit bridge hit exit (stitch)*3 exit grow (stitch)*3 exit, hit (stitch stitch grow stitch)*2 stitch exit bridge, hit stitch exit stitch
# f([kind(k) for k in range(6) for kind in KINDS], 20) => hit grow stitch exit record hit exit miss miss record (hit exit miss)*2 bridge hit exit stitch exit hit exit grow stitch exit bridge hit stitch grow (stitch exit)*2 hit exit stitch stitch exit miss, hit exit stitch stitch exit bridge hit exit stitch exit grow stitch exit bridge hit stitch exit stitch stitch grow stitch exit stitch stitch exit miss bridge, hit exit (grow stitch)*2 exit stitch (stitch exit)*2 stitch grow (stitch exit)*3 stitch (stitch exit grow)*3 stitch stitch exit stitch
# f([kind(k) for k in range(6) for kind in KINDS[:2]], 5) => hit stitch exit (grow stitch)*2 exit stitch exit grow stitch, hit stitch stitch exit stitch
class A:
    name = "a"

    def __init__(self, k):
        self.k = k
        self.total = 0

    def add(self, k):
        self.total += k
        return self.name


class B(A):
    name = "b"


class C(A):
    def __init__(self, k):
        self.first = None
        super().__init__(k)


class D(A):
    __slots__ = ("slot",)

    def add(self, k):
        self.slot = k
        return self.slot


class E(C):
    def add(self, k):
        self.late = k
        return len(self.__dict__)


class F:
    __slots__ = ("k", "total", "name")

    def __init__(self, k):
        self.k = k
        self.total = -k
        self.name = "f"

    def add(self, k):
        self.total -= k
        return self.name


KINDS = [A, B, C, D, E, F]


def f(things, change):
    seen = []
    for k, thing in enumerate(things):
        seen.append(thing.add(k))
        seen.append(thing.total)
        if k == change:
            for other in things:
                other.name = "late"
    return seen
