"""How long objects live: graphs keep alive neither what the program has let go of nor temporaries.

Whatever looks at lifetimes (finalisers, weak references, reference counts, the collector) sees what eager execution
shows.
"""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E731, F401, F811, F821, F842, I001

# program: a_class_that_dies
# note: the graph dies with the class; the next class is another one, whatever its address
# f(made(1)) => record, hit
# do drop()
# alive() => none
# f(made(2)) => record, hit
# do drop()
# alive() => none
import gc
import weakref

classes = []
references = []


def made(n):
    if not classes:

        class C:
            def __init__(self, x):
                self.x = x + n

            def m(self):
                return self.x * n

        classes.append(C)
        references.append(weakref.ref(C))
    return classes[0]


def drop():
    classes.clear()
    gc.collect()


def alive():
    return [reference() is not None for reference in references]


def f(cls):
    return cls(3).m(), cls.__name__


# program: a_function_that_dies
# f(1) => record, hit
# do replace()
# alive() => none
# f(1) => record, hit
import gc
import weakref


def make(text):
    names = {}
    exec(f"def g(x):\n    return {text}\n", names)
    return names["g"]


g = make("x + 1")
first = weakref.ref(g)
code = weakref.ref(g.__code__)


def replace():
    global g
    g = make("x * 100")
    gc.collect()  # the function and its globals are a cycle


def alive():
    return first() is None, code() is None


def f(x):
    return g(x) + 1


# program: functions_and_classes_made_in_each_call
# f(1) => record, hit
# f(2) => hit, hit
import gc
import weakref

seen = []


def f(x):
    def g(y):
        return x + y

    class C:
        def m(self):
            return g(x)

    seen[:] = [(weakref.ref(g), weakref.ref(C))]
    result = C().m(), g(2)
    del g, C
    gc.collect()
    return result, [(a() is None, b() is None) for a, b in seen]


# program: a_class_per_call
# note: four graphs that could not be used again, then the function is not recorded any more
# run(6) => record record record record, none
# alive() => none
import gc
import weakref

references = []


def f(n):
    def init(self, x):
        self.x = x

    C = type("C", (), {"__init__": init})
    references.append(weakref.ref(C))
    return C(n).x


def run(n):
    return [(f(i), gc.collect())[0] for i in range(n)]


def alive():
    return sum(reference() is not None for reference in references)


# program: a_class_statement_per_call
# note: nothing is guarded about a class that the trace itself has made
# run(6) => record hit hit hit exit hit exit hit exit, hit hit hit hit exit hit exit hit exit
# alive() => none
import gc
import weakref

references = []


def f(n):
    class C:
        def __init__(self, x):
            self.x = x

        def __add__(self, other):
            return self.x + other

        def __bool__(self):
            return self.x > 2

    references.append(weakref.ref(C))
    return C(n) + 1 if C(n) else C(n).x


def run(n):
    return [(f(i), gc.collect())[0] for i in range(n)]


def alive():
    return sum(reference() is not None for reference in references)


# program: a_partial_object_that_dies
# f(1) => record, hit
# do replace()
# alive() => none
# f(1) => record, hit
# alive() => none
import functools
import weakref


class Argument:
    def __init__(self, n):
        self.n = n


def add(a, b, c):
    return a.n + b + c


def make(n):
    argument = Argument(n)
    references.append(weakref.ref(argument))
    part = functools.partial(add, argument, 1)
    argument.part = part  # a cycle through the arguments
    references.append(weakref.ref(part))
    return part


references = []
part = make(5)


def replace():
    global part
    part = make(50)
    import gc

    gc.collect()


def alive():
    return [reference() is not None for reference in references]


def f(x):
    return part(x)


# program: a_property_that_is_replaced
# f(P(1)) => record, hit
# do change()
# alive() => none
# f(P(1)) => record, hit
import weakref


class P:
    def __init__(self, v):
        self.v = v


getter = lambda self: self.v + 1
P.q = property(getter)
reference = weakref.ref(getter)
del getter


def change():
    P.q = property(lambda self: self.v + 10)


def alive():
    return reference() is not None


def f(p):
    return p.q


# program: a_class_comes_back_to_life
# note: its weak references are cleared by the collector before a finaliser takes it back
# f(1) => record, hit
# do kill()
# f(1) => record, hit
import gc

saved = []


