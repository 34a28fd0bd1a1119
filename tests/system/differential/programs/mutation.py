"""Code that changes the world in the middle of a recording or a replay: globals, builtins, modules."""
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
