"""Functions whose replays do not pay run as written again: at plain speed, with the same results, wherever they are."""
# fmt: off
# ruff: noqa: E402, F811, I001

# program: a_function_that_does_not_pay
# limits: retire_after=3
# f("a") => record, hit, hit, hit retire, none, none
# f(2) => none
import sys


def f(x):
    frame = sys._getframe()
    return x * 2, frame.f_lineno - frame.f_code.co_firstlineno


# program: what_pays_stays
# limits: retire_after=3
# f(a, b).tolist() => record, hit, hit, hit, hit, hit, hit, hit, hit
import numpy as np

a = np.arange(5.0)
b = np.ones(5)


def f(x, y):
    return x * y + x - y / 2


# program: exits_do_not_pay
# limits: retire_after=2
# f([1], 0) => record, hit
# f([1], 9) => hit retire exit, none
# f([1], 0) => none


def f(x, limit):
    x = x * 2
    if len(x) > limit:
        return x[0]
    return x[1]


# program: misses_do_not_pay
# limits: retire_after=3, entries_per_anchor=1
# f(1) => record
# f(1.5) => miss, miss, miss retire, none
# f(1) => none


def f(x):
    return x + x


# program: a_generator_that_does_not_pay
# limits: retire_after=6
# list(g(3)) => record record hit hit exit, hit hit hit hit retire exit, none
# other() => none
# trace: g


def g(n):
    for i in range(n):
        yield i * 2


def other():
    it = g(2)
    return next(it), next(it), next(it, None)


# program: retired_while_it_runs
# note: calls of the same function are running, in graphs and outside of them
# limits: retire_after=4
# fact(6) => record, miss record hit, hit hit retire, none
# fact(3) => none
# trace: fact


def fact(n):
    if n < 2:
        return 1
    return n * fact(n - 1)


# program: retired_in_an_opaque_call
# limits: retire_after=2, inline_depth=1
# f(3, g) => record hit hit retire record, hit, hit retire, none
# trace: f, g


def g(n):
    return n + 1


def f(n, call):
    return sorted([n, 1, 2], key=call), n


# program: an_exception_of_a_retired_function
# limits: retire_after=2
# f({}, "a") => record, hit, hit retire, none
# f({"a": 3}, "a") => none


def f(d, k):
    try:
        return d[k]
    except KeyError as e:
        return repr(e), e.__traceback__.tb_lineno


# program: many_paths_that_do_not_pay
# limits: retire_after=1000
# f(1) => record, hit
# f(1.5) => miss record, hit
# f("a") => miss record retire, none
# f(1) => none
# trace: f


def f(x):
    return x + x


# program: what_is_left_early_has_earned_little
# note: the gain of the calls behind the branch is lost by side exits in front of them
# limits: loops=1, retire_after=6, heat=100
# f(1, True) => record, hit, hit, hit, hit, hit, hit
# f(1, False) => hit exit, hit exit, hit exit, hit exit, hit exit, hit retire exit, none
# f(2, True) => none
# trace: f


def same(x):
    return x


def f(x, goes_on):
    if not goes_on:
        return x
    x = same(same(same(same(same(same(same(same(same(same(x))))))))))
    x = same(same(same(same(same(same(same(same(same(same(x))))))))))
    x = same(same(same(same(same(same(same(same(same(same(x))))))))))
    x = same(same(same(same(same(same(same(same(same(same(x))))))))))
    x = same(same(same(same(same(same(same(same(same(same(x))))))))))
    return x


# program: a_ufunc_of_numbers_does_not_pay
# note: there is no array that anything could be saved for
# limits: loops=1, retire_after=6, heat=2
# f(40) => record record, hit, hit
import numpy as np


def f(n):
    total = 0.0
    for k in range(n):
        total = float(np.cos(k * 0.5))
    return total


# program: parts_of_small_arrays_do_not_pay
# limits: loops=1, retire_after=6
# f(a).tolist() => record, hit, hit, hit, hit, hit, hit retire, none
import numpy as np

a = np.arange(10.0)


def f(x):
    return x[1:] - x[:-1]


# program: parts_of_small_arrays_that_a_group_takes_pay
# limits: loops=1, retire_after=6
# f(a).tolist() => record, hit, hit, hit, hit, hit, hit, hit, hit
import numpy as np

a = np.linspace(0.0, 1.0, 36).reshape(6, 6)


def f(x):
    return (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1]) * 0.25


# program: parts_of_large_arrays_pay
# limits: loops=1, retire_after=6
# f(a).tolist() => record, hit, hit, hit, hit, hit, hit, hit, hit
import numpy as np

a = np.arange(1000.0)


def f(x):
    return x[1:] - x[:-1]


# program: containers_in_a_loop_do_not_pay
# note: what the arithmetic saves is less than what the tuple and the call cost
# limits: loops=1, retire_after=6, heat=2
# f(40, "a,b") => record record, hit, hit


def f(n, text):
    found = []
    total = 0
    for k in range(n):
        total = (total * 3 + k ^ 5) & 1023
        total = (total * 5 + 7 ^ k) + 3 & 511
        found = (k, total, text.split(","))
    return found
