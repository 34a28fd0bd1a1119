"""Guards inside of inlined calls that fail: the run leaves in front of the call where nothing has happened since."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, PTH118, SIM115


# program: relocation_from_a_function
# limits: loops=1, heat=2, grow_after=2
# f([(k % 3, k * 0.5) for k in range(30)]) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow stitch exit hit stitch exit bridge hit grow (stitch exit stitch)*2 grow (stitch exit)*2 stitch (stitch exit grow)*2 (stitch)*3 exit, hit stitch grow stitch stitch exit bridge, hit stitch exit stitch
def area(kind, x):
    if kind == 0:
        return x * x
    if kind == 1:
        return x + 1.0
    return -x


def f(shapes):
    total = 0.0
    for kind, x in shapes:
        total += area(kind, x)
    return total


# program: relocation_from_a_method
# limits: loops=1, heat=2, grow_after=2
# do shapes = [Shape(k % 2, k * 0.5) for k in range(30)]
# f(shapes) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit, hit stitch exit hit exit bridge hit exit stitch stitch exit stitch grow (stitch exit)*11 bridge, hit grow (stitch exit)*15 stitch
class Shape:
    def __init__(self, kind, size):
        self.kind = kind
        self.size = size

    def area(self):
        if self.kind:
            return self.size * self.size
        return self.size


def f(shapes):
    total = 0.0
    for shape in shapes:
        total += shape.area()
    return total


# program: relocation_from_an_operator
# limits: loops=1, heat=2, grow_after=2
# do points = [Point(k - 15) for k in range(30)]
# f(points) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit, hit stitch exit hit exit bridge hit exit stitch stitch exit stitch grow (stitch exit)*7 bridge, hit grow (stitch exit)*12 stitch
class Point:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        if self.x > other:
            return self.x - other
        return other - self.x


def f(points):
    total = 0
    for point in points:
        total += point + 3
    return total


# program: relocation_from_two_calls
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit, hit stitch exit bridge, hit grow stitch exit stitch
def low(x):
    return -x if x % 4 == 3 else x


def high(x):
    return low(x) + 1


def f(n):
    total = 0
    for i in range(n):
        total += high(i)
    return total


# program: relocation_not_behind_an_effect
# note: what has been appended is not appended twice
# limits: loops=1, heat=2, grow_after=2
# f(30, []) => record record (hit exit)*2 bridge hit exit stitch stitch exit stitch grow (stitch exit)*13, hit (stitch exit)*21 bridge, hit grow (stitch exit)*21 stitch
def note(seen, x):
    seen.append(x)
    if x % 3:
        return len(seen)
    return 0


def f(n, seen):
    total = 0
    for i in range(n):
        total += note(seen, i)
    return total, seen


# program: relocation_not_behind_a_property
# note: some of the objects run code where others only have a value; it runs once for each
# limits: loops=1, heat=2, grow_after=2
# do things = [(Plain, Told)[k % 5 == 4](k % 2, k) for k in range(40)]
# f(things), told => record record (hit exit)*2 bridge hit exit stitch stitch exit grow stitch stitch exit hit stitch grow stitch exit bridge hit exit stitch stitch exit stitch grow (stitch exit)*2 stitch stitch exit, hit (stitch exit)*2 (grow stitch)*2 exit stitch stitch exit stitch grow (stitch exit)*5 bridge, hit grow (stitch exit)*8 stitch
told = []


class Plain:
    def __init__(self, kind, size):
        self.kind = kind
        self.size = size


class Told:
    def __init__(self, kind, size):
        self._kind = kind
        self.size = size

    @property
    def kind(self):
        told.append(self.size)
        return self._kind


def value(thing):
    kind = thing.kind
    if kind == 0:
        return thing.size
    return -thing.size


def f(things):
    total = 0
    for thing in things:
        total += value(thing)
    return total


# program: relocation_not_behind_getattr
# note: __getattr__ counts; the guard behind it fails for every third
# limits: loops=1, heat=2, grow_after=2
# do things = [Thing(k) for k in range(30)]
# f(things), [thing.asked for thing in things] => record record (hit exit)*2 bridge hit exit stitch stitch exit stitch grow (stitch exit)*13, hit (stitch exit)*21 bridge, hit grow (stitch exit)*21 stitch
class Thing:
    def __init__(self, k):
        self.k = k
        self.asked = 0

    def __getattr__(self, name):
        self.asked += 1
        return self.k % 3


def value(thing):
    if thing.kind:
        return 1
    return thing.k


def f(things):
    total = 0
    for thing in things:
        total += value(thing)
    return total


# program: relocation_with_an_iterator_in_the_callee
# note: the iterator is not advanced twice
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 bridge hit exit stitch stitch exit stitch grow (stitch exit)*6, hit (stitch exit)*11 bridge, hit grow (stitch exit)*11 stitch
def take(numbers):
    number = next(numbers)
    if number % 3 == 2:
        return -number
    return number


def f(n):
    numbers = iter(range(100))
    total = 0
    for _ in range(n):
        total += take(numbers)
    return total, next(numbers)


# program: relocation_type_changes
# limits: loops=1, heat=2, grow_after=2
# f([1, 2.5, True, 3, 0.5, 2**70, 4] * 6) => record record (hit exit)*2 bridge hit exit stitch stitch exit miss hit exit grow stitch stitch exit miss bridge hit stitch exit miss hit grow stitch exit stitch stitch exit miss bridge hit exit stitch grow (stitch exit stitch)*2 exit stitch stitch exit stitch grow stitch exit, hit (stitch exit)*2 (grow stitch)*2 (exit stitch)*3 (stitch exit)*2 grow stitch exit (grow stitch)*2 exit stitch (stitch exit)*2 stitch grow (stitch exit)*5 bridge, hit grow (stitch exit)*13 stitch
def twice(x):
    return x + x


def f(values):
    found = []
    for value in values:
        found.append(twice(value))
    return found


# program: relocation_that_raises
# limits: loops=1, heat=2, grow_after=2
# f([3, 2, 0, 1, 5, 0, 4] * 4) => record record (hit exit)*4 bridge hit exit stitch stitch exit hit exit grow stitch (stitch exit hit)*2 grow stitch exit hit exit, hit stitch (exit hit)*8 exit bridge, hit grow stitch (exit hit)*8 exit stitch
def inverse(x):
    if x > 3:
        return -1
    return 6 // x


def f(values):
    total = failed = 0
    for value in values:
        try:
            total += inverse(value)
        except ZeroDivisionError:
            failed += 1
    return total, failed


# program: relocation_while_the_frame_is_held
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit, hit stitch exit bridge, hit grow (stitch exit)*2
import sys


def side(x, frames):
    if x % 3 == 2:
        frames.append(sys._getframe(1).f_lineno)
        return -x
    return x


def f(n):
    frames = []
    total = 0
    for i in range(n):
        total += side(i, frames)
    return total, [line - frames[0] for line in frames]


# program: relocation_locals_of_the_caller
# note: whatever the caller has at the call is there again
# limits: loops=1, heat=2, grow_after=2
# f([(k * 7) % 5 for k in range(40)]) => record record (hit exit)*2 bridge hit exit stitch exit hit exit stitch stitch exit grow stitch exit bridge hit (exit stitch stitch)*2 exit grow stitch stitch exit (stitch)*3 exit grow (stitch)*4 grow stitch exit, hit miss hit stitch grow stitch stitch exit bridge, hit miss record hit (exit stitch)*2 stitch exit stitch
def clipped(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def f(values):
    out, last = [], None
    for value in values:
        name = str(value)
        last, before = clipped(value, 1, 3), last
        out.append((name, last, before))
    return out


# program: relocation_of_six_traces
# note: each trace exits where it began, to the next one, until one continues
# limits: loops=1, heat=2, grow_after=2
# f([(k * 7 % 6, k * 0.5) for k in range(36)]) => record record (hit exit)*2 bridge (hit exit stitch exit)*2 bridge hit exit stitch (stitch exit)*3 hit (exit grow stitch)*2 exit bridge hit exit stitch stitch exit grow (stitch exit)*2 hit exit stitch (stitch exit)*3 bridge hit exit stitch stitch exit grow (stitch exit)*3 hit exit stitch (stitch exit)*2 grow (stitch exit stitch)*2 stitch (stitch exit)*2 grow stitch exit bridge hit (exit stitch)*2 grow stitch exit stitch stitch grow (stitch exit)*2 stitch stitch exit, hit (stitch exit)*4 stitch (stitch exit)*2 (grow stitch)*2 exit stitch (stitch exit grow)*2 (stitch exit)*2 (stitch stitch exit)*3 (stitch exit)*2 grow stitch exit (grow stitch)*2 (exit stitch stitch)*2 (exit stitch)*5 stitch exit grow (stitch stitch exit)*2 (stitch exit grow)*2 (stitch exit)*2 stitch (stitch exit)*3 stitch grow (stitch exit stitch)*2 exit stitch (stitch exit grow)*2 stitch exit bridge, hit (stitch exit stitch)*2 exit grow stitch (stitch exit)*3 stitch (stitch exit)*2 stitch (stitch exit grow)*3 stitch (stitch exit)*2 grow (stitch)*3 (exit stitch stitch)*2 grow (stitch exit stitch)*3 grow stitch exit grow stitch stitch exit stitch, hit stitch exit (stitch)*3 (exit stitch)*2 (stitch exit grow)*2 (stitch)*3 exit (stitch)*3 grow stitch exit (stitch)*3 exit (stitch grow)*2 stitch exit stitch, hit (stitch exit)*2 stitch (stitch exit grow)*2 stitch (stitch exit)*2 stitch (stitch exit grow)*2 (stitch)*3 grow stitch exit stitch
def way(kind, x):
    if kind == 0:
        return x * x
    if kind == 1:
        return x + 1.0
    if kind == 2:
        return -x
    if kind == 3:
        return x
    if kind == 4:
        return x - 1.0
    return 0.5


def f(pairs):
    total = 0.0
    for kind, x in pairs:
        total += way(kind, x)
    return total


# program: relocation_of_more_traces_than_graphs
# note: of the eleven ways more than a place may have graphs
# limits: loops=1, heat=2, grow_after=2
# f([(k * 7 % 11, k) for k in range(33)]) => record record (hit exit)*2 bridge (hit exit stitch exit)*2 bridge hit (exit stitch)*2 exit hit (exit stitch)*2 exit bridge hit (exit stitch)*3 exit hit (exit stitch)*3 exit bridge hit (exit stitch)*4 exit hit exit grow (stitch exit)*4 bridge hit (exit stitch)*5 exit hit exit stitch exit grow (stitch exit)*4 bridge hit (exit stitch)*4 exit grow (stitch exit)*2 hit (exit stitch)*2 exit grow (stitch exit)*3 bridge hit exit stitch (stitch exit)*5 grow (stitch exit)*2 hit (exit stitch)*4 (stitch exit)*2 stitch (stitch exit)*6 bridge, hit (stitch exit)*3 stitch stitch exit grow (stitch exit)*4 grow (stitch exit)*2 hit (exit stitch)*3 (stitch exit)*4 (stitch stitch exit)*2 (stitch exit grow)*2 (stitch exit)*3 hit (exit stitch)*4 (stitch exit)*2 stitch (stitch exit)*5 stitch (stitch exit)*5 stitch (stitch exit)*3 stitch (stitch exit)*5 hit (exit stitch)*3 grow (stitch exit)*4 (stitch stitch exit)*2 (stitch exit)*4 hit (exit grow stitch)*2 (exit stitch)*2 (stitch exit)*2 stitch (stitch exit)*5 stitch (stitch exit)*2 grow (stitch exit)*3 grow stitch (stitch exit)*3 stitch (stitch exit)*5 hit (exit stitch)*6 exit grow (stitch stitch exit)*2 (stitch exit)*3 grow stitch exit hit (exit stitch)*3 (stitch exit)*2 stitch grow (stitch exit)*5 stitch grow stitch exit, hit stitch exit grow (stitch exit)*2 stitch (stitch exit)*5 hit (exit stitch)*6 (stitch exit stitch)*2 exit grow (stitch exit)*2 hit exit (stitch exit grow)*2 stitch (stitch exit)*10 stitch (stitch exit)*2 stitch stitch exit grow (stitch exit)*4 hit (exit stitch)*6 (stitch exit stitch)*2 exit stitch exit hit (exit stitch)*2 (stitch exit)*2 grow (stitch exit)*3 (grow stitch exit)*3 (stitch exit)*2 stitch (stitch exit)*2 stitch (stitch exit)*4 hit (exit stitch)*6 (stitch exit stitch)*2 exit stitch exit hit (exit stitch)*2 grow (stitch exit stitch)*2 (exit stitch)*2 stitch exit bridge
def way(kind, x):
    if kind < 1:
        return x
    if kind < 2:
        return x + 1
    if kind < 3:
        return x + 2
    if kind < 4:
        return x + 3
    if kind < 5:
        return x + 4
    if kind < 6:
        return x + 5
    if kind < 7:
        return x + 6
    if kind < 8:
        return x + 7
    if kind < 9:
        return x + 8
    if kind < 10:
        return x + 9
    return x + 10


def f(pairs):
    total = 0
    for kind, x in pairs:
        total += way(kind, x)
    return total


# program: relocation_of_types
# note: if a trace cannot take over the numbers as they are, the next one does
# limits: loops=1, heat=2, grow_after=2
# f([1, 2.5, "a", 3, -1, -2.5, "", True, None, 7] * 9) => record record hit exit miss hit exit bridge miss record (hit exit miss)*2 bridge (hit exit miss)*2 bridge hit exit stitch stitch exit miss hit (exit stitch stitch)*2 exit miss bridge hit (exit stitch grow stitch)*2 exit miss hit exit stitch grow (stitch exit)*2 stitch (stitch exit)*4 miss bridge hit (exit stitch)*3 grow (stitch exit)*4 stitch (stitch exit)*7 stitch grow (stitch exit)*22, hit miss hit (exit stitch)*62 exit bridge, hit miss record hit (exit stitch)*62, hit (stitch exit)*63 grow stitch
def way(x):
    if isinstance(x, str):
        return len(x)
    if x is None:
        return 0.25
    if x < 0:
        return -x
    return x


def f(values):
    total = 0
    seen = []
    for value in values:
        part = way(value)
        total += part
        seen.append(part)
    return total, seen
