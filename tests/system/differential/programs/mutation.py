"""Code that changes the world in the middle of a recording or a replay: globals, builtins, modules, types, functions."""
# fmt: off
# ruff: noqa: B010, B018, B023, E402, E501, E702, E704, E722, F401, F811, F821, F822, F842, I001, PLW0602, S102, UP008


# program: global_rebound_by_comparison
# f(Odd()) => record, hit
# f(3) => miss record
value = 1


class Odd:
    def __eq__(self, other):
        global value
        value = value + 1
        return value % 2 == 0

    __hash__ = None


def f(x):
    a = value
    b = x == 1
    c = value
    d = x != 1
    return a, b, c, d, value, value is a


# program: global_rebound_by_hash_and_lookup
# f({}, Key("a")) => record, hit
# f({1: 2}, Key("a")) => hit
state = []


class Key:
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        state.append(("hash", self.name))
        globals()["seen"] = len(state)
        return hash(self.name)

    def __eq__(self, other):
        globals()["seen"] = "eq"
        return self.name == getattr(other, "name", None)


seen = 0


def f(d, k):
    before = seen
    d[k] = 1
    middle = seen
    found = k in d
    after = seen
    same = Key("a") in d
    return before, middle, after, found, same, seen


# program: builtin_replaced_in_the_module
# f([3, 1, 2], "pass") => record, hit
# f([3, 1, 2], "import builtins; builtins.len = lambda x: 'patched'") => hit
# f([3, 1, 2], "import builtins; del builtins.max") => hit exit
# do import builtins; builtins.max = sorted
# f([3, 1, 2], "pass") => hit
def f(x, text):
    a = len(x)
    top = max(x)
    exec(text)
    try:
        return a, len(x), top, max(x)
    except NameError as error:
        return str(error)


# program: builtin_shadowed_in_the_middle
# f([1, 2], "pass") => record, hit
# f([1, 2], "len = lambda x: 'global'") => hit
# f([1, 2], "pass") => hit
# f([1, 2], "del len") => hit
def f(x, text):
    a = len(x)
    exec(text, globals())
    return a, len(x)


# program: builtins_of_the_namespace_replaced
# note: functions look at the builtins that their globals had when they were made
# f(1) => record, hit
# do __builtins__ = {"abs": lambda x: "another abs", "len": len}
# f(-2) => hit
# do g = evaluate("lambda x: abs(x)", {"__builtins__": {"abs": lambda x: "third"}})
# f(-3) => miss record
evaluate = eval


def g(x):
    return abs(x)


def f(x):
    def inner(y):
        return abs(y)

    return g(x), inner(x), abs(x)


# program: builtins_replaced_by_opaque_call_then_function_made
# f("pass") => record, hit
# f("globals()['__builtins__'] = {'len': lambda x: 'mine', 'globals': globals}") => hit
# f("pass") => hit
def f(text):
    a = (lambda: len([1]))()
    exec(text, globals())
    made = [lambda: len([1, 2])]
    return a, made[0](), len([1, 2, 3])


# program: module_attribute_replaced_in_the_middle
# f(4.0, "pass") => record, hit
# f(4.0, "math.sqrt = lambda x: 'patched'") => hit
# f(4.0, "pass") => hit
# f(4.0, "math.sqrt = original") => hit
import math

original = math.sqrt


def f(x, text):
    a = math.sqrt(x)
    exec(text, globals())
    return a, math.sqrt(x)


# program: module_attribute_deleted
# f("pass") => record, hit
# f("del module.value") => hit exit
# do module.__getattr__ = lambda name: "by __getattr__ " + name
# f("pass") => hit exit
# do module.value = 3
# f("pass") => hit
import types

module = types.ModuleType("m")
module.value = 1


def f(text):
    exec(text, globals())
    try:
        return module.value, module.value
    except AttributeError as error:
        return str(error)


# program: module_changes_its_class
# f("pass") => record, hit
# f("module.__class__ = Loud") => hit exit
# f("pass") => hit exit
import types

module = types.ModuleType("m")
module.value = 1


class Loud(types.ModuleType):
    def __getattribute__(self, name):
        return "loud" if name == "value" else super().__getattribute__(name)


def f(text):
    a = module.value
    exec(text, globals())
    return a, module.value


# program: sys_modules_changed
# f("pass") => record, hit
# f("sys.modules['made_up'] = types.SimpleNamespace(a=5, name='other')") => hit exit
# f("sys.modules['made_up'] = None") => hit exit
# f("del sys.modules['made_up']") => hit exit
import sys
import types

sys.modules["made_up"] = types.ModuleType("made_up")
sys.modules["made_up"].a = 1


