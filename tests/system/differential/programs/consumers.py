"""Generators that C code consumes: what becomes of their items is in the graph of the frame that called it."""
# fmt: off
# ruff: noqa: C400, C401, C402, C404, C409, C416, C417, C419, E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118, B006, B007, B012, B023, B026, B904, RUF005, RUF015, PERF, FURB


# program: sum_of_a_generator_expression
# trace: all
# f([1, 2, 3]) => record, hit
# f([1.5, 2, 3]) => hit, hit
# f([1, 2]) => hit exit, hit exit
def f(data):
    return sum(x * x for x in data)


# program: sum_of_other_types
# trace: all
# f([1, 2, 3]) => record, hit
# f([True, 2.5, 10**30]) => hit, hit
# f([2**62, 2**62, 2**62]) => hit, hit
# f([-0.0, -0.0, 0.0]) => hit, hit
# f([1, "a", 2]) => hit exit, hit exit
# f([[1], [2], [3]]) => hit exit, hit exit
# f([1, 2, 3, 4]) => record hit exit, hit hit exit
# f([]) => hit exit, hit exit
def f(data):
    try:
        return sum(x for x in data)
    except TypeError as error:
        return str(error)


# program: sum_with_a_start
# trace: all
# f([1, 2, 3], 10) => record, hit
# f([1, 2], 0.5) => hit exit record record hit exit record record hit exit, hit exit hit hit hit exit hit hit hit exit
# f([[1], [2]], []) => hit exit hit hit hit exit hit hit hit exit, hit exit hit hit hit exit hit hit hit exit
# f(["a"], "") => hit exit, hit exit
def f(data, start):
    try:
        return sum((x for x in data), start), sum((x for x in data), start=start)
    except TypeError as error:
        return str(error)


# program: collected_into_containers
# trace: all
# f(3) => record, hit
# f(5) => record hit exit hit exit record hit hit hit hit hit exit hit hit hit hit hit hit exit hit hit hit hit hit hit exit, hit hit exit hit exit hit hit hit hit hit hit exit hit hit hit hit hit hit exit hit hit hit hit hit hit exit
# f(0) => hit exit hit exit hit exit hit exit, hit exit hit exit hit exit hit exit
import sys


def g(n):
    for i in range(n):
        yield i * 10


def f(n):
    out = []
    for kind in (list, tuple, set, frozenset):
        made = kind(g(n))
        out.append((made, type(made)))
    return out


# program: capacity_of_a_list
# trace: all
# f(0) => record, hit
# f(1) => record hit exit record record record record record record record, hit hit exit hit hit hit hit hit hit hit
# f(3) => hit exit hit exit hit hit exit hit hit exit hit exit hit hit hit exit hit exit hit hit hit exit hit exit hit hit, hit exit hit exit hit hit exit hit hit exit hit exit hit hit hit exit hit exit hit hit hit exit hit exit hit hit
# f(9) => hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit hit exit hit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit hit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit hit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit hit, hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit hit exit hit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit hit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit hit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit exit hit hit
# h(2) => record, hit
# h(20) => record hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit exit hit exit record hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit exit, hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit exit hit exit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit exit
import sys


def f(n):
    a = list(x for x in range(n))
    b = [*(x for x in range(n))]
    c = sorted(-x for x in range(n))
    d = [1, 2]
    d.extend(x for x in range(n))
    return [(made, sys.getsizeof(made)) for made in (a, b, c, d)]


def h(n):
    d = []
    for i in range(3):
        d.extend(x for x in range(n))
        d.append(i)
    return d, sys.getsizeof(d)


# program: dict_of_pairs
# trace: all
# f([(1, 2), (3, 4)]) => record, hit
# f([(1, 2), (1, 5)]) => hit, hit
# f([(1, 2), [3, 4]]) => record hit exit, hit hit exit
# f([(1, 2), "ab"]) => hit hit exit, hit hit exit
# f([(1, 2), 7]) => hit exit, hit exit
# f([(1, 2), (1, 2, 3)]) => hit exit, hit exit
# f([(1, 2), ([], 2)]) => hit exit, hit exit
def f(pairs):
    try:
        return dict(pair for pair in pairs)
    except Exception as error:
        return type(error), str(error)