def make(n):
    class C:
        def __init__(self, x):
            self.x = x + n

        def __del__(self):
            if hasattr(self, "me"):
                del self.me
                saved.append(self)

    return C


C = make(1)


def kill():
    global C
    instance = C(0)
    instance.me = instance
    C = instance = None
    gc.collect()
    C = type(saved[0])


def f(x):
    return C(x).x


# program: weakref_callbacks
# f(1) => record, hit
# f(2) => hit, hit
import weakref

log = []


class Thing:
    def __init__(self, n):
        self.n = n


def f(n):
    log.clear()
    a = Thing(n)
    r = weakref.ref(a, lambda _: log.append("first"))
    log.append("made")
    a = Thing(n + 1)
    log.append("again")
    s = weakref.ref(a, lambda _: log.append("second"))
    del a
    log.append("gone")
    return list(log), r() is None, s() is None


# program: numbers_of_references_at_rest
# only as written: replay code of Thing.m refers to its original code, so tracing it, too, is seen
# f(1) => record, hit
# counts() => none
import sys
import weakref


class Thing:
    def __init__(self, n):
        self.n = n

    def m(self):
        return self.n


def helper(x):
    return x + 1


def counts():
    watched = [Thing, Thing.m, helper, helper.__code__, Thing.m.__code__]
    return [sys.getrefcount(item) for item in watched], [
        (weakref.getweakrefcount(item), len(weakref.getweakrefs(item))) for item in (Thing, helper, Thing.m)
    ]


def f(x):
    return helper(Thing(x).m())


# program: cycles_through_traced_functions
# trace: C.f
# make(3) => record hit hit, hit hit hit
# alive() => none
import gc
import weakref

references = []


class C:
    def f(self, x):
        self.me = self
        return [self, x]


def make(n):
    c = C()
    references.append(weakref.ref(c))
    return [len(c.f(i)) for i in range(n)]


def alive():
    gc.collect()
    return [reference() is not None for reference in references]


# program: finalisers_in_order
# f(1) => record, hit
log = []


class L:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        log.append(self.n)


def g(x):
    p = L(1)
    b = L(2)
    p = L(3)
    return x


def f(x):
    log.clear()
    a = L(0)
    g(x)
    a = L(4)
    log.append("end")
    return list(log)


# program: locals_of_an_inlined_frame_die_in_order
# note: slots first, then the dict that locals() made
# f(1) => record, hit
# f(2) => hit, hit
log = []


class L:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        log.append(self.n)


def g(x):
    p = L(1)
    b = L(2)
    locals()
    p = L(3)
    c = L(4)
    return x


def f(x):
    log.clear()
    g(x)
    log.append("between")
    g(x)
    return list(log)


# program: locals_of_a_frame_die_in_order
# f(1) => record, hit
# seen() => none
log = []


class L:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        log.append(self.n)


def seen():
    return log


def f(x):
    log.clear()
    p = L(1)
    b = L(2)
    locals()
    p = L(3)
    del b
    b = L(4)
    return x


# program: a_class_dies_while_it_is_recorded
# note: as early as in eager execution; and while a graph runs that has a guard on it
# f(1) => record
# do make()
# f(1) => record
# do keep()
# f(2) => record
# f(2) => hit, hit
# do kept.clear()
# f(2) => hit exit
# do make()
# f(3) => record
import gc
import weakref


def make():
    global C, reference

    class C:
        def __init__(self, x):
            self.x = x

    reference = weakref.ref(C)


make()
kept = []


def keep():
    make()
    kept.append(C)


def f(x):
    global C
    c = C(x)
    n = c.x
    D = C
    del c, C
    gc.collect()
    if kept:
        C = D
    del D
    gc.collect()
    return n, reference() is None


# program: permanent_objects_in_graphs
# note: a graph names them as often as it likes; who counts the references to a small number sees none of that
# do counted = counts()
# f(1) => record, hit, hit
# f(2) => hit exit
# do print({n: new - old for n, new, old in zip(NUMBERS, counts(), counted) if new != old}); del counted
import sys

NUMBERS = range(-5, 257)


def g(x):
    return None if x else 211


def counts():
    return [sys.getrefcount(n) for n in NUMBERS]


def f(x):
    n = 211
    m = [g(x), n - 214, True, None, 211]
    for i in (1, 2):
        m.append(g(0) if i == x else None)
    return str(m)