def f(text):
    import made_up

    first = made_up.a
    exec(text, globals())
    try:
        import made_up
        from made_up import a
    except ImportError as error:
        return first, type(error).__name__, str(error)
    finally:
        sys.modules["made_up"] = types.ModuleType("made_up")
        sys.modules["made_up"].a = 1
    return first, made_up.a, a


# program: import_with_side_effects
# f(1) => record, hit
# f(2) => hit
import builtins

level = 0
old_import = builtins.__import__


def hook(name, *rest):
    global level
    level += 1
    return old_import(name, *rest)


def f(x):
    before = level
    builtins.__import__ = hook
    import math
    middle = level
    from math import floor
    builtins.__import__ = old_import
    return before, middle, level, floor(x + 0.5), math.ceil(x)


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
# f(A(), "del A.__getattribute__") => hit
# f(A(), "pass") => hit
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
# f(2) => hit exit
# do C.__class__ = Plain
# f(3) => hit
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
# f(3, "pass") => hit
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


# program: own_code_replaced_by_the_call
# note: the call under way keeps its code; the next one runs the new code
# f(1) => record, none
# f(2) => none
def other(x):
    return ("other", x)


def f(x):
    f.__code__ = other.__code__
    return [x, counter]


counter = 7


# program: own_code_replaced_in_a_replay
# f(1, "pass") => record, hit
# f(2, "f.__code__ = (lambda x, text: ('new', x)).__code__") => hit, none
# f(3, "pass") => none
def f(x, text):
    exec(text, globals())
    return [x, text]


# program: own_code_replaced_and_put_back
# f(1, "pass") => record, hit
# f(2, "code = f.__code__; f.__code__ = (lambda x, text: 0).__code__; f.__code__ = code") => hit
# f(3, "pass") => none
def f(x, text):
    exec(text, globals())
    return [x, text]


# program: callee_code_replaced_by_itself
# f(1) => record
# f(2) => miss record, hit
def other(x):
    return ("other", x)


def g(x):
    g.__code__ = other.__code__
    return ("first", x)


def f(x):
    return g(x), g(x), g(x)


# program: callee_code_replaced_in_its_middle
# f(1, "pass") => record, hit
# f(2, "g.__code__ = (lambda x, text: ('new', x)).__code__") => hit exit
# f(3, "pass") => miss record, hit
def g(x, text):
    a = x + 1
    exec(text, globals())
    return ("old", a, x)


def f(x, text):
    return g(x, text), g(x, text)


# program: defaults_replaced_in_the_middle
# f("pass") => record, hit
# f("g.__defaults__ = (1.5, 'two')") => hit
# f("g.__kwdefaults__ = {'k': 'new k', 'l': 9}") => hit
# f("g.__defaults__ = (5,)") => hit exit
# f("g.__defaults__ = (1, 2); g.__kwdefaults__['k'] = []") => hit exit
# f("del g.__kwdefaults__['k']") => hit exit
# f("g.__kwdefaults__ = None") => hit exit
def g(a=1, b=2, *, k=3, l=4):
    return a, b, k, l


def f(text):
    try:
        first = g()
        exec(text, globals())
        return first, g(), g(0), g(k=1)
    except TypeError as error:
        return str(error)


# program: own_defaults_replaced
# f() => record, hit
# do f.__defaults__ = (10,)
# f() => hit
# do f.__defaults__ = ("text",)
# f() => miss record, hit
# do f.__kwdefaults__ = {"k": 1.5}
# f() => hit
# do f.__defaults__ = None
# f() => none
# f(1) => hit
def f(x=1, *, k=2):
    return x * 2, [k]


# program: mutable_default_changes
# f() => record, hit
# f(5) => hit exit
# do f.__defaults__[0].clear()
# f() => hit
def g(x, acc=[]):
    acc.append(x)
    return len(acc), list(acc)


def f(x=[], y=1):
    x.append(y) if isinstance(x, list) else None
    return g(y), list(x) if isinstance(x, list) else x


# program: partial_changes_its_members
# f(1) => record, hit
# do p.__setstate__((g, p.args, {"k": 5}, {}))
# f(2) => miss record
# do p.__setstate__((g, (7,), {}, {}))
# f(3) => hit
# do p.keywords["k"] = "in place"
# f(4) => hit
from functools import partial


def g(a, b, k=0):
    return a, b, k


p = partial(g, 1)


def f(x):
    return p(x)


# program: partial_changes_in_the_middle
# f(1, {}) => record, hit
# f(2, {"k": 2}) => hit
from functools import partial