# program: any_and_all
# trace: all
# f([0, 0, 3, 4]) => record, hit
# f([0, 0, "a", 4]) => hit, hit
# f([0, 1]) => hit exit record record, hit exit hit hit
# f([]) => hit exit hit exit, hit exit hit exit
def f(data):
    it = (print("item", x) or x for x in data)
    rest = any(it)
    return rest, all(x for x in data), list(it)


# program: truth_is_asked_for_once
# trace: all
# f([0, 0, 1]) => record hit hit hit record, hit hit hit hit hit
# f([0, 1, 1]) => hit hit hit exit record hit, hit hit hit exit hit hit
# f([0, 0, 0]) => hit hit hit record hit exit hit hit, hit hit hit hit hit exit hit hit
# f([0, None, 0]) => hit hit exit hit exit, hit hit exit hit exit
class Item:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        print("asked", self.value)
        if self.value is None:
            raise KeyError("none")
        return self.value != 0


def f(data):
    items = [Item(x) for x in data]
    try:
        return any(x for x in items), all(x for x in items)
    except KeyError as error:
        return str(error)


# program: smallest_and_largest
# trace: all
# f([3, 1, 2]) => record, hit
# f([1, 2, 3]) => hit, hit
# f([1.5, 1.5, float("nan")]) => hit, hit
# f(["b", "a", "c"]) => hit, hit
# f([1, "a", 2]) => hit exit, hit exit
# f([]) => hit exit, hit exit
# f([7]) => hit exit record record, hit exit hit hit
def f(data):
    try:
        return min(x for x in data), max(x for x in data)
    except (TypeError, ValueError) as error:
        return str(error)


# program: smallest_with_key_and_default
# trace: all
# f([3, -1, 2]) => record hit hit hit hit hit record, hit hit hit hit hit hit hit
# f([-5, 4, 3]) => hit hit hit hit hit hit hit, hit hit hit hit hit hit hit
# f([]) => hit exit record record, hit exit hit hit
def key(x):
    print("key", x)
    return x * x


def f(data):
    return (
        min((x for x in data), key=key, default="none"),
        max((x for x in data), default="none", key=key),
        max((x for x in data), default="none"),
    )


# program: sorted_with_key
# trace: all
# f([3, 1, 2]) => record hit hit record, hit hit hit hit
# f(["b", "c", "a"]) => hit hit hit hit, hit hit hit hit
# f([1, "a", 2]) => hit exit, hit exit
def f(data):
    try:
        return sorted(x for x in data), sorted((x for x in data), reverse=True), sorted((x for x in data), key=lambda x: (x, 1))
    except TypeError as error:
        return str(error)


# program: joined
# trace: all
# f(["a", "b"]) => record, hit
# f(["a", "bcd"]) => hit, hit
# f(["a", 1]) => hit exit, hit exit
# f(["a"]) => hit exit record record, hit exit hit hit
def f(data):
    try:
        return ", ".join(x for x in data), b"-".join(x.encode() for x in data)
    except TypeError as error:
        return str(error)


# program: filled
# trace: all
# f([1, 2]) => record, hit
# f([1, 1]) => hit, hit
# f([1, []]) => hit exit, hit exit
# f([1, 2, 3]) => record hit exit record record hit hit exit record record hit hit exit record record hit hit exit record record hit hit exit, hit hit exit hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit hit hit hit exit
def f(data):
    a, b, c = [0], {0}, {0: 0}
    try:
        a.extend(x for x in data)
        b.update(x for x in data)
        c.update((x, x) for x in data)
        d = {*(x for x in data)}
        e = (*(x for x in data), 5)
    except TypeError as error:
        return a, b, c, str(error)
    return a, b, c, d, e


# program: unpacked
# trace: all
# f(2) => record, hit
# f(1) => hit exit, hit exit
# f(3) => hit exit, hit exit
def g(n):
    try:
        for i in range(n):
            yield [i]
    finally:
        print("finally", n)


def f(n):
    try:
        a, b = g(n)
    except ValueError as error:
        return str(error)
    return a, b


# program: next_item
# trace: all
# f(3) => record, hit
# f(0) => hit exit, hit exit
# f(1) => hit exit, hit exit
def g(n):
    for i in range(n):
        got = yield i
        print("got", got)
    return "end"


def f(n):
    it = g(n)
    try:
        first = next(it)
        second = next(it, "none")
        sent = it.send("sent")
    except StopIteration as error:
        return error.value, error.args
    it.close()
    return first, second, sent, next(it, "closed")


