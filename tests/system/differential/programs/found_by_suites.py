"""What CPython's own tests under stress have found."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH116, PTH118


# program: the_specialised_call_that_raises
# f("/tmp") => record, hit
# f("/nowhere") => hit exit
import os


def stat(path, *, follow=True):
    return os.stat(path, follow_symlinks=follow).st_mode > 0


def is_there(path):
    try:
        return stat(path)
    except OSError as error:
        return error.errno


def f(path):
    # The recording code is warm after eight calls: PRECALL makes the whole call then, and raises.
    return [is_there(path)] + [is_there("/nowhere/at/all") for number in range(12)]


# program: modules_die_while_recorded
# f(1) => record, hit
import gc
import types
import weakref


def f(x):
    module = types.ModuleType("m")
    module.x = x
    y = module.x
    seen = weakref.ref(module)
    del module
    gc.collect()
    return seen() is None, y


# program: who_refers_to_code
# f(1) => record, hit
import gc


def g(): return 1


def f(x):
    return [r is g for r in gc.get_referrers(g.__code__) if callable(r)], g.__code__ in gc.get_referents(g)


# program: depth_towards_the_recursion_limit
# note: later versions have a frame more where the call of a class is specialised
# until: 3.11
# f(1) => record, hit
from _testinternalcapi import get_recursion_depth as depth


class Everywhere:
    def __init__(self): self.depth = depth()
    def __enter__(self): return depth()
    def __exit__(self, *error): return None
    def __add__(self, other): return depth()
    def __iter__(self): return self
    def __next__(self): return depth()
    def __getitem__(self, key): return depth()
    @property
    def value(self): return depth()


def inner(x): return depth()


def f(x):
    base = depth()
    it = Everywhere()
    with it as entered:
        pass
    return [n - base for n in (it.depth, entered, it + x, next(it), it[x], it.value, inner(x))]


# program: size_of_a_frame
# f(1) => record, hit
import sys


def g(x):
    return sys.getsizeof(sys._getframe())


def f(x):
    return g(x), sys.getsizeof(sys._getframe())
