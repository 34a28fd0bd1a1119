"""Side exits of functions without loops get bridges: one site, several types, branches with the other outcome."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, PTH118, SIM115


# program: bridged_methods
# limits: loops=1, heat=2
# note: one call site, three methods
# f(A()) => record
# f(A()) => hit
# f(B()) => hit exit
# f(B()) => hit exit bridge
# f(B()) => hit exit stitch
# f(B()) => hit exit stitch
# f(C()) => hit exit stitch exit
# f(C()) => hit exit stitch exit bridge
# f(C()) => hit (exit stitch)*2
# f(C()) => hit (exit stitch)*2
# f(B()) => hit exit stitch
# f(C()) => hit (exit stitch)*2
# f(A()) => hit
class A:
    def go(self):
        return 1
class B:
    def go(self):
        return "b"
class C:
    def go(self):
        return [2.5]

def f(thing):
    before = id(thing)
    found = thing.go()
    return found, before == id(thing)


# program: bridged_branches
# limits: loops=1, heat=2
# f(1) => record
# f(1) => hit
# f(-1) => hit exit
# f(-1) => hit exit bridge
# f(-1) => hit exit stitch
# f(-1) => hit exit stitch
# f(0) => hit exit stitch exit
# f(0) => hit exit stitch exit bridge
# f(0) => hit (exit stitch)*2
# f(0) => hit (exit stitch)*2
# f(1) => hit
# f(-5) => hit exit stitch
# f(0) => hit (exit stitch)*2
def f(x):
    y = x * 2
    if y > 0:
        text = "more"
    elif y < 0:
        text = "less"
    else:
        text = "none"
    return text, y


# program: bridged_truth
# limits: loops=1, heat=2
# f([]) => record
# f([]) => hit
# f([1]) => hit exit
# f([1]) => hit exit bridge
# f([1]) => hit exit stitch
# f([1]) => hit exit stitch
# f(0) => hit
# f(3) => hit exit stitch
# f('') => hit
# f('a') => hit exit stitch
def f(x):
    y = (x, x)
    if x:
        return y, "yes"
    return y, "no"


# program: bridged_raises
# limits: loops=1, heat=2
# f(1, 1) => record
# f(1, 1) => hit
# f(1, 0) => hit exit
# f(1, 0) => hit exit bridge
# f(1, 0) => hit exit stitch
# f(1, 0) => hit exit stitch
# f(1, 0) => hit exit stitch
# f(2, 1) => hit
def f(x, y):
    try:
        z = x / y
    except ZeroDivisionError as error:
        return str(error)
    return z


# program: bridged_raises_out
# limits: loops=1, heat=2
# f([1, 2], 0) => record
# f([1, 2], 0) => hit
# f([1, 2], 5) => hit exit
# f([1, 2], 5) => hit exit bridge
# f([1, 2], 5) => hit exit stitch
# f([1, 2], 5) => hit exit stitch
# f([1, 2], 5) => hit exit stitch
# f([1, 2], 1) => hit
def f(items, k):
    first = items[0]
    return first, items[k]


# program: bridged_in_callee
# limits: loops=1, heat=2
# note: a side exit inside of a callee gets a bridge behind the call
# f(2) => record
# f(2) => hit
# f(-2) => hit exit
# f(-2) => hit exit bridge
# f(-2) => hit exit stitch
# f(-2) => hit exit stitch
# f(-2) => hit exit stitch
# f(3) => hit
def sign(x):
    if x < 0:
        return -x
    return x
def f(x):
    a = sign(x)
    return a + 1


# program: bridged_locals_seen
# limits: loops=1, heat=2
# f(2) => record
# f(2) => hit
# f(-2) => hit exit
# f(-2) => hit exit bridge
# f(-2) => hit exit stitch
# f(-2) => hit exit stitch
# f(-2) => hit exit stitch
import sys
def look():
    return sorted(sys._getframe(1).f_locals)
def f(x):
    a = x + 1
    if x > 0:
        b = a
        return look(), b
    c = a
    d = look()
    return d, c


# program: bridged_finalisers
# limits: loops=1, heat=2
# f(1) => record
# f(1) => hit
# f(-1) => hit exit
# f(-1) => hit exit bridge
# f(-1) => hit exit stitch
# f(-1) => hit exit stitch
# f(-1) => hit exit stitch
class Noisy:
    def __init__(self, n):
        self.n = n
    def __del__(self):
        print("gone", self.n)
def f(x):
    kept = Noisy(x)
    if x > 0:
        kept = None
        print("more")
    else:
        print("less")
    return x


# program: bridged_chain
# limits: loops=1, heat=2
# note: bridges that have bridges
# f(1, 1, 1) => record
# f(1, 1, 1) => hit
# f(0, 1, 1) => hit exit
# f(0, 1, 1) => hit exit bridge
# f(0, 1, 1) => hit exit stitch
# f(0, 1, 1) => hit exit stitch
# f(0, 0, 1) => hit exit stitch exit
# f(0, 0, 1) => hit exit stitch exit bridge
# f(0, 0, 1) => hit (exit stitch)*2
# f(0, 0, 1) => hit (exit stitch)*2
# f(0, 0, 0) => hit (exit stitch)*2 exit
# f(0, 0, 0) => hit (exit stitch)*2 exit bridge
# f(0, 0, 0) => hit (exit stitch)*3
# f(0, 0, 0) => hit (exit stitch)*3
# f(1, 0, 1) => hit exit stitch
# f(1, 0, 1) => hit exit stitch
# f(1, 0, 1) => hit exit stitch
# f(1, 0, 1) => hit exit stitch
# f(1, 1, 0) => hit exit stitch
# f(0, 1, 0) => hit (exit stitch)*2
def f(a, b, c):
    seen = []
    if a:
        seen.append("a")
    else:
        seen.append("-")
    if b:
        seen.append("b")
    else:
        seen.append("-")
    if c:
        seen.append("c")
    else:
        seen.append("-")
    return "".join(seen)


# program: bridged_global_changes
# limits: loops=1, heat=2
# f(1) => record
# f(1) => hit
# do rebind()
# f(1) => hit exit
# f(1) => hit exit bridge
# f(1) => hit exit stitch
# f(1) => hit exit stitch
# f(1) => hit exit stitch
def one(x):
    return x
def two(x):
    return -x
call = one
def rebind():
    global call
    call = two
def f(x):
    y = x + 1
    return call(y)


# program: bridged_entries_limit
# limits: loops=1, heat=2, entries_per_anchor=1
# note: no more graphs at the target of the side exits
# f(A()) => record
# f(A()) => hit
# f(B()) => hit exit
# f(B()) => hit exit bridge
# f(B()) => hit exit stitch
# f(B()) => hit exit stitch
# f(B()) => hit exit stitch
# f(C()) => hit exit stitch exit
# f(C()) => hit exit stitch exit
# f(C()) => hit exit stitch exit
# f(C()) => hit exit stitch exit
# f(C()) => hit exit stitch exit
# f(A()) => hit
class A:
    def go(self):
        return 1
class B:
    def go(self):
        return "b"
class C:
    def go(self):
        return [2.5]

def f(thing):
    x = (thing,)
    found = thing.go()
    return found, len(x)


# program: bridged_executors_limit
# limits: loops=1, heat=2, executors=1
# note: no more graphs of this function
# f(A()) => record
# f(A()) => hit
# f(B()) => hit exit
# f(B()) => hit exit
# f(B()) => hit exit
# f(B()) => hit exit
# f(B()) => hit exit
# f(C()) => hit exit
# f(C()) => hit exit
# f(C()) => hit exit
# f(C()) => hit exit
# f(C()) => hit exit
# f(A()) => hit
class A:
    def go(self):
        return 1
class B:
    def go(self):
        return "b"
class C:
    def go(self):
        return [2.5]

def f(thing):
    x = (thing,)
    found = thing.go()
    return found, len(x)


# program: bridged_with_kept_stack
# limits: loops=1, heat=2
# note: values lie on the stack where the exit is
# f(1, A()) => record
# f(1, A()) => hit
# f(1, B()) => hit exit
# f(1, B()) => hit exit bridge
# f(1, B()) => hit exit stitch
# f(1, B()) => hit exit stitch
# f(1, B()) => hit exit stitch
# f(1, C()) => hit exit stitch exit
# f(1, C()) => hit exit stitch exit bridge
# f(1, C()) => hit (exit stitch)*2
# f(1, C()) => hit (exit stitch)*2
# f(1, C()) => hit (exit stitch)*2
class A:
    def go(self):
        return 1
class B:
    def go(self):
        return "b"
class C:
    def go(self):
        return [2.5]

def f(x, thing):
    return [x, (x, thing.go()), {x: thing.go()}]


# program: bridged_class_dies
# limits: loops=1, heat=2
# note: the class of each call is gone behind it
# f(make(1)) => record
# f(make(1)) => hit
# f(make('a')) => hit
# f(make('a')) => hit
# f(make('a')) => hit
# f(make('a')) => hit
# f(make('a')) => hit
# f(make('a')) => hit
def make(value):
    class Local:
        def go(self):
            return value
    return Local()
def f(thing):
    x = [thing]
    return x[0].go()
