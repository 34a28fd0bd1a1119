"""Loops that are entered while they run, and side exits that are linked to bridges and other loops."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, PTH118, SIM115


# program: linked_entered_while_it_runs
# limits: loops=1, heat=2
# note: the loop of a call that is made once
# f(9) => record record hit exit
def f(n):
    total = 0
    for i in range(n):
        total += i * i
    return total, i


# program: linked_while_entered
# limits: loops=1, heat=2
# f(9) => record record hit exit
# f(3) => hit stitch exit bridge
def f(n):
    i = total = 0
    while i < n:
        total += i
        i += 1
    return total


# program: linked_nested
# limits: loops=1, heat=2
# note: the inner loop's end links to the outer loop's trace, which links to the inner loop
# f(6) => record (record hit exit)*2 (stitch stitch exit)*4 stitch exit, hit (stitch exit stitch)*6 exit bridge
# f(3) => hit (stitch exit stitch)*3 exit stitch
# f(0) => hit exit miss
def f(n):
    total = 0
    for i in range(n):
        for j in range(n):
            total += i * j
    return total


# program: linked_nested_while
# limits: loops=1, heat=2
# f(8) => (record)*3 hit exit hit stitch exit bridge hit (exit stitch stitch stitch)*2 exit stitch exit, hit (stitch exit stitch stitch)*6 (stitch exit)*2 bridge
def f(n):
    i = total = 0
    while i < n:
        j = 0
        while j < i:
            j += 1
            total += j
        i += 1
    return total


# program: linked_three_deep
# limits: loops=1, heat=2
# f(4) => (record)*3 hit exit record hit exit bridge (hit exit stitch)*2 record (hit exit stitch)*3 record, hit miss (hit exit stitch)*3 record (hit exit stitch)*2 hit stitch exit stitch hit exit stitch record hit exit stitch hit exit
def f(n):
    total = 0.0
    for i in range(n):
        for j in range(i, n):
            for k in range(j):
                total += i + j * 0.5 - k
            total -= 1
    return total


# program: linked_branch
# limits: loops=1, heat=2
# note: the other branch gets a bridge that goes back to its loop
# f(12) => record record (hit exit)*2 bridge hit (exit stitch stitch)*2 exit, hit (stitch exit stitch)*8 stitch exit bridge
def f(n):
    a = b = 0
    for i in range(n):
        if i % 3 == 0:
            a += i
        else:
            b += i
    return a, b


# program: linked_branches_tree
# limits: loops=1, heat=2
# f(30) => record record (hit exit)*3 bridge hit exit stitch (stitch exit)*2 hit exit bridge hit (exit stitch stitch)*3 exit stitch exit bridge hit (exit stitch)*2 (stitch exit stitch)*4 (exit stitch stitch)*2 exit, hit (stitch exit stitch stitch exit stitch stitch exit stitch exit stitch stitch exit stitch stitch exit stitch exit stitch stitch exit stitch)*3 (stitch exit stitch stitch exit stitch stitch exit)*2 bridge
def f(n):
    counts = [0, 0, 0, 0]
    for i in range(n):
        if i & 1:
            if i & 2:
                counts[0] += 1
            else:
                counts[1] += i
        elif i & 4:
            counts[2] -= 1
        else:
            counts[3] += 2
    return counts


# program: linked_types
# limits: loops=1, heat=2
# note: a place that sees several types ends in several traces
# f([1, 2.5, "a", 3, 4.5, "b", 5, 6.5, "c", 7, 8.5, "d"]) => record record (hit exit)*2 bridge hit exit stitch stitch exit miss hit exit, hit stitch exit stitch stitch exit miss bridge hit (exit stitch stitch)*6 exit bridge
def f(items):
    out = []
    for item in items:
        out.append(item + item)
    return out


# program: linked_accumulator_changes
# limits: loops=1, heat=2
# f([1, 2, 3, 4, 5, 6.5, 7, 8, 9]) => record record hit exit miss miss record hit exit, hit stitch exit bridge hit exit bridge
# f([1, 2, 3, 2 ** 70, 5, 6, 7, 8, 9]) => hit stitch (exit miss hit)*2 exit miss record hit exit miss
def f(items):
    total = 0
    for item in items:
        total = total + item
    return total


# program: linked_break_and_else
# limits: loops=1, heat=2
# f(9, 20) => record record hit exit, hit stitch exit bridge
# f(9, 5) => hit stitch exit, hit stitch exit bridge, hit stitch exit stitch, hit stitch exit stitch
def f(n, stop):
    for i in range(n):
        if i == stop:
            found = "stopped"
            break
    else:
        found = "through"
    return found, i


# program: linked_continue
# limits: loops=1, heat=2
# f(14) => record record (hit exit)*2 bridge hit exit stitch exit hit exit stitch stitch exit, hit (stitch exit)*2 bridge hit (exit stitch stitch exit stitch exit stitch stitch)*2 exit stitch stitch exit bridge
def f(n):
    kept = []
    for i in range(n):
        if i % 2:
            continue
        if i % 4:
            kept.append(-i)
            continue
        kept.append(i)
    return kept


# program: linked_return_inside
# limits: loops=1, heat=2
# f(9, 4) => record (record hit exit)*2, hit stitch exit stitch stitch exit bridge, hit (stitch exit stitch)*2, hit (stitch exit stitch)*2, hit (stitch exit stitch)*2
def f(n, stop):
    for i in range(n):
        for j in range(n):
            if i * j == stop:
                return i, j
    return None


# program: linked_raise_leaves
# limits: loops=1, heat=2
# f([1, 2, 4, 5, 8]) => record record hit exit, hit stitch exit bridge
# f([1, 2, 4, 0, 8]) => hit stitch exit, hit stitch exit bridge, hit stitch exit stitch
def f(items):
    total = 0.0
    for item in items:
        total += 8 / item
    return total


# program: linked_handler_inside
# limits: loops=1, heat=2
# f([1, 2, 0, 5, 0, 1, 0, 0, 3, 0, 2]) => record record (hit exit)*2 bridge hit exit, hit (stitch exit stitch stitch exit stitch stitch exit)*2 bridge
def f(items):
    total, bad = 0.0, 0
    for item in items:
        try:
            total += 8 / item
        except ZeroDivisionError as error:
            bad += len(str(error))
    return total, bad


# program: linked_finally_inside
# limits: loops=1, heat=2
# f([1, 2, 0, 5, 1, 3, 2]) => record record hit exit, hit stitch exit hit exit bridge
def f(items):
    log = []
    for item in items:
        try:
            if not item:
                continue
            log.append(10 // item)
        finally:
            log.append("end")
    return log


# program: linked_with_inside
# limits: loops=1, heat=2
# f(7) => record record (hit exit)*2, hit stitch exit bridge hit (exit stitch stitch)*2 exit bridge
import contextlib
def f(n):
    log = []
    for i in range(n):
        with contextlib.suppress(ZeroDivisionError):
            log.append(10 // (i % 3))
            log.append("fine")
    return log


# program: linked_inlined_callee
# limits: loops=1, heat=2
# note: side exits inside a callee let the callee run to its end, then the bridge takes over
# f(14) => record record (hit exit)*2 bridge hit exit stitch (stitch exit)*2 hit exit stitch stitch exit, hit (stitch exit stitch)*2 exit bridge hit exit stitch (stitch exit)*2 (stitch stitch exit)*2 (stitch exit stitch)*3 (exit stitch stitch)*2 exit bridge
def sign(x):
    if x % 3 == 0:
        return -x
    if x % 3 == 1:
        return x
    return 0
def f(n):
    total = 0
    for i in range(n):
        total += sign(i)
    return total


# program: linked_loop_in_callee
# limits: loops=1, heat=2
# trace: f, inner
# f(6) => record record (hit exit)*2 bridge record hit exit stitch record record (hit exit stitch)*2 record (hit exit)*2, (hit)*3 exit stitch stitch exit bridge (hit exit stitch stitch exit stitch)*4 stitch exit bridge
def inner(k):
    s = 0
    for j in range(k):
        s += j
    return s
def f(n):
    total = 0
    for i in range(n):
        total += inner(i)
    return total


# program: linked_recursion
# limits: loops=1, heat=2
# f(4) => record hit exit hit record hit exit bridge hit hit exit stitch hit record (hit exit stitch hit)*4 record (hit exit miss)*2 bridge, (hit exit stitch hit hit exit stitch hit stitch exit stitch hit exit stitch hit hit exit stitch hit stitch exit stitch stitch exit stitch)*2 (stitch exit stitch)*2
def f(n):
    total = n
    for i in range(n):
        total += f(i)
    return total


# program: linked_unbound_later
# limits: loops=1, heat=2
# note: another shape of bound locals is another trace
# f(8) => record record, hit stitch miss hit exit
def f(n):
    seen = []
    for i in range(n):
        if i % 2:
            del extra
        else:
            extra = i
        seen.append("extra" in locals())
    return seen


# program: linked_unbound_raises
# limits: loops=1, heat=2
# f(8) => record, hit
def f(n):
    for i in range(n):
        if i == 6:
            del value
        value += 0 if i else 0
        value = i
    return value


# program: linked_cells
# limits: loops=1, heat=2
# f(8) => record record (hit exit)*2, hit stitch exit bridge hit (exit stitch stitch)*2 exit bridge
def f(n):
    total = 0
    reads = []
    def add(x):
        nonlocal total
        total += x
    for i in range(n):
        add(i)
        if i % 3 == 1:
            reads.append(lambda: (i, total))
    return total, [r() for r in reads]


# program: linked_big_numbers
# limits: loops=1, heat=2
# note: numbers beyond 64 bits go round as objects
# f(12, 2 ** 62) => record record hit exit, hit stitch exit bridge
# f(12, -(2 ** 80)) => miss record hit exit stitch
def f(n, x):
    for i in range(n):
        x = x + x // 3 + i
    return x


# program: linked_frame_is_held
# limits: loops=1, heat=2
# f(9) => record record hit exit, hit stitch exit hit exit
import sys
def f(n):
    frames, total = [], 0
    for i in range(n):
        total += i
        if i == 4:
            frames.append(sys._getframe())
    return total, frames[0].f_lineno - frames[0].f_code.co_firstlineno, frames[0].f_locals["i"]


# program: linked_locals_seen
# limits: loops=1, heat=2
# f(9) => record record hit (exit stitch)*3 exit, hit (stitch exit)*7 bridge
def f(n):
    seen, total = [], 0.0
    for i in range(n):
        total += i * 0.5
        if i % 4 == 3:
            seen.append(sorted((k, v) for k, v in locals().items() if k != "seen"))
    return seen


# program: linked_class_changes
# limits: loops=1, heat=2
# note: what a trace relied on changes while it runs
# f(12) => record record (hit exit)*3 bridge hit exit stitch stitch exit, hit (exit stitch stitch)*7 exit stitch exit bridge hit (exit stitch stitch)*3 exit bridge
class Point:
    def step(self):
        return 1
def f(n):
    point, total = Point(), 0
    for i in range(n):
        total += point.step()
        if i == 7:
            Point.step = lambda self: 10
    return total


# program: linked_global_changes
# limits: loops=1, heat=2
# f(12) => record record (hit exit)*2, hit stitch exit bridge hit exit stitch stitch exit bridge
SCALE = 2
def f(n):
    global SCALE
    total = 0
    for i in range(n):
        total += i * SCALE
        if i % 5 == 4:
            SCALE = SCALE + 1
    return total


# program: linked_finalisers
# limits: loops=1, heat=2
# f(7) => record record (hit exit)*2, hit stitch exit bridge hit (exit stitch stitch)*2 exit bridge
# do print(log)
log = []
class Noisy:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        log.append(self.name)
def f(n):
    last = None
    for i in range(n):
        if i % 2:
            last = Noisy(i)
        log.append(("round", i))
    return last.name


# program: linked_callable_chosen
# limits: loops=1, heat=2
# note: NULL lies on the stack where a branch is taken
# f(9) => record record (hit exit)*2 bridge hit exit, hit (stitch exit stitch)*6 stitch exit bridge
def f(n):
    out = []
    for i in range(n):
        out.append((str if i % 3 else float)(i))
    return out


# program: linked_values_below_the_loop
# limits: loops=1, heat=2
# note: what lies on the stack when the loop begins is part of its state
# f(6) => record (record hit exit)*2 stitch exit record hit exit stitch (stitch exit)*2 stitch stitch exit hit exit stitch (stitch exit)*3, hit (stitch exit stitch stitch exit stitch exit stitch)*2 stitch exit bridge hit exit stitch (stitch exit)*3 bridge
def f(n):
    for a in [1, 2, 3]:
        for b in (10, 20):
            for c in range(n):
                a += b * c
                if a % 7 == 0:
                    a -= 1
    return a, b, c


# program: linked_iterators
# limits: loops=1, heat=2
# f({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}) => record (record hit exit)*2, hit stitch exit hit exit bridge miss hit exit bridge
def f(names):
    out = []
    for place, (key, value) in enumerate(names.items()):
        out.append(f"{place}{key}")
        if value % 2:
            out.append(value)
    for left, right in zip(out, reversed(out)):
        if left == right:
            out.append(left)
            break
    return out


# program: linked_list_grows
# limits: loops=1, heat=2
# f([1, 2, 3], 12) => record record hit (exit stitch)*3 exit, hit (stitch exit)*4 bridge
def f(items, limit):
    items = list(items)
    for item in items:
        if len(items) < limit:
            items.append(item * 2)
    return items


# program: linked_generator_consumed
# limits: loops=1, heat=2
# f(9) => record record (hit exit)*2, hit stitch exit bridge hit exit stitch stitch exit bridge
def numbers(n):
    for i in range(n):
        yield i
        if i % 4 == 3:
            yield -i
def f(n):
    total = 0
    for x in numbers(n):
        if x < 0:
            total -= 100
        else:
            total += x
    return total


# program: linked_generator_itself
# limits: loops=1, heat=2
# trace: numbers
# list(numbers(7)) => record record miss record (hit exit)*2 bridge (hit exit stitch)*2 hit exit, hit hit (hit exit stitch)*5 hit exit bridge
def numbers(n):
    for i in range(n):
        total = 0
        for j in range(i):
            total += j
        yield total


# program: linked_comprehension
# limits: loops=1, heat=2
# f(9) => record record (hit exit)*2 bridge hit (exit stitch stitch)*2 exit, hit (stitch exit stitch)*8 stitch exit bridge
def f(n):
    out = []
    for i in range(n):
        out.append([j if j % 2 else -j for j in range(i)])
    return out


# program: linked_sieve
# limits: loops=1, heat=2
# f(60) => record (record hit exit)*2 (stitch exit stitch stitch exit)*2 (stitch exit)*53, hit (stitch exit stitch stitch exit)*3 (stitch exit)*53 bridge
def f(n):
    flags = [True] * n
    for p in range(2, n):
        if flags[p]:
            for k in range(p * p, n, p):
                flags[k] = False
    return [p for p in range(2, n) if flags[p]]


# program: linked_mandelbrot
# limits: loops=1, heat=2
# f(3, 20) => (record)*3 (hit exit)*2 record hit exit bridge hit exit (stitch)*3 (exit stitch stitch)*3 (stitch exit stitch stitch)*2 exit stitch exit, hit (stitch exit stitch stitch stitch exit stitch stitch stitch exit stitch stitch exit stitch)*3 exit bridge
def f(size, limit):
    total = 0
    for y in range(size):
        for x in range(size):
            cr, ci = 2.0 * x / size - 1.5, 2.0 * y / size - 1.0
            zr = zi = 0.0
            count = 0
            while count < limit and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                count += 1
            total += count
    return total


# program: linked_too_many_executors
# limits: loops=1, heat=2, executors=2
# f(6) => record record (hit exit)*21, hit stitch (exit hit)*22 exit, hit stitch (exit hit)*22 exit
def f(n):
    total = 0
    for i in range(n):
        for j in range(n):
            if j % 2:
                total += i
            else:
                total -= j
    return total


# program: linked_parent_dies_meanwhile
# limits: loops=1, heat=2
# note: what a trace calls dies while its bridge is recorded
# f(9) => record record (hit exit)*2 bridge, hit stitch exit hit (exit stitch stitch)*3 exit
def f(n):
    def step(x):
        return x + 1
    total = 0
    for i in range(n):
        if i % 3 == 2:
            def step(x):
                return x - 1
        total += step(i)
    return total


# program: linked_reentered
# limits: loops=1, heat=2
# note: the loop's code is entered again while its executor runs
# f(5) => (record hit)*2 exit hit exit bridge hit record, (hit)*3 record (hit exit stitch)*2 hit
def f(n):
    out = []
    class Key:
        def __init__(self, k): self.k = k
        def __lt__(self, other):
            return sum_of(self.k) < sum_of(other.k)
    for i in range(n):
        out.append(min(Key(i), Key(n - i)).k)
    return out
def sum_of(k):
    return len(f(k - 3)) + k if k > 2 else k


# program: linked_traced_in_the_middle
# limits: loops=1, heat=2
# f(8) => record record hit exit, hit stitch exit hit exit bridge
import sys
def f(n):
    events = []
    def watch(frame, event, argument):
        events.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return watch
    total = 0
    for i in range(n):
        total += i
        if i == 4:
            sys.settrace(watch)
            sys._getframe().f_trace = watch
        if i == 6:
            sys.settrace(None)
    return total, events


# program: linked_module_names
# limits: loops=1, heat=2
# note: a loop in a namespace whose code is run as a function's
# f(5) => record, hit
def f(n):
    class Body:
        total = 0
        for i in range(n):
            total += i
            if i % 2:
                total -= 1
    return Body.total, Body.i


# program: linked_endless_with_break
# limits: loops=1, heat=2
# f(9) => record record hit exit stitch exit, hit (stitch exit)*5 bridge
def f(n):
    i = 0
    while True:
        i += 1
        if i > n:
            break
        if i % 4 == 0:
            i += 1
    return i


# program: linked_idle_guards
# limits: loops=1, heat=2
# note: linked traces whose first guard never holds make progress all the same
# f([1, "a", 2.5, None, (1,), [2], {3}, 4, "b", 5.5] * 3) => record record (hit exit)*2 bridge hit (exit stitch stitch)*20 exit, hit (stitch exit stitch)*26 stitch exit bridge
def f(items):
    kinds = []
    for item in items:
        if item:
            kinds.append(type(item).__name__)
        else:
            kinds.append("nothing")
    return kinds


# program: linked_others_enter_meanwhile
# trace: all
# limits: inline_depth=1, loops=1, heat=1
# note: a round has entered other code when its executor leaves where it has begun, which is recorded once more
# f([5, -1, 6]) => (record)*8 (hit)*4 (exit bridge hit)*2 exit bridge record (hit)*10 (exit stitch hit)*2 exit stitch record (hit)*6 record (hit)*4 (exit stitch hit)*3 exit bridge (hit)*10 (exit stitch hit)*3 exit stitch exit bridge, hit record miss (hit)*6 record (hit)*4 (exit stitch hit)*4 (hit hit hit hit hit stitch hit hit hit hit exit stitch hit exit stitch hit exit stitch stitch exit stitch hit)*2 (hit)*5 stitch (hit)*4 (exit stitch hit)*2 exit stitch (stitch exit)*2 stitch
def f(items):
    for first in (1, 2):
        pass
    left, out = 4, []
    while left:
        left -= 1
        numbers = (x - 3 for x in (x + x for x in (out.append(x) or x for x in items[:3])))
        for x in numbers:
            out.append((x, next(numbers, None)))
            items.append(-3)
    return first, out


# program: linked_iterator_dies
# limits: loops=1, heat=2
# note: an iterator dies at the end of its loop: who looks finds the frame there, with the numbers of then
# f(6) => (record)*5 hit exit, (hit)*3 record hit exit hit stitch exit bridge hit exit (stitch)*3 exit stitch stitch exit bridge, hit (stitch exit stitch stitch)*6 exit stitch
import sys
log = []
class Noisy:
    def __init__(self, k):
        self.k = k
    def __call__(self, x):
        return x + self.k
    def __del__(self):
        frame = sys._getframe(1)
        names = {k: v for k, v in frame.f_locals.items() if k != "out"}
        log.append((self.k, frame.f_lineno - frame.f_code.co_firstlineno, names))
def f(n):
    log.clear()
    total = 0
    for i in range(n):
        k = 0
        for x in map(Noisy(i), (1, 2, 3)):
            total += x
            k += 1
        total -= 1
    return total, list(log)


# program: linked_iterator_watches
# limits: loops=1, heat=2
# note: what dies with an iterator switches tracing on: nothing is linked any more
# f(6, 6) => (record)*5 hit exit, (hit)*3 record hit exit hit stitch exit bridge hit exit (stitch)*3 exit stitch stitch exit bridge
# f(6, 4) => hit (stitch exit stitch stitch)*4 stitch exit, hit (stitch exit stitch stitch)*4 stitch exit
import sys
log = []
def watch(frame, event, argument):
    if frame.f_code.co_name == "f":
        log.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
    return watch
class Noisy:
    def __init__(self, is_last):
        self.is_last = is_last
    def __call__(self, x):
        return x + 1
    def __del__(self):
        if self.is_last:
            sys._getframe(1).f_trace = watch
            sys.settrace(watch)
def f(n, last):
    log.clear()
    total = 0
    for i in range(n):
        k = 0
        for x in map(Noisy(i == last), (1, 2, 3)):
            total += x
            k += 1
        total -= 1
    sys.settrace(None)
    return total, list(log)


# program: linked_iterator_unmakes_the_next
# limits: loops=1, heat=2
# note: what dies with an iterator ends the executors that would have gone on
# f(6, 6) => (record)*5 hit exit, (hit)*3 record hit exit hit stitch exit bridge hit exit (stitch)*3 exit stitch stitch exit bridge
# f(6, 4) => hit (stitch exit stitch stitch)*4 (stitch exit)*2 hit (stitch exit)*2 bridge, hit (stitch exit stitch exit stitch stitch)*6 exit stitch
class Helper:
    def step(self):
        return 1
class Noisy:
    def __init__(self, is_last):
        self.is_last = is_last
    def __call__(self, x):
        return x + 1
    def __del__(self):
        global Helper
        if self.is_last:
            class Helper:
                def step(self):
                    return 100
def f(n, last):
    total = 0
    for i in range(n):
        for x in map(Noisy(i == last), (1, 2, 3)):
            total += x
        total += Helper().step()
    return total
