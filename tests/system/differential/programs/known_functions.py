"""C functions of which is known what they give, and floats that are stored where another one dies."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, PTH118, SIM115


# program: known_floats
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record hit exit
# f(41) => hit stitch exit bridge
from math import atan, ceil, cos, exp, fabs, floor, log, sin, sqrt, tan
def f(n):
    total = 0.0
    seen = []
    for i in range(1, n):
        x = i / 4 - 3.0
        total += sqrt(x * x) + sin(x) + cos(x) + tan(x) + atan(x) + exp(x) + log(x * x + 1.0) + fabs(x) + abs(x)
        seen.append((floor(x), ceil(x), int(x), float(i), floor(-x), ceil(-x), int(-x)))
    return total, seen


# program: known_floats_that_raise
# limits: loops=1, heat=2, grow_after=2
# f([1.0, 4.0, 2.25] * 6, 0) => record record hit exit
# f([1.0, 4.0, -1.0] + [2.0] * 6, 1) => (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit bridge
# f([1.0, 4.0, 0.0, 9.0], 2) => hit exit stitch exit hit exit bridge hit exit stitch stitch exit stitch
# f([1.0, float("nan"), float("inf"), -0.0, 2.0], 0) => hit stitch exit hit exit grow stitch
# f([1.0, float("nan")], 3) => hit exit grow (stitch exit)*2 hit exit stitch exit bridge
# f([1.0, float("inf"), 1.0], 3) => hit (exit stitch)*2 exit bridge hit (exit grow stitch)*2 exit stitch stitch
# f([1.0, 1e300, -1e300, 2.0**62, 2.0**63, -2.0**63, 2.0**64, 0.5], 3) => hit (exit stitch)*2 grow (stitch exit)*6 (grow stitch exit)*2 (stitch exit)*3 grow (stitch exit)*4 grow (stitch exit)*2 stitch
# f([1.0, 800.0, 3.0], 4) => hit exit grow stitch exit hit exit grow stitch exit bridge
import math
def g(x, what):
    if what == 0:
        return math.sqrt(x)
    if what == 1:
        return math.sqrt(x)
    if what == 2:
        return math.log(x)
    if what == 3:
        return math.floor(x), math.ceil(x), int(x)
    return math.exp(x)
def f(items, what):
    found = []
    for x in items:
        try:
            found.append(g(x, what))
        except (ValueError, OverflowError) as error:
            found.append(repr(error))
    return found


# program: known_names_are_bound_anew
# limits: loops=1, heat=2, grow_after=2
# f([1.0, 4.0] * 8) => record record (hit exit)*3 bridge hit exit stitch stitch exit grow (stitch)*3 exit
sqrt = __import__("math").sqrt
def f(items):
    total = 0.0
    for i, x in enumerate(items):
        if i == 9:
            globals()["sqrt"] = lambda x: x * 100
        total += sqrt(x) + len(items)
    globals()["sqrt"] = __import__("math").sqrt
    return total


# program: lengths
# limits: loops=1, heat=2, grow_after=2
# f([[1, 2], (3,), "abc", b"ab", {1: 2}, {1, 2}, frozenset((1,)), range(9)] * 3) => record (record hit exit)*2
# f([Sized(3), [1], Sized(4), "ab"] * 4) => (hit exit)*2 bridge hit exit stitch stitch exit stitch grow (stitch exit)*5 bridge hit exit bridge
# f([[1], range(2**70), 3]) => hit (stitch exit)*2 hit exit stitch exit bridge hit exit stitch
class Sized:
    def __init__(self, count):
        self.count = count
    def __len__(self):
        return self.count
def f(things):
    total = 0
    for thing in things:
        try:
            total += len(thing)
        except (TypeError, OverflowError) as error:
            total = repr(error), 0
            total = 7
    grows = []
    while len(grows) < total:
        grows.append(len(grows))
    return total, grows[-3:]


# program: ranges
# limits: loops=1, heat=2, grow_after=2
# f(9, 4) => (record)*3 hit exit record record hit exit (record miss miss)*3 record hit exit stitch miss miss hit exit bridge hit exit grow stitch miss hit exit stitch stitch (exit hit)*2 exit grow stitch exit bridge miss record hit exit stitch stitch exit bridge hit exit (grow stitch)*2 exit (stitch)*3 exit (grow stitch)*2 stitch exit
# f(3, 12) => hit stitch (exit miss hit)*3 (miss)*8 record hit (exit stitch)*2 grow (stitch exit)*2 hit stitch exit grow (stitch exit)*3 bridge hit exit bridge
# f(0, 5) => hit exit miss
def f(n, m):
    found = []
    for i in range(n):
        for j in range(i, m):
            found.append(i * j)
        for j in range(m):
            found.append(j - i)
        for j in range(m, i, -2):
            found.append(j)
        r = range(i, m)
        for j in r:
            found.append((j, r.start is i, len(r)))
    return found


# program: long_ranges
# limits: loops=1, heat=2, grow_after=2
# f([0, 5, 2**62, -2**62, -2**63, 2**63 - 1, 3] * 2) => (record)*3 (hit exit)*2 record hit exit bridge hit exit stitch exit miss miss record hit exit grow stitch exit bridge hit exit stitch stitch exit miss miss record hit exit miss (hit exit)*2 miss hit exit (grow stitch)*2 (stitch exit)*2 stitch (stitch exit grow)*2 (stitch)*3 exit stitch exit hit (stitch exit)*2 bridge hit grow stitch exit bridge hit exit stitch exit miss record hit exit stitch exit
# f([1, 2, 2**63, -2**70, 4] * 2) => hit stitch grow stitch (stitch exit)*3 miss hit exit miss record hit exit miss (hit exit)*2 (miss hit exit)*4 miss record hit (exit stitch)*2 exit miss record hit (exit grow stitch stitch)*2 exit stitch exit miss hit exit miss record hit (exit stitch)*2 (exit miss hit)*4 exit grow stitch stitch exit bridge
def f(starts):
    found = []
    for start in starts:
        for i in range(start, 2**63 - 1):
            found.append(i)
            if i - start == 2:
                break
        for i in range(start, start + 2):
            found.append(i)
    return found


# program: range_is_another
# limits: loops=1, heat=2, grow_after=2
# f(12) => (record)*3 hit exit record hit exit stitch stitch exit grow stitch stitch exit (miss miss record miss miss miss)*2 record hit exit
# f(12) => hit miss miss hit stitch grow stitch stitch exit bridge (hit miss)*4 hit exit bridge
import builtins
def f(n):
    found = []
    for i in [*builtins.range(n)]:
        if i == 7:
            globals()["range"] = lambda *a: [a]
        for j in range(i):
            found.append(j)
    globals().pop("range", None)
    return found


# program: stored_floats
# limits: loops=1, heat=2, grow_after=2
# f([0.5, 1.5, 2.5], 30) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 exit
# f([0.5] * 3, 30) => hit stitch grow stitch stitch exit bridge
# f([1, "a", 2.5], 30) => hit stitch exit hit exit stitch
def f(items, n):
    x = 0.25
    kept = []
    for i in range(n):
        old = items[i % 3]
        items[i % 3] = x * 2.0 + i
        x = x + 0.5
        if i % 5 == 0:
            kept.append(old)
            kept.append(items[i % 3])
    return items, kept


# program: stored_floats_are_the_same_object
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record hit exit
def f(n):
    a, b = [0.0, 1.0], [2.0, 3.0]
    same = []
    for i in range(n):
        y = a[0] * 1.5 + 1.0
        a[0] = y
        b[1] = y
        a[1] = a[1] + 1.0
        same.append((a[0] is b[1], a[0] is y, a[1] is a[0], a[1]))
        t = (a[1],)
        a[1] = a[1] - 0.5
        same.append((t, t[0] is a[1]))
    return same, a, b


# program: stored_floats_in_pairs
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 bridge hit (exit stitch stitch)*24 exit
def move(bodies, step):
    for body in bodies:
        body[0] += step * body[1]
        body[1] -= step * body[0]
def f(n):
    bodies = [[1.0, 0.5], [2.0, 0.25], [3.0, -1.0]]
    first = bodies[0][0]
    for _ in range(n):
        move(bodies, 0.125)
    return bodies, first


# program: returns_from_parts
# limits: loops=1, heat=2, grow_after=2
# [f(n, k) for n in range(12) for k in (2, 5, 90)] => record (hit)*3 exit hit exit bridge hit exit stitch record hit exit grow stitch hit record hit stitch exit hit grow stitch exit hit exit bridge hit exit stitch hit exit bridge hit exit grow stitch exit hit exit bridge hit exit stitch (hit)*3 exit grow stitch hit hit exit stitch (hit)*6 exit grow stitch (hit)*9
def f(n, stop):
    total = 0.5
    for i in range(n):
        total += i * 0.25
        if i == stop:
            return total, i
    else:
        if n % 2:
            return -total
    return total


# program: what_returned_frames_show
# limits: loops=1, heat=2, grow_after=2
# [f(n) for n in range(14)] => record (hit exit)*2 bridge (hit exit stitch exit)*11
import sys
def g(n, keep):
    total = 0.5
    for i in range(n):
        total += i * 0.25
        if i == 6:
            keep.append(sys._getframe())
    return total
def f(n):
    frames = []
    g(n, frames)
    g(n + 3, frames)
    return [sorted((k, v) for k, v in frame.f_locals.items() if k != "keep") for frame in frames]
