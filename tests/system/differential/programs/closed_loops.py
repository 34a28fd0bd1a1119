"""A jump back closes the trace: one round is peeled, the next one runs round after round without objects for numbers."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: closed_range
# limits: loops=1
# note: one graph for every number of rounds; the end of the range leaves
# f(4) => record, hit
# f(1000) => hit record hit exit
# f(1) => hit stitch exit
# f(0) => hit exit
def f(n):
    total = 0
    for i in range(n):
        total += i * i
    return total, n


# program: closed_with_constants
# limits: loops=1
# f(5) => record, hit, hit record
# f(200) => hit record hit exit
def f(n):
    total = 0.0
    for i in range(n):
        total = total * 0.5 + i / 3
    return total


# program: closed_while
# limits: loops=1
# f(10) => record, hit record
# f(10.5) => miss record (miss)*9, hit (miss)*7 record hit exit
# f(3) => hit stitch exit
def f(n):
    i = 0
    while i < n:
        i += 1
    return i


# program: closed_overflow
# limits: loops=1
# note: beyond 64 bits the original instructions continue
# f(10) => record, hit record hit exit
# f(40) => hit stitch exit (hit exit miss)*16 record hit exit
# f(100) => hit stitch exit hit exit
def f(n):
    product = 1
    for i in range(1, n):
        product *= i
    return product


# program: closed_overflow_everywhere
# limits: loops=1
# f(3, 2 ** 62) => record, hit
# f(9, 1) => hit record
# f(9, -(2 ** 61)) => hit
def f(n, start):
    a = b = c = start
    for i in range(n):
        a = a + a
        b = b - start
        c = -c
    return a, b, c


# program: closed_big_start
# limits: loops=1
# note: a carried int that does not fit is not taken for a number of 64 bits
# f(5, 2 ** 70) => record, hit
# f(5, 7) => hit record
def f(n, big):
    for i in range(n):
        big = big + i
    return big


# program: closed_big_later
# limits: loops=1
# f(5, 7) => record, hit
# f(5, 2 ** 70) => miss record
# f(5, 2 ** 62 + 2 ** 61 + 2 ** 60) => hit record hit exit
def f(n, number):
    for i in range(n):
        number = number + i
    return number


# program: closed_type_settles
# limits: loops=1
# note: the first round makes a float of the int
# f([1.5, 2.5, 3.5]) => record, hit
# f([1.5, 2, 3.5]) => hit
# f([1, 2, 3]) => hit exit
def f(items):
    total = 0
    for item in items:
        total += item
    return total


# program: closed_type_changes
# limits: loops=1
# note: what changes its type in each round is carried as an object
# f(7) => record, hit
# f(20) => hit record hit exit
def f(n):
    a, b, c = 1, 2.5, "c"
    for _ in range(n):
        a, b, c = b, c, a
    return a, b, c


# program: closed_identity_of_results
# limits: loops=1
# note: two names of one result are one object, two results are two
# f(5) => record, hit
def f(n):
    a = b = c = None
    for i in range(n):
        a = i * 1000
        b = a
        c = i * 1000
    return a is b, a is c, a == c


# program: closed_identity_kept_over_rounds
# limits: loops=1
# f(6) => record, hit
def f(n):
    kept = []
    last = before = 0.5
    for i in range(n):
        before = last
        last = i + 0.25
        kept.append(last)
    return last is kept[-1], before is kept[-2], before is last, len({id(x) for x in kept}), kept


# program: closed_identity_of_invariants
# limits: loops=1
# f(5, 12345) => record, hit
# f(5, 1.5) => miss record
def f(n, given):
    last = 0
    for i in range(n):
        last = given
    return last is given, last


# program: closed_identity_of_items
# limits: loops=1
# f([1000, 2000, 3000, 4000]) => record, hit
# f([1.5, 2.5, 3.5, 4.5]) => hit exit
def f(items):
    best = items[0]
    for i in range(len(items)):
        if items[i] > best:
            best = items[i]
    return best is items[-1], best


# program: closed_identity_of_remainder
# limits: loops=1
# note: CPython gives the left operand itself
# f(6, 2 ** 40) => record, hit
# f(6, 7) => hit record hit exit
def f(n, m):
    same = 0
    x = 5_000_000
    for i in range(n):
        y = x % m
        same += y is x
        x = x + 1
    return same, x


# program: closed_iterator_is_shared
# limits: loops=1
# note: the range's own iterator is advanced
# f(6) => record, hit
def f(n):
    numbers = iter(range(n))
    taken = []
    for number in numbers:
        if number == 4:
            break
        taken.append(number)
    return taken, list(numbers)


# program: closed_list_grows
# limits: loops=1
# f([1, 2, 3], 8) => record, hit record
# f([], 8) => hit exit
def f(items, limit):
    for item in items:
        if len(items) < limit:
            items.append(item + 1)
    return items


# program: closed_break_and_else
# limits: loops=1
# f([1, 2, 3, 4]) => record, hit
# f([1, 2, -3, 4]) => hit
# f([1, 2, 3, 4, 5, -6]) => hit record
def f(items):
    for item in items:
        if item < 0:
            found = item
            break
    else:
        found = "none"
    return found


# program: closed_continue
# limits: loops=1
# f(9, 10) => record, hit record hit exit
# f(9, 3) => hit (stitch exit)*2
def f(n, skip):
    total = 0
    for i in range(n):
        if i == skip:
            continue
        total += i
    return total


# program: closed_return_inside
# limits: loops=1
# f(9, 100) => record, hit record hit exit
# f(9, 3) => hit stitch exit
def f(n, wanted):
    for i in range(n):
        if i * i == wanted:
            return i
    return -1


# program: closed_exception_leaves
# limits: loops=1
# f([1.0, 2.0, 4.0]) => record, hit
# f([1.0, 2.0, 4.0, 0.0, 5.0]) => hit
# f([1.0, 2.0, 4.0, "x"]) => hit
def f(items):
    total = 0.0
    for item in items:
        total += 1.0 / item
    return total


# program: closed_exception_inside
# limits: loops=1
# note: raised and caught in each round
# f([1, 0, 0, 0, 0]) => record, hit
# f([0, 0, 0, 2, 0]) => hit exit
def f(items):
    bad = 0
    for item in items:
        try:
            1 // item
        except ZeroDivisionError:
            bad += 1
    return bad


# program: closed_exception_caught_outside
# limits: loops=1
# f([1, 2, 3, 4]) => record, hit
# f([1, 2, 0, 4]) => hit
def f(items):
    total = 0
    try:
        for item in items:
            total += 12 // item
    except ZeroDivisionError as error:
        return total, error.__traceback__.tb_lineno
    return total


# program: closed_index_errors
# limits: loops=1
# f([1, 2, 3, 4], 4) => record, hit
# f([1, 2, 3], 5) => hit
def f(items, n):
    total = 0
    for i in range(n):
        total += items[i] + items[-1 - i]
    return total


# program: closed_stores
# limits: loops=1
# f(6) => record, hit
# f(30) => hit (record hit exit)*2
def f(n):
    items = [0] * n
    for i in range(n):
        items[i] = i * 1000
    for i in range(n):
        items[-i] = items[i - 1] + items[i]
    return items


# program: closed_stores_drop
# limits: loops=1
# note: the item that was there dies when it is replaced, with the frame as it is then
# do log = []
# f(5) => record, hit exit
# f(9) => hit exit record hit exit
# do print(log)
import sys
class Dying:
    def __init__(self, number):
        self.number = number
    def __del__(self):
        frame = sys._getframe(1)
        log.append((self.number, frame.f_locals.get("i"), frame.f_lineno))
def f(n):
    items = [Dying(i) for i in range(n)]
    total = 0
    for i in range(n):
        items[i] = i
        total += i
    return total


# program: closed_drop_order
# limits: loops=1
# do log = []
# f(5) => record, hit
# f(3) => hit
# do print(log)
class Dying:
    def __init__(self, number):
        self.number = number
    def __del__(self):
        log.append(self.number)
def f(n):
    for i in range(n):
        thing = Dying(i)
        log.append("made")
    log.append("end")


# program: closed_frames_seen
# limits: loops=1
# note: a look at the frame finds the locals of that round
# f(6) => record, hit
import sys
def look():
    frame = sys._getframe(1)
    return dict(frame.f_locals, seen=None), frame.f_lineno
def f(n):
    seen = []
    total = 0
    half = 0.5
    for i in range(n):
        total += i
        half *= 2.0
        seen.append(look())
        total += 1
    return seen


# program: closed_frame_kept
# limits: loops=1
# f(6) => record, hit
import sys
def f(n):
    frames = []
    total = 0
    for i in range(n):
        total += i
        frames.append(sys._getframe())
    return [frame is frames[0] for frame in frames], frames[0].f_locals["total"], frames[0].f_locals["i"]


# program: closed_inlined
# limits: loops=1
# note: the loop of a callee; the caller's frame continues behind it
# f(5, 10) => record, hit exit
# f(5, 100) => hit exit
def g(x, n):
    total = 0.0
    for i in range(n):
        total += x * i
    return total, x
def f(x, n):
    first = g(x + 0.5, n)
    return first, x


# program: closed_inlined_raises
# limits: loops=1
# f([1, 2, 4]) => record, hit exit
# f([1, 2, 4, 0]) => hit exit
def g(items):
    total = 0
    for item in items:
        total += 100 // item
    return total
def f(items):
    try:
        return g(items)
    except ZeroDivisionError as error:
        return error.__traceback__.tb_lineno, error.__traceback__.tb_next.tb_lineno


# program: closed_calls_inside
# limits: loops=1
# note: the callee is part of each round
# f(6) => record, hit
# f(60) => hit record hit exit
def square(x):
    return x * x
def f(n):
    total = 0
    for i in range(n):
        total += square(i)
    return total


# program: closed_nested
# limits: loops=1
# note: the inner loop closes the trace, the rest of the outer one runs eagerly
# f(5) => record record, hit record (hit exit)*2
# f(2) => hit stitch exit hit exit
def f(n):
    total = 0
    for i in range(n):
        for j in range(n):
            total += i ^ j
    return total


# program: closed_nested_short
# limits: loops=1
# note: inner loops of one round never close: the outer one does
# f(6) => record, hit record
def f(n):
    total = 0
    for i in range(n):
        for j in (i,):
            total += j
    return total


# program: closed_two_loops
# limits: loops=1
# f(6) => record, hit
def f(n):
    total = 0
    for i in range(n):
        total += i
    for i in range(n):
        total *= 2
    return total


# program: closed_generator_consumed
# limits: loops=1
# f(6) => record, hit
# f(60) => hit record hit exit
def numbers(n):
    for i in range(n):
        yield i * 2
def f(n):
    total = 0
    for number in numbers(n):
        total += number
    return total


# program: closed_in_generator
# limits: loops=1
# trace: g
# f(6) => record record, hit exit hit
def g(n):
    total = 0
    for i in range(n):
        total += i
    yield total
def f(n):
    return list(g(n))


# program: closed_condition_of_bools
# limits: loops=1
# f([1, 2, 1, 2, 3, 4]) => record, hit
# f([1, 2, 1]) => hit
def f(items):
    found = False
    i = 0
    while not found and i < len(items):
        found = items[i] == 3
        i += 1
    return found, i


# program: closed_unbound_in_between
# limits: loops=1
# f(6) => record, hit
def f(n):
    for i in range(n):
        x = i
        del x
    try:
        return x
    except UnboundLocalError:
        return i


# program: closed_float_corners
# limits: loops=1
# f([1.0, 2.0, 3.0]) => record, hit
# f([float("nan"), float("inf"), -0.0, 0.0]) => hit exit
def f(items):
    seen = 0
    least = 1e300
    for item in items:
        least = least - item * 1e308
        seen += 1 if item != item else 2
    return repr(least), seen, [repr(-item) for item in items]


# program: closed_int_operators
# limits: loops=1
# f(20, 3) => record record hit exit, hit stitch exit
# f(20, -3) => hit stitch exit
# f(20, 0) => hit exit
def f(n, by):
    a = b = c = d = 0
    e = 0.0
    for i in range(-n, n):
        a += i // by
        b += i % by
        c = (c << 1 ^ i) & 0xFFFFFF
        d = (d | i) >> 1
        e += i / by
    return a, b, c, d, e


# program: closed_cells
# limits: loops=1
# f(6) => record, hit
def f(n):
    total = 0
    functions = []
    for i in range(n):
        total += i
        functions.append(lambda: total)
    return total, functions[0]()


# program: closed_globals
# limits: loops=1
# do count = 0
# f(6) => record, hit
# do print(count)
def f(n):
    global count
    for i in range(n):
        count += i
    return count


# program: closed_attributes
# limits: loops=1
# f(6) => record, hit
class Point:
    def __init__(self, x):
        self.x = x
def f(n):
    point = Point(0.5)
    for i in range(n):
        point.x += i
    return point.x


# program: closed_handled_exception
# limits: loops=1
# f(6) => record, hit exit
import sys
def f(n):
    total = 0
    try:
        raise KeyError("outer")
    except KeyError:
        for i in range(n):
            total += i
        return total, repr(sys.exc_info()[1])


# program: closed_watched
# limits: loops=1
# note: a trace function that is switched on in the middle sees the rest of the lines
# do lines = []
# f(6) => record, hit
# do print(lines)
import sys
def watch(frame, event, argument):
    lines.append((event, frame.f_lineno, frame.f_code.co_name))
    return watch
def start(i):
    if i == 4:
        sys._getframe(1).f_trace = watch
        sys.settrace(watch)
def f(n):
    total = 0
    for i in range(n):
        start(i)
        total += i
        total += 1
    sys.settrace(None)
    return total


# program: closed_finaliser_looks
# limits: loops=1
# note: who dies may look at a frame that is real, and finds the numbers of that moment
# do log = []
# f(6) => record, hit
# f(9) => hit record hit exit
# do print(log)
import sys
class Dying:
    def __del__(self):
        frame = sys._getframe(1)
        log.append((frame.f_code.co_name, frame.f_locals.get("i"), frame.f_locals.get("total"), frame.f_locals.get("half")))
def f(n):
    total = 0
    half = 0.5
    for i in range(n):
        total += i
        thing = Dying()
        half *= 2.0
        total += 1
    return total, half


# program: closed_temporary_dies
# limits: loops=1
# do log = []
# f(6) => record, hit
# do print(log)
import sys
class Dying:
    def __del__(self):
        frame = sys._getframe(1)
        log.append((frame.f_code.co_name, frame.f_locals.get("i"), frame.f_locals.get("total")))
def make(number):
    return Dying()
def f(n):
    total = 0
    for i in range(n):
        total += i
        make(i)
        total += 1
    return total


# program: closed_items_die
# limits: loops=1
# do log = []
# f(6) => record, hit
# do print(log)
import sys
class Dying:
    def __init__(self, value):
        self.value = value
    def __del__(self):
        frame = sys._getframe(1)
        log.append((frame.f_code.co_name, frame.f_locals.get("total")))
def f(n):
    total = 0
    for thing in map(Dying, range(n)):
        total += thing.value
        total += 1
    return total


# program: closed_generator_keeps_numbers
# limits: loops=1
# note: a suspended generator has its numbers as objects
# f(6) => record, hit
# f(60) => hit record hit exit
def g(n):
    a = k = 0
    half = 1.5
    while a < n:
        a += 1
        k += 2
        half *= 0.5
        yield a * k + half
def f(n):
    total = 0.0
    for x in g(n):
        total += x
    return total


# program: closed_guard_behind_open_loop
# limits: loops=1
# note: what a loop that never closes relies on is guarded in front of it, not only behind
# do log = []
# f(3) => record, hit
# f(Odd(3)) => miss record
# do print(log)
import sys
class Odd:
    def __init__(self, value):
        self.value = value
    def __radd__(self, other):
        frame = sys._getframe(1)
        log.append((frame.f_code.co_name, frame.f_lineno, frame.f_locals.get("i")))
        return other + self.value
def g(x):
    i = 0
    while i < 4:
        i += x
    return i
def f(x):
    log.append("start")
    total = g(x)
    return total + x


# program: closed_strings_carried
# limits: loops=1
# f(["a", "b", "c"]) => record, hit
# f(["a", "b", "c", 1.5]) => hit
def f(items):
    last = None
    count = 0
    for item in items:
        same = item is last
        last = item
        count += 1 if not same else 10
    return last, count


# program: closed_mixed_items
# limits: loops=1
# note: an item of another type leaves, with its variable bound to it
# f([1.5, 2.5, 3.5, 4.5]) => record, hit
# f([1.5, 2.5, 3.5, "x"]) => hit
# f([1.5, 2.5, None, 4.5]) => hit
def f(items):
    total = 0.0
    try:
        for item in items:
            total += item * 2.0
    except TypeError as error:
        return total, item, str(error)
    return total, item


# program: closed_number_dies_with_an_object
# limits: loops=1
# note: who looks when the list dies gets an object of the number, which must not be that of the next round
# f(3) => record
# f(9) => hit, hit record hit exit
def f(n):
    kept = []
    for i in range(n):
        kept.append((i + 0.5) in [0.5 + i])
    return kept


# program: closed_list_dies_at_its_end
# limits: loops=1
# note: a list that only its iterator holds dies inside of the FOR_ITER that finds its end
# f(3) => record, hit
# f(5) => hit, hit record hit exit
import sys
log = []
class Noisy:
    def __del__(self):
        frame = sys._getframe(1)
        log.append((frame.f_lineno - frame.f_code.co_firstlineno, frame.f_locals["total"], frame.f_locals["k"]))
def make(n):
    return list(map(lambda i: [Noisy()], range(n)))
def f(n):
    log.clear()
    total = k = 0
    for x in make(n):
        total += n
        k += 1
    total -= 1
    return total, list(log)


# program: closed_large_items
# note: ints of one digit, of two, of more, and those that fit no machine word
# limits: loops=1
# f([0, 1, -1, 2**30 - 1, 2**30, -2**30, -2**30 - 1, 2**59 + 5, -2**60 + 1, 2**60 - 1, 2**60, -2**60, 2**62, -2**63] * 3) => record record hit exit, hit stitch exit, hit stitch exit
# f([2**31, 2**63, -2**63 - 1, 2**90, 5] * 4) => hit stitch exit (hit exit miss)*8 (hit exit)*2 (miss hit exit)*7 miss record, hit stitch (exit hit)*2 exit miss (hit exit)*3 miss (hit exit)*2 miss (hit exit)*2 miss (hit exit)*2 miss (hit exit)*2 miss (hit exit)*3 miss (hit exit)*3 miss (hit exit)*2 miss (hit exit)*2 miss (hit exit)*2 miss (hit exit)*2 miss hit exit
def f(values):
    mixed = 0
    for k in range(len(values)):
        item = values[k]
        mixed ^= item
        mixed ^= item >> 3
    return mixed


# program: closed_inside_of_a_trace
# note: the loop begins in the middle of the function's own trace, which goes round there
# limits: loops=1, heat=2, grow_after=2
# f(b"abcdef" * 20, [2**31 + k for k in range(8)]) => record record hit exit, hit stitch exit bridge, hit grow stitch exit stitch, hit exit stitch, hit exit grow stitch, hit
def f(data, table):
    state = 1
    for byte in data:
        state = (state >> 1) ^ table[(state ^ byte) & 7]
    return state ^ 5