# program: next_that_raises
# trace: all
# f([1]) => record, hit
# f([]) => hit exit, hit exit
def f(data):
    it = (x for x in data)
    out = [next(it, None)]
    try:
        next(it)
    except StopIteration as error:
        out.append((error.args, error.__traceback__.tb_lineno, error.__traceback__.tb_next))
    return out


# program: consumed_body_raises
# trace: all
# f([1, 2]) => record, hit
# f([1, 0]) => hit exit record record hit hit hit hit, hit exit hit hit hit hit hit hit
# f([0, 1]) => hit exit hit exit hit exit hit exit, hit exit hit exit hit exit hit exit
def g(items):
    for x in items:
        yield 6 // x


def f(items):
    out = []
    for consume in (sum, list, max, set):
        try:
            out.append(consume(g(items)))
        except ZeroDivisionError as error:
            tb = error.__traceback__
            while tb:
                out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
                tb = tb.tb_next
    return out


# program: consumed_body_raises_stop_iteration
# trace: all
# f(1) => record, hit
# f(0) => hit exit, hit exit
def g(n):
    yield 1
    if not n:
        raise StopIteration("no")
    yield 2


def f(n):
    try:
        return list(g(n))
    except RuntimeError as error:
        return str(error), repr(error.__cause__)


# program: consumed_and_left_in_the_middle
# trace: all
# f([1, 2, 3]) => record, hit
# f([1, "a", 3]) => record hit exit hit exit record hit exit hit hit exit hit hit exit hit hit exit hit hit exit hit hit exit hit hit exit hit hit exit record record hit exit, hit hit exit hit exit hit hit exit hit hit exit hit hit exit hit hit exit hit hit exit hit hit exit hit hit exit hit hit exit hit hit hit exit
# f([1, 2, "c"]) => hit exit hit exit hit hit hit exit hit exit hit hit hit exit hit exit hit hit hit exit hit exit hit hit hit exit hit exit hit hit exit hit hit exit, hit exit hit exit hit hit hit exit hit exit hit hit hit exit hit exit hit hit hit exit hit exit hit hit hit exit hit exit hit hit exit hit hit exit
def g(items):
    print("start")
    for x in items:
        if isinstance(x, int):
            y = x + 1
        else:
            print("other")
            y = 0
        yield y
        print("after", x)
    print("end")


def f(items):
    return sum(g(items)), list(g(items)), tuple(g(items)), set(g(items)), min(g(items)), any(y > 3 for y in g(items))


# program: nested_generator_expressions
# trace: all
# f([[1, 2], [3, 4]]) => record, hit
# f([[1, 2], [3, "a"]]) => hit exit, hit exit
# f([[1], [2, 3]]) => record hit exit hit exit record record hit exit, hit hit exit hit exit hit hit hit exit
def f(rows):
    try:
        return sum(sum(x * x for x in row) for row in rows), list(tuple(x for x in row) for row in rows)
    except TypeError as error:
        return str(error)


# program: generator_over_generator
# trace: all
# f(4) => record, hit
# f(2) => hit exit, hit exit
def g(n):
    for i in range(n):
        yield i


def f(n):
    factor = n
    return sum(x * factor for x in (y + 1 for y in g(n)))


# program: beyond_the_limit
# trace: all
# limits: unroll=3
# f(10) => record stop:unroll_limit record hit hit hit hit hit hit exit record hit hit hit hit hit hit hit hit hit hit exit, hit hit hit hit hit hit hit exit hit exit hit hit hit hit hit hit hit hit hit hit hit exit
# f(2) => hit exit hit hit hit exit, hit exit hit hit hit exit
def g(n):
    for i in range(n):
        yield i


def f(n):
    return sum(g(n)), list(g(n))


# program: operators_of_classes
# trace: all
# f(3) => record record record hit hit record hit record hit hit record hit hit hit hit hit hit record, hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit
# f(4) => hit hit hit hit hit record hit hit record hit exit record record hit hit hit hit hit hit exit record hit record hit hit hit hit hit hit hit hit exit hit hit hit record hit record hit hit hit hit hit hit hit hit exit, hit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit hit hit hit exit hit hit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit hit hit hit hit hit hit hit hit hit exit
class Number:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        print("add", self.value, other)
        return Number(self.value + other.value)

    def __radd__(self, other):
        print("radd", self.value, other)
        return self

    def __lt__(self, other):
        print("lt")
        return self.value < other.value

    def __hash__(self):
        print("hash", self.value)
        return self.value % 2

    def __eq__(self, other):
        print("eq", self.value, other.value)
        return self.value == other.value

    def __repr__(self):
        return f"Number({self.value})"