def g(a, b, k=0):
    return a, b, k


def f(x, more):
    p = partial(g, 1)
    first = p(x)
    p.keywords.update(more)
    return first, p(x)


# program: dict_changes_size_while_iterated
# f({"a": 1, "b": 2}, False) => record, hit
# f({"a": 1, "b": 2, "c": 3}, False) => hit exit
# f({"a": 1, "b": 2}, True) => hit exit
def f(d, grow):
    out = []
    try:
        for k in d:
            out.append(k)
            exec("d['new'] = 1" if grow else "pass", {"d": d})
    except RuntimeError as error:
        return out, str(error)
    return out


# program: list_changes_length_while_iterated
# f([1, 2, 3], 0) => record, hit
# f([1, 2, 3], 1) => hit exit
# f([3, 3, 3, 3], 2) => hit exit
def change(x, how):
    if how == 1:
        x.append(len(x)) if len(x) < 6 else None
    elif how == 2:
        x.pop()


def f(x, how):
    out = []
    for v in x:
        out.append(v)
        list(map(change, [x], [how]))
    return out, x


# program: set_changes_while_iterated
# f({1, 2}, set()) => record, hit
# f({1, 2}, {9}) => hit exit
def f(s, more):
    n = 0
    try:
        for v in s:
            n += v
            s.update(more)
    except RuntimeError as error:
        return n, str(error)
    return n


# program: list_sorted_while_key_function_changes_it
# f([3, 1, 2], False) => record, hit
# f([3, 1, 2], True) => hit exit
def f(x, change):
    def key(v):
        if change:
            x.append(v)
        return v

    try:
        x.sort(key=key)
    except ValueError as error:
        return str(error), x
    return x


# program: finaliser_of_a_temporary_changes_a_global
# f("a") => record, hit
# f("b") => hit
value = "start"


class Bomb:
    def __init__(self, text):
        self.text = text

    def __del__(self):
        global value
        value = self.text + "!"


def f(text):
    a = value
    Bomb(text + "1")
    b = value
    [Bomb(text + "2")]
    c = value
    x = Bomb(text + "3")
    x = None
    d = value
    (Bomb(text + "4"), 1)[1]
    return a, b, c, d, value


# program: finaliser_of_a_local_changes_a_callee
# f(1) => record, hit
# f(2) => hit
def first(x):
    return "first", x


def second(x):
    return "second", x


g = first


class Bomb:
    def __del__(self):
        global g
        g = second


def f(x):
    global g
    g = first
    b = Bomb()
    before = g(x)
    del b
    return before, g(x)


# program: finaliser_of_a_cell_content
# f(1) => record, hit
# f(2) => hit
value = 0


class Bomb:
    def __del__(self):
        global value
        value += 1


def f(x):
    b = Bomb()

    def read():
        return b

    before = value
    b = x
    middle = value
    b = Bomb()
    b = None
    return before, middle, value, read()


# program: finaliser_of_a_container_item
# f({}) => record, hit
# f({1: 1}) => hit
value = 0


class Bomb:
    def __del__(self):
        global value
        value += 1


class Holder:
    pass


def f(d):
    h = Holder()
    d["a"] = Bomb()
    h.a = Bomb()
    v0 = value
    d["a"] = 1
    v1 = value
    h.a = 1
    v2 = value
    x = [Bomb(), Bomb()]
    x[0] = 1
    v3 = value
    del x[0]
    v4 = value
    x.clear()
    v5 = value
    s = {Bomb()}
    s.pop()
    return v0, v1, v2, v3, v4, v5, value


# program: finaliser_at_the_return_of_a_callee
# f(1) => record, hit
# f(2) => hit
log = []


class Bomb:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(self.name)


def g(x):
    a = Bomb("a")
    b = Bomb("b")
    return len(log)


def f(x):
    log.clear()
    before = len(log)
    inside = g(x)
    after = len(log)
    return before, inside, after, list(log)


# program: weakref_callback_changes_a_global
# f(1) => record, hit
# f(2) => hit
import weakref

value = 0


class Thing:
    pass


def gone(ref):
    global value
    value += 10


def f(x):
    t = Thing()
    r = weakref.ref(t, gone)
    a = value
    t = x
    b = value
    return a, b, value, r() is None


# program: collector_callback_changes_a_global
# f(1) => record, hit
# f(2) => hit
import gc

value = 0


def collected(phase, info):
    global value
    value += 1


def f(x):
    gc.callbacks.append(collected)
    a = value
    gc.collect()
    b = value
    gc.callbacks.remove(collected)
    gc.collect()
    return b - a, value - b


