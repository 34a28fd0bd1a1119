"""What the test suites of NumPy and of other packages found (scripts/package-suites)."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: branch_with_null_on_the_stack
# note: the callable is an expression with a branch, so a side exit has the NULL of the calling convention on top
# f(True, 1) => record, hit
# f(False, 2) => hit exit, hit exit
log = []


def f(flag, x):
    log.append(x)
    return (str if flag else float)(x), [x, (repr if not flag else abs)(x)]


# program: branch_with_null_below_the_condition
# f([1], 1) => record, hit
# f([], 2) => hit exit, hit exit
# f((), 2) => hit exit, hit exit
def f(flag, x):
    return 1 + ((lambda a: a + 1) if flag and x else abs)(x)


# program: ufuncs_made_by_the_program_die
# note: a table of the process must not keep a ufunc, and the function in it, that it can do nothing with
# f(3) => record, hit
import sys
import numpy as np


def one(x):
    return 1


def f(n):
    before = sys.getrefcount(one)
    for _ in range(n):
        made = np.frompyfunc(one, 1, 1)
        result = made(np.arange(3))
    made = None
    return sys.getrefcount(one) - before, result


# program: self_of_a_method_is_no_reference_more
# note: ndarray.resize refuses where more than the name and the call refer to the array
# f(4) => record, hit
import numpy as np


def inner(n):
    x = np.zeros(n)
    x.resize((2, 3))
    return x.shape


def f(n):
    x = np.zeros(n)
    x.resize((5, 5))
    y = [x]
    try:
        x.resize(3)
    except ValueError:
        y.append(inner(n))
    return x.shape, len(y), y[1:]


# program: method_that_becomes_an_attribute
# note: the form of the method is guarded: behind the look-up the exit has both values on its stack
# f(A()) => record, hit
# f(B()) => hit exit, hit exit
class A:
    def __getattr__(self, name): raise AttributeError(name)
    def m(self, x): return 'A', x


class B:
    def __init__(self): self.m = lambda x: ('B', x)


log = []


def f(a):
    log.append(len(log))
    return a.m(2), log[-1] >= 0
