"""What CPython's own tests under stress have found."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


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
