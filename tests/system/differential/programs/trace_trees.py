"""Executors that often link to others become trace trees of inner loops, branches and other types."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F841, F842, I001, PTH118, SIM115


# program: tree_branches
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def f(n):
    even = odd = 0
    for i in range(n):
        if i % 2:
            odd += i
        else:
            even += 1
    return even, odd


# program: tree_branches_tree
# limits: loops=1, heat=2, grow_after=2
# f(90) => record record (hit exit)*3 (bridge hit exit)*2 stitch exit hit exit stitch stitch exit grow stitch exit bridge hit (exit stitch stitch)*2 exit grow stitch stitch exit (stitch)*4 exit (grow stitch stitch stitch stitch)*2 grow (stitch)*3 grow stitch stitch exit
def f(n):
    counts = [0, 0, 0, 0]
    number = 0
    while number < n:
        if number % 2:
            if number % 3:
                counts[0] += number
            else:
                counts[1] -= 1
        elif number % 5:
            counts[2] += 1
        else:
            counts[3] += number
        number += 1
    return counts


# program: tree_nested
# limits: loops=1, heat=2, grow_after=2
# f(12) => (record)*5 (hit)*3 record hit exit hit stitch exit bridge hit exit stitch stitch grow stitch exit grow stitch stitch exit hit exit stitch grow stitch exit (stitch)*3 exit (grow stitch)*2 stitch stitch grow stitch stitch exit bridge hit exit stitch record hit stitch exit grow (stitch)*5 (grow stitch)*2 (stitch exit)*3 grow (stitch exit)*2 stitch (stitch exit)*2 (grow stitch)*2 exit stitch stitch exit grow (stitch)*4 grow stitch stitch exit
def f(n):
    table = []
    for i in range(n):
        row = []
        for j in range(n):
            total = 0.0
            for k in range(3):
                total += i * k - j
            row.append(total)
        table.append(row)
    return table


# program: tree_swapped
# limits: loops=1, heat=2, grow_after=2
# note: the values change slots from one trace to the next
# f(40) => record record (hit exit)*2 bridge (hit exit)*2 stitch stitch exit grow stitch stitch exit bridge hit stitch exit stitch stitch grow (stitch exit stitch)*2 grow (stitch exit)*2
def f(n):
    a, b, c = 1, 2.5, 3
    seen = []
    for i in range(n):
        if i % 3 == 1:
            a, c = c, a
        else:
            a += 1
        if i % 5 == 2:
            seen.append((a, b, c))
            b = b / 2
    return a, b, c, seen


# program: tree_shared
# limits: loops=1, heat=2, grow_after=2
# note: one object under two names stays one
# f(40) => record record hit exit stitch exit hit exit grow stitch exit bridge hit exit stitch exit hit exit grow (stitch)*3 grow stitch stitch exit bridge hit exit stitch stitch exit
def f(n):
    last = first = 1000
    same = 0
    for i in range(n):
        total = i * 1000
        if i % 2:
            last = first = total
        same += first is last
        if i % 7 == 3:
            first = total + 1
    return same, first, last


# program: tree_types
# limits: loops=1, heat=2, grow_after=2
# f([1, 2.5, "a"] * 12) => record record (hit exit)*3 (bridge hit exit)*2 (stitch stitch exit)*2 grow stitch stitch exit (stitch)*3 exit grow (stitch)*4 grow (stitch)*3 grow stitch stitch exit
# f([1, 2.5, "a"] * 12) => hit miss hit exit bridge
def f(items):
    total = 0
    text = ""
    for item in items:
        if type(item) is str:
            text += item
        else:
            total = total + item
    return total, text


# program: tree_unbound
# limits: loops=1, heat=2, grow_after=2
# note: what was bound in the last round may be unbound in this one
# f(40) => record record miss (hit exit)*2 miss record (hit exit bridge)*2 hit (exit stitch stitch)*6 exit
def f(n):
    found = []
    for i in range(n):
        if i % 3 == 0:
            x = i
        if i % 3 == 1:
            found.append(x)
            del x
        if i % 3 == 2:
            try:
                x
            except UnboundLocalError:
                found.append(-i)
    return found


# program: tree_locals_seen
# limits: loops=1, heat=2, grow_after=2
# note: who looks at the frame sees the values of now
# f(40) => record record miss miss record (hit exit)*2 bridge hit exit stitch exit hit exit grow (stitch)*3 grow stitch stitch exit bridge hit exit stitch stitch exit
import sys
def look():
    return dict(sys._getframe(1).f_locals)
def f(n):
    seen = []
    half = 0.5
    for i in range(n):
        if i % 2:
            half += i
        else:
            half -= 1.25
        if i % 9 == 4:
            found = look()
            found.pop("seen")
            seen.append(sorted((k, repr(v)) for k, v in found.items() if k != "found"))
    return seen


# program: tree_finalisers
# limits: loops=1, heat=2, grow_after=2
# note: values that die between two traces die there
# f(30) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow stitch exit hit stitch grow stitch exit bridge hit exit stitch stitch exit
class Noisy:
    def __init__(self, number):
        self.number = number
    def __del__(self):
        print("gone", self.number)
def f(n):
    kept = None
    for i in range(n):
        if i % 2:
            kept = Noisy(i)
        elif i % 3 == 0:
            kept = None
        else:
            print(i, kept)
    return i


# program: tree_raises
# limits: loops=1, heat=2, grow_after=2
# f(50, 44) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
# f(50, 43) => hit stitch exit bridge
# f(50, 99) => hit grow stitch exit
def f(n, bad):
    total = 0
    for i in range(n):
        if i % 2:
            total += i
        else:
            total -= 1
        if i == bad:
            total += [][i]
    return total


# program: tree_overflow
# limits: loops=1, heat=2, grow_after=2
# note: ints grow out of their registers in both parts
# f(90) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit (hit exit miss)*2 record (hit exit stitch exit miss)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def f(n):
    a, b = 1, 1
    for i in range(n):
        if i & 1:
            a = a * 3 + b
        else:
            b = b + a
    return a, b


# program: tree_break_else
# limits: loops=1, heat=2, grow_after=2
# f(60) => (record)*4 hit exit hit hit exit bridge record (hit exit)*2 (stitch)*3 exit bridge hit exit (stitch grow)*2 (stitch exit)*2 (stitch stitch exit)*2 stitch grow stitch exit (grow stitch)*2 (exit stitch)*5 exit grow (stitch exit)*5 grow (stitch exit)*3 grow (stitch stitch exit)*2 grow (stitch)*3 exit (stitch grow)*2 (stitch exit)*2
def f(n):
    primes = []
    for i in range(2, n):
        for p in primes:
            if i % p == 0:
                break
        else:
            primes.append(i)
    return primes


# program: tree_collatz
# limits: loops=1, heat=2, grow_after=2
# f(40) => record record (hit exit)*2 bridge hit exit stitch exit record (hit exit)*2 grow (stitch)*3 grow stitch exit bridge hit exit stitch exit hit exit bridge hit exit grow stitch exit bridge hit (stitch exit stitch)*2 stitch stitch grow stitch exit grow (stitch)*3 exit (stitch grow)*2 (stitch exit)*2 stitch (stitch exit)*2 (grow stitch)*2 exit (stitch)*3 exit stitch stitch exit grow (stitch)*3 exit (stitch grow stitch)*2 exit stitch stitch exit
# f(40) => hit (stitch exit)*3 stitch (stitch exit stitch grow stitch exit)*2 grow (stitch exit)*3 (stitch)*5 grow stitch stitch exit bridge
def f(size):
    longest = best = 0
    for start in range(1, size):
        number = start
        steps = 0
        while number != 1:
            if number % 2 == 0:
                number //= 2
            else:
                number = 3 * number + 1
            steps += 1
        if steps > longest:
            longest = steps
            best = start
    return best, longest


# program: tree_global_changes
# limits: loops=1, heat=2, grow_after=2
# note: what a part relies on changes while it runs
# f(40) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit hit exit miss miss record (hit exit)*2 bridge hit exit stitch exit hit exit bridge hit exit stitch stitch exit grow stitch exit bridge
factor = 2
def change(value):
    global factor
    factor = value
def f(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += factor * i
        else:
            total -= factor
        if i == 25:
            change(0.5)
        if i == 33:
            change(7)
    return total


# program: tree_class_dies
# limits: loops=1, heat=2, grow_after=2
# note: a class that a part has a guard for dies while the whole runs
# f(36) => record record (hit exit)*2 bridge hit exit stitch stitch exit hit exit grow (stitch)*3 grow stitch stitch exit bridge hit exit stitch stitch exit
def make(tag):
    class Local:
        def __init__(self, number):
            self.number = number
    return Local
def f(n):
    total = 0
    cls = make(0)
    item = cls(1)
    for i in range(n):
        if i % 2:
            total += item.number
        else:
            total -= 1
        if i % 12 == 11:
            cls = make(i)
            item = cls(i)
    return total


# program: tree_traced
# limits: loops=1, heat=2, grow_after=2
# note: a new watcher in the middle sees each line from there
# f(40) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit hit exit
import sys
def f(n):
    lines = []
    def watch(frame, event, argument):
        lines.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return watch
    total = 0
    for i in range(n):
        if i % 2:
            total += i
        else:
            total -= 1
        if i == 30:
            sys.settrace(watch)
            sys._getframe().f_trace = watch
        if i == 33:
            sys.settrace(None)
    return total, lines


# program: tree_signals
# limits: loops=1, heat=2, grow_after=2
# note: a signal is handled at the same instruction as in eager execution
# f(40) => record record (hit exit)*2 bridge hit (exit stitch exit stitch exit grow stitch)*2 exit stitch exit hit stitch exit
import signal
def f(n):
    hits = []
    def handler(number, frame):
        hits.append((frame.f_code.co_name, frame.f_locals["i"]))
    old = signal.signal(signal.SIGUSR1, handler)
    try:
        total = 0
        for i in range(n):
            if i % 2:
                total += 1
            else:
                total -= 1
            if i % 11 == 8:
                signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, old)
    return hits, total


# program: tree_dict_views
# limits: loops=1, heat=2, grow_after=2
# f({k: k * 1.5 for k in range(40)}) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit
def f(table):
    low = high = 0.0
    for key, value in table.items():
        if key % 2:
            low += value
        else:
            high -= value
    return low, high


# program: tree_enumerate_zip
# limits: loops=1, heat=2, grow_after=2
# f(list(range(30)), [0.5 * k for k in range(30)]) => record record hit exit
def f(a, b):
    found = []
    for place, (x, y) in enumerate(zip(a, b)):
        if x > y * 1.5:
            found.append(place)
        elif place % 2:
            found.append(-x)
    return found


# program: tree_string_building
# limits: loops=1, heat=2, grow_after=2
# f(30) => record record (hit exit)*2 bridge hit exit stitch stitch exit grow stitch exit hit stitch exit bridge hit grow (stitch exit stitch)*2 grow (stitch exit)*2 stitch (stitch exit grow)*2 (stitch)*3 exit
def f(n):
    text = ""
    for i in range(n):
        if i % 3 == 0:
            text += str(i)
        elif i % 3 == 1:
            text = text[-20:]
        else:
            text += "."
    return text


# program: tree_frame_seen_at_its_return
# limits: loops=1, heat=1, grow_after=2, native_after=1
# f(30) => record record hit exit bridge
# f(31) => hit stitch exit stitch
# f(32) => hit grow stitch exit grow stitch
# f(33) => hit exit stitch
# f(34) => hit exit grow stitch, hit
def f(n):
    for i in range(n):
        try:
            missing
        except NameError:
            pass
        n -= 1
    is_even = n % 2 == 0


# program: tree_calls_of_closures
# note: which function it is does not matter, but its code does, also when that is exchanged while the loop runs
# limits: loops=1, heat=2, grow_after=2
# f([adder(k) for k in range(12)] * 3, None) => record record hit exit, hit stitch exit bridge, hit grow stitch exit stitch
# f([adder(k) for k in range(12)] * 3, 20) => (hit exit)*3 bridge hit exit grow stitch, hit exit bridge hit exit stitch stitch, hit exit stitch stitch exit grow (stitch)*3
# f([adder(1), len, adder(2), lambda x: x * 2, Adder(3), adder(4)] * 8, None) => (hit exit)*2 miss hit exit miss (bridge hit exit)*2 stitch exit hit (exit stitch stitch)*2 exit stitch exit bridge hit exit grow stitch (stitch exit)*2 (stitch stitch exit stitch)*2 exit (grow stitch)*2 exit stitch stitch grow (stitch exit stitch)*3 grow (stitch exit stitch)*2 exit stitch grow stitch, hit exit stitch stitch exit miss hit exit miss bridge hit exit stitch exit hit exit stitch (stitch exit)*2 bridge hit (exit stitch)*2 stitch exit stitch grow (stitch exit)*2 stitch grow (stitch exit)*2 stitch grow (stitch exit)*6 grow (stitch exit)*3 stitch (stitch exit)*2 stitch, hit exit stitch exit miss hit exit miss bridge hit exit stitch exit hit exit stitch (stitch exit)*2 bridge hit (exit stitch)*2 stitch exit stitch grow (stitch exit)*2 stitch grow (stitch exit)*6 grow (stitch exit)*3 stitch (stitch exit)*2 grow (stitch exit)*2 stitch
def adder(number):
    def add(x):
        return x + number
    return add


class Adder:
    def __init__(self, number):
        self.number = number

    def __call__(self, x):
        return x - self.number


def other(number):
    def subtract(x):
        return x - number * 2
    return subtract


def f(functions, change):
    total = 0
    for k, function in enumerate(functions):
        if k == change:
            functions[k + 1].__code__ = other(0).__code__
        total = function(total if function is not len else "abc")
    return total


# program: tree_call_with_the_last_reference
# note: what dies with the callee's local sees the frames as they are then
# limits: loops=1, heat=2, grow_after=2
# f(40), seen => record record (hit exit)*2 bridge hit exit stitch stitch exit grow (stitch)*3 grow stitch stitch exit hit exit bridge hit exit stitch stitch exit grow stitch stitch exit, hit stitch stitch grow stitch stitch exit bridge, hit stitch exit stitch
import sys

seen = []


class Told:
    def __init__(self, number):
        self.number = number

    def __del__(self):
        frame = sys._getframe(1)
        seen.append((self.number, frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno))


def half(thing, number):
    if number % 8 == 3:
        thing = None
    return number // 2


def f(n):
    total = 0
    for k in range(n):
        total += half(Told(k) if k % 4 == 3 else total, k)
    return total


# program: tree_stores_of_attributes
# note: numbers and objects with an end of their own in the place of others; the class, its setter and the instance's own dict change while the loop runs
# limits: loops=1, heat=2, grow_after=2
# f(60, None), log => record record (hit exit)*3 (bridge hit exit)*2 stitch stitch exit grow stitch exit (stitch)*3 exit (stitch grow)*2 (stitch exit)*2 stitch stitch exit hit exit stitch exit (grow stitch)*2 exit stitch (stitch exit)*2, hit stitch exit stitch grow (stitch exit)*5 bridge hit (exit stitch)*2 exit bridge, hit grow (stitch exit)*6 stitch (stitch exit)*4 stitch
# f(60, "dict"), log => hit (exit stitch)*6 exit grow stitch exit hit (exit stitch)*4, hit exit grow (stitch exit)*6 bridge hit (exit stitch)*2 exit grow stitch
# f(60, "property"), log => hit (stitch exit)*6 hit (exit stitch)*3, hit exit miss hit (exit stitch)*5 exit bridge hit (exit stitch)*2
# f(60, "setattr"), log => hit exit bridge hit (exit stitch)*5 exit hit (exit stitch)*3, hit exit miss record hit (exit stitch)*5 exit bridge hit (exit stitch)*2
log = []


class End:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(self.name)


class Thing:
    def __init__(self):
        self.count = 0
        self.total = 0.0
        self.last = None
        self.itself = None

    def take(self, k, item):
        self.count += 1
        self.total += k * 0.5
        self.last = item
        if k % 7 == 6:
            self.late = k


def note(self, name, value):
    log.append(name)
    object.__setattr__(self, name, value)


def f(n, change):
    del log[:]
    if "count" in Thing.__dict__:
        del Thing.count
    if "__setattr__" in Thing.__dict__:
        del Thing.__setattr__
    thing = Thing()
    for k in range(n):
        thing.take(k, End(k) if k % 5 == 0 else k)
        if k == 40:
            if change == "dict":
                thing.__dict__["total"] = -100.0
            elif change == "property":
                Thing.count = property(lambda self: 7, lambda self, value: log.append(value))
            elif change == "setattr":
                Thing.__setattr__ = note
    thing.itself = thing
    found = thing.count, thing.total, thing.last if type(thing.last) is int else thing.last.name, thing.late
    thing.itself = None
    return found
