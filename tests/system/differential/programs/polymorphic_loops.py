"""Sites in loops with changing types, loops that end in all possible ways, side exits inside of callees."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, PTH118, SIM115


# program: poly_int_then_float
# limits: loops=1, heat=2, grow_after=2
# note: a number of the loop changes its type in the middle
# f(30, 10) => record record hit exit miss miss record hit exit
# f(30, 99) => hit stitch exit bridge
def f(n, when):
    total = 0
    for i in range(n):
        if i == when:
            total = float(total)
        total += i
    return total


# program: poly_alternating_types
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def f(n):
    value = 1
    for i in range(n):
        value = value + 1 if i % 2 else value + 0.5
    return value


# program: poly_three_kinds
# limits: loops=1, heat=2, grow_after=2
# f([1, 2.0, True, 3, 4.5, False, 10**20] * 6) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def f(items):
    total = 0
    for item in items:
        total = total + item
    return total


# program: poly_none_or_number
# limits: loops=1, heat=2, grow_after=2
# f([None, 3, None, 4, 5, None] * 6) => record record hit (exit stitch exit grow stitch exit stitch)*2 exit
def f(items):
    best = None
    for item in items:
        if item is None:
            continue
        if best is None or item > best:
            best = item
    return best


# program: poly_methods
# limits: loops=1, heat=2, grow_after=2
# note: one call site, three classes
# f(36) => record record miss miss record (hit exit)*2 bridge hit exit stitch stitch exit grow stitch exit hit stitch exit bridge hit grow (stitch exit stitch)*2 grow (stitch exit)*2 stitch (stitch exit grow)*2 (stitch)*3 grow stitch exit
class Shape:
    def __init__(self, size):
        self.size = size
class Square(Shape):
    def area(self):
        return self.size * self.size
class Circle(Shape):
    def area(self):
        return 3.0 * self.size * self.size
class Line(Shape):
    def area(self):
        return 0
def f(n):
    shapes = [(Square, Circle, Line)[k % 3](k) for k in range(n)]
    total = 0
    for shape in shapes:
        total += shape.area()
    return total


# program: poly_attributes_slots_and_dicts
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
class Slotted:
    __slots__ = ("x",)
class Plain:
    pass
class Computed:
    @property
    def x(self):
        return self.y + 0.5
def f(n):
    found = []
    for i in range(n):
        thing = (Slotted, Plain, Computed)[i % 3]()
        if i % 3 == 2:
            thing.y = i
        else:
            thing.x = i
        found.append(thing.x)
    return found


# program: poly_callables
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record (hit exit)*2 bridge hit exit stitch exit hit exit grow stitch exit bridge hit exit stitch exit hit exit grow stitch exit bridge hit stitch exit stitch stitch exit grow (stitch)*5 grow (stitch)*4 grow stitch stitch exit
def double(x):
    return x * 2
class Adder:
    def __call__(self, x):
        return x + 1
def f(n):
    calls = [double, Adder(), abs, lambda x: -x, int.__neg__]
    found = []
    for i in range(n):
        found.append(calls[i % 5](i))
    return found


# program: poly_containers
# limits: loops=1, heat=2, grow_after=2
# note: the inner loop goes over another kind of thing each time
# f([[1, 2], (3, 4), 'ab', {5: 6, 7: 8}, range(9, 11)] * 6) => record (record hit exit)*2 bridge hit exit (stitch)*3 exit (grow stitch)*2 stitch stitch grow stitch stitch exit stitch miss hit grow stitch exit grow (stitch)*3 grow stitch miss record hit (stitch)*3 grow (stitch stitch exit)*2
def f(things):
    found = []
    for thing in things:
        for item in thing:
            found.append(item)
        found.append(len(thing))
    return found


# program: poly_subscripts
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record hit exit
def f(n):
    places = ([10, 20, 30], (1.5, 2.5, 3.5), {0: "a", 1: "b", 2: "c"}, "xyz")
    found = []
    for i in range(n):
        found.append(places[i % 4][i % 3])
    return found


# program: poly_comparisons
# limits: loops=1, heat=2, grow_after=2
# f([1, 1.5, 'a', (1,), [2], None] * 6) => record record hit exit record miss miss record hit exit (miss)*3 record hit exit miss record (hit exit)*2 stitch exit bridge hit (exit stitch)*2 exit hit (exit stitch)*2 stitch exit hit (exit stitch stitch)*2 (exit stitch)*2 (stitch exit)*2 stitch grow (stitch exit)*5 hit (exit stitch)*2 exit bridge hit exit (grow stitch)*2 (exit stitch)*9 exit hit (exit stitch)*3 (stitch exit)*11 hit (exit stitch)*2 exit (grow stitch)*2 exit grow (stitch exit)*10 hit (exit stitch)*2 stitch (stitch exit)*10 hit exit stitch exit
def f(items):
    same = smaller = failed = 0
    for one in items:
        for two in items[:6]:
            if one == two:
                same += 1
            try:
                if one < two:
                    smaller += 1
            except TypeError:
                failed += 1
    return same, smaller, failed


# program: poly_truth
# limits: loops=1, heat=2, grow_after=2
# f([0, 1, '', 'a', [], [1], None, 0.0, 2.5, (), {}] * 5) => record record (hit exit)*2 bridge (hit exit miss)*2 bridge hit exit stitch stitch exit grow stitch (exit hit)*2 stitch exit bridge hit grow (stitch exit stitch)*2 grow stitch exit bridge hit (exit stitch)*2 stitch exit grow (stitch exit stitch stitch)*2 grow (stitch stitch exit)*2
def f(items):
    yes = no = 0
    for item in items:
        if item:
            yes += 1
        else:
            no += 1
    return yes, no


# program: poly_class_changes
# limits: loops=1, heat=2, grow_after=2
# note: the class of the one object changes
# f(30) => record record (hit exit)*2 miss miss record (hit exit bridge)*2 hit exit stitch stitch exit grow (stitch)*3 exit stitch exit hit exit stitch stitch grow stitch stitch exit
class A:
    def go(self):
        return 1
class B:
    def go(self):
        return 2.5
def f(n):
    thing = A()
    total = 0
    for i in range(n):
        total += thing.go()
        if i % 7 == 6:
            thing.__class__ = B if type(thing) is A else A
    return total


# program: poly_method_replaced
# limits: loops=1, heat=2, grow_after=2
# note: the class changes under a loop that has taken the call in
# f(30) => record record (hit exit)*3 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
class A:
    def go(self):
        return 1
def f(n):
    old = A.go
    thing = A()
    total = 0
    try:
        for i in range(n):
            total += thing.go()
            if i == 20:
                A.go = lambda self: 100
    finally:
        A.go = old
    return total


# program: poly_instance_shadows
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2
class A:
    kind = 1
def f(n):
    things = [A(), A()]
    total = 0
    for i in range(n):
        if i == 15:
            things[1].kind = 50
        total += things[i % 2].kind
    return total


# program: ends_return_inside
# limits: loops=1, heat=2, grow_after=2
# note: a return out of both loops
# f(30, 21) => (record)*5 (hit)*3 record hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
# f(30, 22) => hit stitch exit bridge
# f(30, 99) => hit grow stitch exit
def f(n, wanted):
    for i in range(n):
        for j in range(3):
            if i + j == wanted and j == 2:
                return i, j
    return None


# program: ends_break_outer_flag
# limits: loops=1, heat=2, grow_after=2
# f(12) => (record)*3 hit exit record hit exit bridge hit exit (stitch)*3 exit grow stitch exit hit stitch stitch grow stitch (stitch exit)*2 bridge hit grow stitch exit grow stitch stitch exit
def f(n):
    found = []
    for i in range(n):
        stop = False
        for j in range(i):
            if j * j > i:
                stop = True
                break
            found.append(j)
        else:
            found.append(-i)
        if stop and i % 3:
            continue
        found.append(i)
    return found


# program: ends_while_else
# limits: loops=1, heat=2, grow_after=2
# f(20) => record record (hit exit)*2 bridge hit exit stitch record hit exit (stitch exit grow stitch stitch exit stitch)*2 (stitch exit stitch grow stitch exit)*2 (stitch exit)*2 hit exit bridge hit exit stitch stitch exit stitch grow stitch exit
def f(n):
    found = []
    for k in range(n):
        i = k
        while i % 5:
            if i > 17:
                break
            i += 1
        else:
            found.append((k, i))
    return found


# program: ends_raise_through
# limits: loops=1, heat=2, grow_after=2
# note: an exception out of a callee leaves the loop
# f(30, 20) => record record hit exit
# f(30, 21) => hit stitch exit bridge
# f(30, 99) => hit grow stitch exit
def step(i, bad):
    if i == bad:
        raise ValueError(i)
    return i
def f(n, bad):
    total = 0
    for i in range(n):
        total += step(i, bad)
    return total


# program: ends_caught_inside
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def step(i):
    if i % 4 == 3:
        raise KeyError(i)
    return i
def f(n):
    total = 0
    for i in range(n):
        try:
            total += step(i)
        except KeyError as error:
            total -= error.args[0]
    return total


# program: ends_finally
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def f(n):
    seen = []
    for i in range(n):
        try:
            if i % 3 == 0:
                continue
            if i == 25:
                break
            seen.append(i)
        finally:
            seen.append(-i)
    return seen


# program: ends_with
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
class Manager:
    def __init__(self, log):
        self.log = log
    def __enter__(self):
        self.log.append("in")
        return self
    def __exit__(self, *what):
        self.log.append(what[0])
        return True
def f(n):
    log = []
    for i in range(n):
        with Manager(log):
            if i % 4 == 1:
                raise ValueError
            log.append(i)
    return log


# program: ends_list_grows
# limits: loops=1, heat=2, grow_after=2
# note: the list grows while the loop goes over it
# f() => record record hit exit stitch exit
def f():
    items = [1]
    for item in items:
        if len(items) < 40:
            items.append(item + 1)
    return items


# program: ends_list_shrinks
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record hit exit
def f(n):
    items = list(range(n))
    seen = []
    for item in items:
        if item % 2:
            items.remove(item)
        seen.append(item)
    return seen, items


# program: ends_dict_changes
# limits: loops=1, heat=2, grow_after=2
# note: RuntimeError where the size changes
# f(20, 99) => record record hit exit
# f(20, 12) => hit stitch exit hit exit
def f(n, when):
    table = dict.fromkeys(range(n), 0)
    total = 0
    for key in table:
        total += key
        if key == when:
            table[n] = 1
    return total


# program: ends_stop_iteration_of_own
# limits: loops=1, heat=2, grow_after=2
# f(12) => (record)*3 hit exit record hit exit stitch stitch exit stitch grow (stitch exit)*7
class Count:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        self.i = 0
        return self
    def __next__(self):
        self.i += 1
        if self.i > self.n:
            raise StopIteration
        return self.i
def f(n):
    total = 0
    for k in range(n):
        for item in Count(k):
            total += item
    return total


# program: ends_iter_sentinel
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record hit exit
def f(n):
    state = [0]
    def read():
        state[0] += 1
        return state[0]
    total = 0
    for item in iter(read, n):
        total += item
    return total


# program: callee_exits
# limits: loops=1, heat=2, grow_after=2
# note: the path through an inlined callee changes
# f(40) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def middle(x):
    if x % 3 == 2:
        return x * 10
    return x + 0.5
def f(n):
    total = 0
    for i in range(n):
        total += middle(i)
    return total


# program: callee_exits_deep
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record (hit exit)*2 bridge hit exit stitch exit hit exit stitch stitch exit grow (stitch)*3 exit stitch exit bridge hit grow stitch (stitch exit)*2 stitch (stitch exit grow)*2 stitch stitch exit stitch grow (stitch exit)*2 stitch stitch exit grow stitch exit
def low(x):
    return -x if x % 5 == 4 else x
def high(x):
    y = low(x)
    return y + low(x + 1)
def f(n):
    seen = []
    for i in range(n):
        seen.append(high(i))
    return seen


# program: callee_has_loop
# limits: loops=1, heat=2, grow_after=2
# f(12) => record record (hit exit)*2 bridge hit (exit stitch stitch)*5 exit
def inner(k):
    total = 0
    for j in range(k):
        total += j
    return total
def f(n):
    total = 0
    for i in range(n):
        total += inner(i % 4)
    return total


# program: callee_recursive
# limits: loops=1, heat=2, grow_after=2
# f(14) => record
def fib(k):
    return k if k < 2 else fib(k - 1) + fib(k - 2)
def f(n):
    return [fib(i) for i in range(n)]


# program: callee_defaults_change
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2
def add(x, by=1):
    return x + by
def f(n):
    total = 0
    for i in range(n):
        total = add(total)
        if i == 20:
            add.__defaults__ = (100,)
    add.__defaults__ = (1,)
    return total


# program: callee_closure_cell
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def f(n):
    count = 0
    def bump(by):
        nonlocal count
        count += by
        return count
    seen = []
    for i in range(n):
        if i % 3:
            seen.append(bump(i))
        else:
            count -= 1
    return seen, count


# program: callee_generator
# limits: loops=1, heat=2, grow_after=2
# f(20) => (record)*3 hit exit record hit (exit stitch)*2 stitch exit grow (stitch)*3 grow (stitch exit stitch)*2 grow stitch exit
def numbers(k):
    for j in range(k):
        if j % 2:
            yield j
        else:
            yield -j
def f(n):
    total = 0
    for i in range(n):
        for x in numbers(i % 5):
            total += x
    return total


# program: numbers_bool_and_int
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def f(n):
    flag = False
    count = 0
    for i in range(n):
        flag = not flag if i % 3 else flag
        count += flag
    return flag, count


# program: numbers_big
# limits: loops=1, heat=2, grow_after=2
# note: in and out of 64 bits
# f(80) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def f(n):
    a = 1
    small = 0
    for i in range(n):
        a = a * 7 if i % 10 else 1
        if a < 1 << 62:
            small += 1
    return a, small


# program: numbers_negative_steps
# limits: loops=1, heat=2, grow_after=2
# f(60) => record record hit exit
def f(n):
    total = 0
    for i in range(n, -n, -7):
        total += i // 3 + i % 3 - (i >> 1)
    return total


# program: numbers_division
# limits: loops=1, heat=2, grow_after=2
# f([4, 2, -3, 0, 7, 0.5] * 5) => record record hit exit miss (hit exit)*2 bridge hit exit stitch stitch exit bridge hit exit grow (stitch)*3 grow stitch exit stitch miss record hit exit miss hit exit stitch stitch exit miss bridge hit exit
def f(items):
    found = []
    for item in items:
        try:
            found.append(10 / item)
            found.append(10 // item)
            found.append(-10 % item)
        except ZeroDivisionError as error:
            found.append(str(error))
    return found


# program: numbers_nan_and_zero
# limits: loops=1, heat=2, grow_after=2
# f([0.0, -0.0, float('nan'), 1.0, float('inf')] * 6) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 exit
def f(items):
    found = []
    for item in items:
        if item == item:
            found.append(repr(item * -1.0))
        else:
            found.append("nan")
    return found


# program: numbers_scalars
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
import numpy as np
def f(n):
    total = np.float64(0.5)
    count = np.int64(1)
    for i in range(n):
        if i % 2:
            total = total + i
        else:
            count = count + 2
    return total, count, type(total).__name__, type(count).__name__


# program: numbers_array_items
# limits: loops=1, heat=2, grow_after=2
# f(20) => record record hit exit miss miss record hit exit
import numpy as np
def f(n):
    data = np.arange(float(n))
    total = 0.0
    for i in range(n):
        if data[i] > 7:
            total += data[i]
        else:
            data[i] = -1.0
    return total, data


# program: names_rebound
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 miss miss record hit exit bridge hit exit stitch stitch exit
def f(n):
    global step
    step = 1
    total = 0
    for i in range(n):
        total += step
        if i % 10 == 9:
            step = step * 2.5
    return total


# program: names_deleted
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record hit exit miss (hit exit)*2 bridge miss record hit exit bridge hit exit stitch stitch exit
def f(n):
    seen = []
    for i in range(n):
        value = i
        if i % 4 == 3:
            del value
        try:
            seen.append(value)
        except UnboundLocalError:
            seen.append(None)
    return seen


# program: names_builtin_shadowed
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2
def f(n):
    total = 0
    try:
        for i in range(n):
            total += abs(-i)
            if i == 20:
                globals()["abs"] = lambda x: 1000
    finally:
        globals().pop("abs", None)
    return total


# program: names_walrus
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def f(n):
    seen = []
    i = 0
    while (half := i / 2) < n / 4:
        if half == int(half):
            seen.append(half)
        i += 1
    return seen, half


# program: deep_nest
# limits: loops=1, heat=2, grow_after=2
# f(4) => record record (hit exit)*2 bridge record hit exit stitch (stitch exit)*2 hit exit grow (stitch)*3 exit stitch exit record hit grow (stitch exit stitch)*2 exit bridge hit exit grow stitch (stitch exit)*2 stitch stitch exit (stitch)*3 exit grow stitch stitch exit (stitch)*4 grow (stitch exit)*2
def f(n):
    total = 0
    for a in range(n):
        for b in range(n):
            for c in range(n):
                if (a + b + c) % 2:
                    total += a * b - c
                else:
                    total += 0.5
    return total


# program: swap_sort
# limits: loops=1, heat=2, grow_after=2
# f([5, 3, 9, 1, 7, 2, 8, 6, 4, 0]) => record (record hit exit)*2 stitch exit grow (stitch exit)*2 hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit bridge hit exit stitch exit
# f([2.5, 1, -3, 10**20, 0.0, 4]) => (hit exit)*2 bridge (hit exit)*2 miss hit exit stitch stitch exit bridge hit (exit stitch)*4 grow stitch exit grow stitch stitch exit stitch grow (stitch exit)*5 grow stitch exit bridge
def f(items):
    items = list(items)
    for i in range(len(items)):
        for j in range(len(items) - 1 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items


# program: word_counts
# limits: loops=1, heat=2, grow_after=2
# f('a b c a b a d e f a b c'.split() * 3) => record record (hit exit)*2 bridge hit exit
def f(words):
    counts = {}
    for word in words:
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    return counts


# program: state_machine
# limits: loops=1, heat=2, grow_after=2
# f('ab1 22,x;; 3y' * 4) => record record (hit exit hit exit bridge)*2 hit exit stitch (stitch exit)*2 (hit exit)*2 bridge hit exit grow (stitch exit hit exit)*2 grow stitch stitch exit bridge hit stitch grow stitch exit bridge hit (exit stitch stitch)*2 exit grow (stitch stitch exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 exit (stitch)*3 grow (stitch stitch exit stitch)*2 stitch stitch grow stitch exit
def f(text):
    state = "start"
    tokens = []
    current = ""
    for c in text:
        if state == "start":
            if c.isalpha():
                state = "name"
                current = c
            elif c.isdigit():
                state = "number"
                current = c
            else:
                tokens.append(c)
        elif state == "name":
            if c.isalnum():
                current += c
            else:
                tokens.append(current)
                state = "start"
        else:
            if c.isdigit():
                current += c
            else:
                tokens.append(int(current))
                state = "start"
    return tokens


# program: game_of_life_row
# limits: loops=1, heat=2, grow_after=2
# f([0, 1, 1, 0, 1, 0, 0, 1] * 3, 6) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow stitch stitch exit hit stitch grow stitch exit bridge hit exit stitch stitch exit grow stitch stitch exit hit exit bridge hit exit stitch record hit exit grow (stitch)*4 grow stitch stitch exit
def f(cells, rounds):
    for _ in range(rounds):
        new = []
        for k in range(len(cells)):
            near = cells[k - 1] + cells[(k + 1) % len(cells)]
            if near == 1:
                new.append(1)
            elif near == 2:
                new.append(cells[k])
            else:
                new.append(0)
        cells = new
    return cells
