"""Loops over the items of arrays: NumPy's scalars without objects, from item to item and back."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: items_dot
# limits: loops=1
# note: the sum is a Python float in the first round only
# f(np.arange(40.0), np.full(40, 0.5)) => record record hit exit
# f(np.arange(40.0), np.full(40, 0.5)) => hit stitch exit
# f(np.arange(40.0)[::-1], np.full(80, 0.5)[::2]) => hit stitch exit
# f(np.empty(0), np.empty(0)) => hit exit
# f(np.arange(40), np.full(40, 3)) => (hit exit)*16 bridge hit (exit stitch stitch)*23 exit
# f(np.arange(40.0, dtype=np.float32), np.full(40, 0.5)) => hit exit miss (hit exit stitch exit)*15 bridge hit (exit stitch)*2 (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch stitch exit
# f(np.arange(40.0, dtype=">f8"), np.full(40, 0.5)) => hit exit miss hit (exit stitch)*2 (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch stitch exit
# f(np.arange(40.0), np.full(39, 0.5)) => hit stitch exit
import numpy as np


def f(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


# program: items_warn
# limits: loops=1
# note: what NumPy reports, it reports from the original instruction
# f(np.array([1.0, 2.0] * 20), np.array([3.0] * 40)) => record record hit exit, hit stitch exit
# f(np.array([1.0, 2.0] * 20), np.array([3.0] * 20 + [0.0] * 20)) => hit stitch (exit hit)*15 exit bridge (hit exit stitch exit)*3 hit exit
# f(np.array([0.0] * 40), np.array([3.0] * 20 + [0.0, -0.0] * 10)) => hit (stitch exit)*2 (hit exit stitch exit)*12 bridge (hit exit stitch exit)*6 hit exit
# f(np.array([1e300] * 40), np.array([3.0] * 20 + [1e-300] * 20)) => hit (stitch exit)*2 (hit exit stitch exit)*19 hit exit
# f(np.array([1e-300] * 40), np.array([3.0] * 20 + [1e300] * 20)) => hit (stitch exit)*2 (hit exit stitch exit)*5 bridge hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit exit
# f(np.array([np.nan] * 40), np.array([3.0] * 20 + [np.inf] * 20)) => hit stitch exit
# f(np.arange(40), np.arange(40) - 20) => (hit exit)*16 bridge hit (exit stitch stitch)*3 exit stitch exit miss hit (exit stitch stitch)*19 exit
import numpy as np


def f(a, b):
    out = []
    for i in range(len(a)):
        out.append(a[i] / b[i])
    return out


# program: items_raise_by_errstate
# limits: loops=1
# f(np.array([1.0] * 40), "raise") => record record hit exit, hit stitch exit
# f(np.array([1.0] * 20 + [0.0] * 20), "raise") => hit stitch exit
# f(np.array([1.0] * 20 + [0.0] * 20), "ignore") => hit stitch (exit hit)*14 exit bridge (hit exit stitch exit)*4 hit exit
# f(np.array([1.0] * 20 + [0.0] * 20), "warn") => hit (stitch exit)*2 (hit exit stitch exit)*11 bridge hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit (exit stitch)*2 exit hit exit
# f(np.array([1e300] * 20), "raise") => hit stitch exit
import numpy as np


def f(a, what):
    total = np.float64(0.0)
    with np.errstate(all=what):
        for i in range(len(a)):
            total += 1 / a[i]
            total *= a[i]
    return total


# program: items_wrap
# limits: loops=1
# note: an int64 that does not fit wraps with a warning; Python's int would grow
# f(np.full(40, 3)) => record record (hit exit)*3, hit stitch exit hit exit hit exit
# f(np.full(70, 2 ** 20)) => hit stitch exit hit exit
# f(np.full(70, -(2 ** 62))) => (hit exit)*17 bridge hit exit stitch exit hit exit stitch exit hit exit
import numpy as np


def f(a):
    product = a[0]
    total = a[0]
    for i in range(len(a)):
        product = product * a[i]
        total = total + a[i]
    return product, total, -total


# program: items_jacobi
# limits: loops=1
# note: an index of two ints is no tuple; out of range it is one again
# f(np.arange(64.0).reshape(8, 8), 8, 8) => record record (hit exit)*4, hit stitch exit hit exit hit exit record hit exit stitch stitch exit stitch stitch exit stitch exit
# f(np.arange(640.0).reshape(8, 80), 8, 80) => hit (stitch exit stitch)*6 exit
# f(np.arange(64.0).reshape(8, 8).T, 8, 8) => hit (stitch exit stitch)*6 exit
# f(np.arange(64.0).reshape(8, 8), 8, 9) => hit stitch exit
# f(np.arange(64).reshape(8, 8), 8, 8) => (hit exit)*7 stitch (exit hit)*6 exit stitch (exit hit)*3 exit bridge hit exit stitch stitch exit (stitch exit stitch)*7 (exit stitch stitch)*6 exit (stitch exit stitch)*7 exit
# f(np.arange(64.0), 8, 8) => hit exit stitch exit miss
import numpy as np


def f(a, n, m):
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            a[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) * 0.25
    return a


# program: items_in_place
# limits: loops=1
# f(np.arange(40.0)) => record record hit exit, hit stitch exit
# f(np.arange(40)) => (hit exit)*16 bridge hit (exit stitch stitch)*22 exit
# f(np.arange(40.0, dtype=np.float32)) => (hit exit stitch exit)*16 bridge hit (exit stitch)*2 (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*2 stitch stitch exit
# f(read_only(np.arange(40.0))) => hit exit
# f(list(range(40))) => miss record (miss)*16 record hit exit
import numpy as np


def read_only(a):
    a.flags.writeable = False
    return a


def f(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return a


# program: items_histogram
# limits: loops=1
# note: an item of one array is an index into another one
# f(np.arange(40) % 7, np.zeros(7, int)) => record record hit exit, hit stitch exit
# f(np.arange(40) % 9, np.zeros(7, int)) => hit stitch exit
# f(-(np.arange(40) % 7), np.zeros(7)) => (hit exit)*15 bridge hit (exit stitch stitch)*24 exit
# f(np.arange(40, dtype=np.uint8) % 7, [0] * 7) => miss record (miss)*16 record hit exit
import numpy as np


def f(x, counts):
    for i in range(len(x)):
        counts[x[i]] += 1
    return counts


# program: items_branches
# limits: loops=1
# f(np.arange(-20.0, 20.0)) => record record (hit exit)*17 bridge hit (exit stitch stitch)*2 exit, hit stitch exit hit (exit stitch stitch)*19 exit
# f(np.array([np.nan, 0.0, -0.0, np.inf] * 10)) => (hit exit)*4 stitch stitch (exit hit)*3 exit stitch stitch (exit hit)*3 exit stitch stitch (exit hit)*3 exit stitch stitch exit hit exit bridge hit exit stitch (stitch exit)*3 (stitch stitch exit)*3 (stitch exit)*2 (stitch stitch exit)*3 (stitch exit)*2 (stitch stitch exit)*3 (stitch exit)*2 (stitch stitch exit)*3 (stitch exit)*2 (stitch stitch exit)*3
# f(np.array([True, False] * 10)) => (hit exit)*16 bridge hit exit stitch (stitch exit)*2 (stitch stitch exit)*2
# f(np.arange(-20, 20)) => (hit exit stitch exit)*16 bridge hit (exit stitch)*2 (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*4 hit (exit stitch)*3 (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch (stitch exit)*3 stitch stitch exit
import numpy as np


def f(a):
    positive = negative = none = 0
    for i in range(len(a)):
        if a[i] > 0:
            positive += 1
        elif a[i] < 0:
            negative += 1
        elif not a[i]:
            none += 1
    return positive, negative, none


# program: items_identity
# limits: loops=1
# note: each item is an object of its own, the same one in every variable; bools are always the same two
# f(np.arange(40.0), np.arange(40) % 2 == 0) => record record (hit exit)*11, hit stitch (exit hit)*5 exit bridge hit (exit stitch stitch)*13 exit
# f(np.arange(40), np.arange(40) % 3 == 0) => hit exit (miss)*16 record (hit exit miss)*8 hit exit
import numpy as np


def f(a, b):
    out = []
    kept = None
    for i in range(len(a)):
        x = a[i]
        y = x
        flag = b[i]
        out.append((x is y, x is a[i], x is kept, flag is np.True_ or flag is np.False_, flag is (x == y)))
        kept = y
    return out, kept is x, type(kept), type(flag)


# program: items_seen_at_exits
# limits: loops=1
# note: the frames that a callee looks at have scalars in their variables
# f(np.arange(40.0), 50) => record record hit exit, hit stitch exit
# f(np.arange(40.0), 30) => hit stitch exit
# f(np.arange(40), 30) => hit exit (miss)*16 record hit exit
import sys
import numpy as np


def look():
    found = sys._getframe(1).f_locals
    return [(name, type(found[name]), repr(found[name])) for name in ("i", "x", "total", "flag")]


def f(a, when):
    total = a[0]
    flag = None
    for i in range(len(a)):
        x = a[i] * 2
        flag = x > 7
        total = total + x
        if i == when:
            return look()
    return total, flag


# program: items_of_a_changed_array
# limits: loops=1
# note: the program sets what the array itself has; nothing of it is remembered
# f(np.arange(64.0), 99, None) => record record hit exit, hit stitch exit
# f(np.arange(64.0), 40, ">f8") => hit stitch (exit hit)*16 exit bridge hit (exit stitch stitch)*6 exit
# f(np.arange(64.0), 40, np.int64) => hit (stitch exit hit exit)*16 stitch exit bridge hit (exit stitch exit stitch stitch)*6 exit
# f(np.arange(64.0), 40, (8, 8)) => hit (stitch exit hit exit)*24
# f(np.arange(64.0), 40, 0) => hit (stitch exit hit exit)*24
# f(np.arange(64.0), 40, 10) => hit (stitch exit hit exit)*24
import numpy as np


def change(a, what):
    if isinstance(what, int):
        a.resize(what, refcheck=False)
    elif isinstance(what, tuple):
        a.shape = what
    else:
        a.dtype = what


def f(a, when, what):
    out = []
    for i in range(64):
        if i == when:
            change(a, what)
        try:
            out.append(a[i])
            a[i] = a[i - 1] + 1
        except IndexError as error:
            out.append(str(error))
    return out, a


# program: items_iterated
# limits: loops=1
# note: the iterator lets go of the array where it ends
# f(np.arange(40.0)) => record record hit exit, hit stitch exit
# f(np.arange(40.0)[::-3]) => hit stitch exit
# f(np.empty(0)) => hit exit
# f(np.arange(40)) => hit exit (miss)*16 record hit exit
# f(np.arange(40.0, dtype=np.float32)) => hit exit (miss)*16 record hit exit
# f(np.arange(40.0).reshape(20, 2)) => hit exit miss hit exit
# f(list(range(40))) => hit exit miss hit exit
import numpy as np


def f(a):
    total = 0.0
    for x in a:
        total += x * x
    return total


# program: items_last_reference_is_the_iterators
# limits: loops=1
# note: whose end is seen in front of what follows the loop
# f(40) => record record (hit exit)*3, hit stitch exit hit exit hit exit
# f(3) => hit stitch exit hit exit hit exit
import weakref
import numpy as np


def f(n):
    told = []
    a = np.arange(float(n))
    watch = weakref.ref(a, lambda _: told.append((i, x)))
    items = iter(a)
    del a
    i = 0
    for x in items:
        i += 1
        told.append(watch() is None) if i > n - 2 else None
    told.append("end")
    return told, watch() is None


# program: items_of_functions
# limits: loops=1
# note: abs() of a scalar is one, float() and math.sqrt() give Python's float
# f(np.arange(40.0)) => record record hit exit, hit stitch exit
# f(np.array([1.0] * 20 + [-1.0, np.nan, np.inf, 0.0])) => hit stitch (exit hit)*3 exit
# f(np.arange(40)) => (hit exit)*16 bridge hit (exit stitch stitch)*23 exit
from math import floor, sqrt
import numpy as np


def f(a):
    out = []
    for i in range(len(a)):
        out.append((abs(-a[i]), float(a[i]), int(a[i]) if a[i] < 1e9 else None, floor(a[i] / 3) if a[i] < 1e9 else 0))
        out.append(sqrt(a[i]) if a[i] >= 0 else 0)
    return out