def f(n):
    return (
        sum(Number(i) for i in range(n)),
        min(Number(-i) for i in range(n)),
        sorted(set(Number(i) for i in range(n))),
        dict((Number(i), i) for i in range(n)),
    )


# program: frames_seen_by_a_consumer
# trace: all
# f(2) => record, hit
# f(3) => record record hit exit record, hit hit hit exit hit
import sys


def stack():
    frame, out = sys._getframe(1), []
    while frame and frame.f_code.co_filename == here:
        out.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
        frame = frame.f_back
    return out


here = stack.__code__.co_filename


def g(n):
    for i in range(n):
        x = stack()
        yield x


def f(n):
    a = list(g(n))
    b = next(
        g(n),
    )
    return a, b


# program: state_seen_by_a_consumer
# trace: all
# f(2) => record, hit
import inspect


def g(n):
    for i in range(n):
        look()
        yield i


def look():
    seen.append((inspect.getgeneratorstate(it), it.gi_running, it.gi_frame.f_lineno, dict(it.gi_frame.f_locals)))


def f(n):
    global it, seen
    seen = []
    it = g(n)
    total = sum(it)
    return total, seen, inspect.getgeneratorstate(it), it.gi_frame


# program: items_die
# trace: all
# f(3) => record record hit hit hit hit record hit hit hit hit record hit hit hit hit hit hit hit hit hit hit hit hit hit record hit record hit hit hit hit hit hit hit record hit hit hit, hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit
# f(4) => hit hit hit hit hit hit hit hit hit hit record hit hit record hit exit hit record hit hit exit hit hit hit hit hit hit exit hit hit hit hit hit hit exit hit hit hit hit hit hit hit hit hit hit exit hit hit exit hit hit exit hit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit hit record record hit hit exit hit hit hit hit hit, hit hit hit hit hit hit hit hit hit hit hit hit hit hit hit exit hit hit hit hit exit hit hit hit hit hit hit exit hit hit hit hit hit hit exit hit hit hit hit hit hit hit hit hit hit exit hit hit exit hit hit exit hit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit hit hit hit hit hit exit hit hit hit hit hit
import weakref


class Item:
    def __init__(self, value):
        self.value = value

    def __del__(self):
        print("del", self.value)

    def __lt__(self, other):
        return self.value < other.value

    def __bool__(self):
        return self.value > 1

    def __add__(self, other):
        return Item(self.value + other.value)

    def __radd__(self, other):
        return Item(self.value + 100)


def g(n):
    for i in range(n):
        yield Item(i)
        print("went on")


def f(n):
    print("any")
    any(g(n))
    print("min")
    best = min(g(n)).value
    print("max")
    best += max(g(n), key=lambda item: Item(-item.value)).value
    print("list")
    kept = list(g(n))
    ref = weakref.ref(kept[0])
    del kept
    print("sum")
    total = sum(g(n)).value
    print("unpack")
    a, b, c = (Item(x) for x in range(3))
    print("next")
    next(g(n))
    return ref() is None, best, total


# program: items_die_when_left
# trace: all
# f([1, 2, 3]) => record hit hit hit hit hit record hit hit hit hit hit record, hit hit hit hit hit hit hit hit hit hit hit hit hit
# f([1, 2, None]) => hit hit hit exit record record hit exit hit hit hit hit hit hit hit exit hit hit, hit hit hit exit hit hit hit exit hit hit hit hit hit hit hit exit hit hit
class Item:
    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return self.value

    def __del__(self):
        print("del", self.value)


def g(items):
    for x in items:
        yield Item(x + 1)


def f(items):
    out = []
    for kind in (list, tuple, set):
        try:
            out.append(len(kind(g(items))))
        except TypeError:
            out.append("raised")
            print("caught")
    return out


# program: the_generator_is_resumed_by_others
# trace: all
# f(4) => record hit record, hit hit hit
def g(n):
    for i in range(n):
        yield Other(i)


class Other:
    def __init__(self, value):
        self.value = value

    def __radd__(self, other):
        return other + self.value + next(it, Other(0)).value

    def __repr__(self):
        return f"Other({self.value})"


def f(n):
    global it
    it = g(n)
    return sum(it)