# program: collector_finds_a_cycle
# f(1) => record, hit
# f(2) => hit
import gc

value = 0


class Node:
    def __del__(self):
        global value
        value += 1


def f(x):
    n = Node()
    n.me = n
    a = value
    del n
    b = value
    gc.collect()
    return a, b, value


# program: audit_hook_changes_a_global
# f(1) => record, hit
# f(2) => hit
import sys

value = 0


def hook(event, args):
    global value
    if event == "program.audit" and args[0] is globals():
        value += 5


sys.addaudithook(hook)


def f(x):
    a = value
    sys.audit("program.audit", globals())
    b = value
    sys.audit("program.audit", globals())
    return a, b, value


# program: callbacks_from_sort_map_filter_reduce
# f([3, 1, 2]) => record, hit
# f([5, 4]) => hit
from functools import cmp_to_key, reduce

state = 0


def bump(*args):
    global state
    state += 1
    return -1 if args[0] < args[-1] else 1


def f(x):
    a = state
    y = sorted(x, key=cmp_to_key(bump))
    b = state
    z = list(map(bump, x))
    c = state
    w = reduce(bump, x)
    d = state
    m = max(x, key=lambda v: bump(v, v))
    return y, z, w, m, b - a > 0, c - b, d - c, state - d


# program: iteration_protocol_changes_globals
# f(It(3)) => record, hit
# f(It(3)) => hit
value = 0


class It:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        global value
        value += 100
        return self

    def __next__(self):
        global value
        value += 1
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def f(it):
    seen = [value]
    for x in it:
        seen.append((x, value))
    seen.append(value)
    return seen


# program: truth_and_length_change_globals
# f(Odd(True)) => record, hit
# f(Odd(True)) => hit
value = 0


class Odd:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        global value
        value += 1
        return self.answer

    def __len__(self):
        global value
        value += 10
        return 3

    def __contains__(self, x):
        global value
        value += 100
        return True

    def __index__(self):
        global value
        value += 1000
        return 0

    def __format__(self, spec):
        global value
        value += 10000
        return spec


def f(o):
    a = value
    b = 1 if o else 2
    c = value
    n = len(o)
    d = value
    i = 5 in o
    e = value
    j = [7][o]
    g = value
    s = f"{o:x}"
    return a, b, c, n, d, i, e, j, g, s, value


# program: operators_change_their_own_class
# f(A()) => record, hit exit
# f(A()) => hit exit
class A:
    def __add__(self, other):
        A.__add__ = second
        return "first"


first = A.__add__


def second(self, other):
    A.__add__ = first
    return "second"


def f(a):
    A.__add__ = first
    return a + 1, a + 1, a + 1, a + 1


# program: callee_replaces_the_global_it_was_called_by
# f(1) => record, hit
# f(2) => hit
def one(x):
    global g
    g = two
    return ("one", x)


def two(x):
    global g
    g = one
    return ("two", x)


g = one


def f(x):
    global g
    g = one
    return g(x), g(x), g(x)


# program: cells_changed_by_opaque_calls
# f("pass") => record, hit
# f("set_cell(5)") => hit
# f("set_cell('text')") => hit
# f("cell.cell_contents = [1]") => hit
# f("del cell.cell_contents") => hit exit
# do cell.cell_contents = 1
# f("pass") => hit
def make():
    c = 1

    def f(text):
        a = [c]
        exec(text, globals())
        try:
            return a, [c], c
        except NameError as error:
            return str(error)

    def set_cell(v):
        nonlocal c
        c = v

    return f, set_cell


f, set_cell = make()
cell = f.__closure__[0]


# program: cells_of_an_inlined_closure_changed
# f("pass") => record, hit
# f("cells[-1].cell_contents = 'other'") => hit
# f("del cells[-1].cell_contents") => hit exit
cells = []


def f(text):
    n = 1

    def inner():
        return [n]

    a = inner()
    cells.append(inner.__closure__[0])
    exec(text, globals())
    try:
        return a, inner(), [n]
    except NameError as error:
        return a, str(error)


# program: untraced_from_within
# f(1, False) => record, hit
# f(2, True) => hit, none
# f(3, False) => none
import tagalong


def f(x, stop):
    list(map(tagalong.untrace, [f] * stop))
    return [x, stop]


# program: untraced_from_within_the_recording
# f(1) => record, none
# f(2) => none
import tagalong


def f(x):
    tagalong.untrace(f)
    y = [x] * 3
    return y


# program: untraced_and_traced_again_from_within
# f(1, False) => record, hit
# f(2, True) => hit, hit
# f(3, False) => hit
import tagalong