# program: the_generator_is_closed_by_others
# trace: all
# f(4) => record record, hit hit exit
def g(n):
    try:
        for i in range(n):
            yield Closing(i)
    finally:
        print("closed")


class Closing:
    def __init__(self, value):
        self.value = value

    def __radd__(self, other):
        it.close()
        return other + self.value


def f(n):
    global it
    it = g(n)
    return sum(it)


# program: the_body_resumes_itself
# trace: all
# f(2) => record, hit exit
def g(n):
    for i in range(n):
        try:
            next(it)
        except ValueError as error:
            yield str(error)


def f(n):
    global it
    it = g(n)
    return list(it)


# program: a_list_grows_and_shrinks_meanwhile
# trace: all
# f(3) => record, hit
# f(12) => record hit exit hit exit hit hit exit hit exit hit hit exit hit exit hit exit, hit hit exit hit exit hit hit exit hit exit hit hit exit hit exit hit exit
import sys


def g(n, target):
    for i in range(n):
        print(target, sys.getsizeof(target))
        if i % 3 == 1:
            target.clear()
        yield i


def f(n):
    target = [7]
    target.extend(g(n, target))
    return target, sys.getsizeof(target)


# program: consumers_are_replaced
# trace: all
# f([1, 2]) => record, hit
# do sum = len
# do len = max
# f([1, 2]) => hit exit, hit exit
# do del sum
# f([1, 2]) => hit, hit
def f(data):
    try:
        return sum(x for x in data)
    except TypeError as error:
        return str(error)


# program: consumed_in_a_generator
# trace: all
# f(3) => record, hit
def g(n):
    yield sum(x for x in range(n))
    yield list(x for x in range(n))


def f(n):
    out = []
    for x in g(n):
        out.append(x)
    return out


# program: consumed_with_a_generator_that_has_begun
# trace: all
# f(4) => record, hit
# f(2) => hit exit, hit exit
def g(n):
    for i in range(n):
        yield i


def f(n):
    it = g(n)
    next(it)
    return list(it), list(it), sum(it)


# program: sum_of_nothing_makes_a_number
# trace: all
# f([1], 10**6) => record, hit
# f([], 10**6) => hit exit, hit exit
# f([], 1.5) => hit exit record, hit exit hit
# f([], 10**30) => hit exit, hit exit
def f(data, start):
    total = sum((x for x in data), start)
    return total, total is start


# program: unpacked_items_die_from_the_last
# trace: all
# f(2) => record hit record, hit hit hit
# f(3) => record hit hit hit hit exit, hit hit hit hit hit exit
# f(1) => hit hit exit, hit hit exit
died = []


class Item:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        died.append(self.name)


def g(n):
    for i in range(n):
        yield Item(i)


def f(n):
    del died[:]
    try:
        a, b = g(n)
        names = a.name, b.name
        del a, b
    except ValueError as error:
        names = str(error)
    return names, died[:]


# program: key_function_takes_an_item
# trace: all
# f([1, 2, 3, 4]) => record, record hit hit exit record record hit hit hit exit
# f([1, 2, 3, 4, 5, 6]) => hit hit hit hit exit hit hit hit hit hit hit hit exit, hit hit hit hit exit hit hit hit hit hit hit hit exit
# f([1, 2, 3]) => hit hit exit hit exit hit hit hit hit exit, hit hit exit hit exit hit hit hit hit exit
# f([]) => hit exit hit exit, hit exit hit exit
from functools import partial


def f(data):
    it = (x for x in data)
    first = min(it, key=partial(next, it), default=None)
    it = (x for x in data)
    return first, max(it, key=partial(next, it), default=None), list(it)


# program: arguments_from_a_generator
# trace: all
# f([1, 2, 3]) => record record hit hit exit record hit hit hit hit exit record hit hit hit hit exit hit hit record, hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit
# f([4, 5, 6]) => hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit, hit hit hit hit exit hit hit hit hit hit exit hit hit hit hit hit exit hit hit hit
# f([1, 2]) => hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit hit hit, hit hit hit exit hit hit hit hit exit hit hit hit hit exit hit hit hit
def g(data):
    for x in data:
        yield x


def h(*rest, **named):
    return rest, named


def k(a, b, c=3):
    return a, b, c


def f(data):
    return h(*g(data)), k(*g(data)), h(*g(data), **{"a": 1}), h(*[1], **{"a": 2})