def again(stop):
    if stop:
        tagalong.untrace(f)
        __import__("gc").collect()
        tagalong.trace(f)


def f(x, stop):
    list(map(again, [stop]))
    return [x, stop]


# program: function_dies_while_it_runs
# note: with the function goes its code, and all that was recorded of it
# trace:
# call(1) => record, record
# call(2) => record
import gc


def call(x):
    @trace
    def f(x):
        gc.collect()
        return [x] * 2

    functions = [f]
    del f
    return functions.pop()(x)


# program: recursion_from_opaque_calls
# f(3) => record, miss record hit hit hit
# f(0) => hit
def f(n):
    inner = list(map(f, [n - 1])) if n > 0 else []
    return [n, inner]


# program: recursion_from_comparison
# f(Node(3)) => record, hit exit hit
# f(Node(1)) => hit exit
class Node:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return f(Node(self.n - 1)) == other if self.n > 0 else NotImplemented

    __hash__ = None


def f(node):
    return [node.n, node == 5][0]


# program: record_inside_a_replay
# f(1, "pass") => record, hit
# f(2, "rec = tagalong.record(g, 5); out.append(rec.result); out.append(rec.replay(7))") => record hit hit
# f(2, "out.append(tagalong.record(f, 9, 'pass').result)") => record hit
# f(3, "pass") => hit
import tagalong

out = []


def g(x):
    return [x] * 2


def f(x, text):
    a = g(x)
    exec(text, globals())
    return a, g(x), list(out)


# program: replay_inside_a_recording
# f(2) => hit hit hit record, hit hit hit hit
# f(3) => hit hit hit hit
import tagalong


def g(x):
    return [x] * 2


rec = tagalong.record(g, 5)


def f(x):
    a = rec.replay(x)
    b = list(map(rec.replay, [x, x]))
    return a, b, g(x)


# program: getattr_of_module_level
# f(1) => record, hit
# f(2) => hit
import types

module = types.ModuleType("m")
count = 0


def getter(name):
    global count
    count += 1
    return (name, count)


module.__getattr__ = getter


def f(x):
    a = count
    b = module.anything
    return a, b, count, module.other, count


# program: exec_changes_the_globals_of_the_function
# f("x = 5") => record, hit
# f("x = 'text'") => hit
# f("del x") => hit exit
# f("x = None") => hit exit
x = 1


def f(text):
    a = x if "x" in globals() else None
    exec(text, f.__globals__)
    try:
        return a, [x]
    except NameError as error:
        return str(error)


# program: globals_dict_cleared_and_refilled
# f("pass") => record, hit
# f("refill()") => hit
# f("pass") => hit
def refill():
    names = globals()
    keep = dict(names)
    names.clear()
    names.update(keep)


def helper(x):
    return len(x)


def f(text):
    a = helper(text)
    exec(text, globals())
    return a, helper(text)


# program: globals_are_a_dict_subclass
# f(1) => record, hit exit
# f(2) => hit exit
import types


class Names(dict):
    def __missing__(self, name):
        return ("missing", name)

    def __getitem__(self, name):
        return lambda value: ("item", name, value)


def template(x):
    return [x, len([x])]


names = Names(__builtins__=__builtins__, len=lambda x: "own len")
f = types.FunctionType(template.__code__, names)


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
# f("M.__enter__ = lambda self: log.append('other enter')") => hit exit
# f("del M.__exit__") => hit exit
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


# program: collector_runs_while_containers_are_made
# note: it comes to life in allocations, and runs code then
# f(1) => record, hit
# f(2) => hit
import gc

value = "start"
gc.collect()


def collected(phase, info):
    global value
    value = "collected"


def f(x):
    global value
    value = "start"
    gc.callbacks.append(collected)
    old = gc.get_threshold()
    gc.set_threshold(1)
    gc.enable()
    a = value
    y = [[x], [x], [x], [x]], (x, x), {x: x}
    b = value
    gc.disable()
    gc.set_threshold(*old)
    gc.callbacks.remove(collected)
    return a, b


# program: collector_runs_while_functions_are_made
# f(1) => record, hit
# f(2) => hit
import gc

value = "start"
gc.collect()


def collected(phase, info):
    global value
    value = "collected"


def start():
    global value
    value = "start"
    gc.callbacks.append(collected)
    gc.set_threshold(1)
    gc.enable()


def end():
    gc.disable()
    gc.set_threshold(700, 10, 10)
    gc.callbacks.remove(collected)


def f(x):
    start()
    a = value
    y1 = lambda: 1
    y2 = lambda: 1
    y3 = lambda: 1
    b = value
    end()
    return a, b
