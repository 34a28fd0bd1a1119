"""Lists, dicts, sets, slices, unpacking, star expressions, strings and f-strings."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: list_operations
# f([3, 1, 2]) => record, hit
# f([9, 8]) => hit
def f(x):
    x.append(4)
    x.insert(0, x.pop())
    x.extend((5, 6))
    x.sort()
    x[0] = "first"
    x[-1:] = ["l", "a"]
    del x[1]
    return x, x * 2, x + [0], x[::-1], x.index("l"), x.copy() is x


# program: slices
# f([1, 2, 3, 4, 5], 1, 3) => record, hit
# f("abcdef", 0, 2) => hit
# f((1, 2), -5, None) => hit
def f(x, a, b):
    return x[a:b], x[a:], x[:b], x[:], x[a:b:2], x[::-1], slice(a, b), x[-1]


# program: slice_assignment
# f([1, 2, 3, 4]) => record, hit
# f([5, 6]) => hit
# f((1, 2)) => hit exit
def f(x):
    x[1:2] = "ab"
    x[::2] = [0] * len(x[::2])
    del x[1:2]
    x[0:0] = x
    return x


# program: dict_operations
# f({"a": 1, "b": 2}) => record, hit
# f({"a": 5}) => hit
# f({}) => hit exit
def f(d):
    d["c"] = 3
    first = d.pop("a")
    d.setdefault("z", []).append(first)
    d.update(q=1)
    d |= {"r": 2}
    del d["c"]
    return d, {**d, "k": 0}, {"x": first, **d}, list(d), "q" in d, d.get("nope"), {1: d} | {2: 3}


# program: sets
# f({1, 2, 3}, {2, 3, 4}) => record, hit
# f({5}, set()) => hit exit
def f(a, b):
    c = {1, 2, *a}
    c.add(9)
    c.discard(1)
    return a | b, a & b, a - b, a ^ b, a <= b, c, frozenset(a), {x for x in b}


# program: constant_displays
# f() => record, hit, hit
def f():
    a = [1, 2, 3, 4]
    b = {1, 2, 3}
    c = {"k": 1, "l": 2}
    d = (1, (2, 3), frozenset({4}))
    a.append(b)
    b.add(c["k"])
    return a, b, c, d, [], {}, (), {"a", "b", "c"} == b


# program: unpacking
# f([1, 2, 3]) => record, hit
# f("abc") => hit
# f((1, 2)) => hit exit
# f([1, 2, 3, 4]) => hit exit
# f({4: 0, 5: 0, 6: 0}) => hit
# f(5) => hit exit
def f(x):
    a, b, c = x
    return c, b, a


# program: unpacking_nested_and_starred
# f([(1, 2), 3, 4, 5]) => record, hit
# f([(1, 2), 3]) => hit
# f(["ab", 9, 9]) => hit
# f([(1, 2)]) => hit exit
def f(x):
    (a, b), *rest, last = x
    *init, tail = x
    head, *more = x
    return a, b, rest, last, init, tail, head, more


# program: swap_and_rotate
# f(1, 2, 3) => record, hit
# f("a", [], None) => hit
def f(a, b, c):
    a, b = b, a
    a, b, c = c, a, b
    x = y = [a]
    return a, b, c, x is y


# program: unpacking_targets
# note: the order of evaluation of subscripts and attributes as targets
# f([0, 0, 0], (1, 2)) => record, hit
# f([5, 5, 5, 5], [3, 4]) => hit
# f([], (0, 1)) => hit exit
def index(i):
    print("index", i)
    return i


def f(x, y):
    x[index(0)], x[index(1)] = y
    i, x[i] = y[0] - y[0] + 2, "two"
    return x, i


# program: unpacking_an_iterator_written_in_python
# f(3) => record, hit
# f(2) => hit exit
# f(4) => hit exit
class Numbers:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in range(self.n):
            print("yield", i)
            yield i


def f(n):
    a, b, c = Numbers(n)
    return a + b + c


# program: star_expressions
# f([1, 2], "ab", {"k": 1}) => record, hit
# f((), [], {}) => hit
# f(5, "", {}) => hit exit
def f(a, b, c):
    return [*a, 0, *b], (*a, *b), {*a, *b}, {**c, **c}, [*c, *c.values()]


# program: membership_and_counting
# f([1, 2, 2, 3]) => record, hit
# f([2]) => hit
def f(x):
    counts = {}
    counts[x[0]] = counts.get(x[0], 0) + 1
    return x.count(2), 2 in x, counts, x == [2], x != [2], [] < x


# program: default_and_ordered_dicts
# f("hello") => record, hit
# f("world") => hit
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

Point = namedtuple("Point", "x y")


def f(s):
    groups = defaultdict(list)
    groups[s[0]].append(s)
    groups["new"]
    p = Point(len(s), y=2)
    q = deque(s, maxlen=3)
    q.append("!")
    return groups, Counter(s), OrderedDict(a=1), p, p._replace(x=0), p.x + p.y, q


# program: dict_with_missing
# f(Upper(a=1)) => record, hit
# f(Upper()) => hit
class Upper(dict):
    def __missing__(self, key):
        print("missing", key)
        return key.upper()


def f(d):
    return d["a"], d["b"], d.get("c")


# program: bytes_and_bytearrays
# f(b"abc") => record, hit
# f(b"\x00\xff1") => hit
def f(b):
    a = bytearray(b)
    a[0] = 65
    a += b"!"
    return b[0], b[1:], a, bytes(a), b.hex(), memoryview(b)[1], b + b"x", b % () if b == b"" else None


# program: f_strings
# f(3, 2.5) => record, hit
# f(4, -1.25) => hit
# f("x", 3) => hit exit
def f(a, b):
    return f"{a}", f"{a!r:>5}|{b:8.3f}|{a!s}", f"{a=} {b!a}", f"{'lit'}{a}{{}}", f"{b:{6}.{2}}", f"{a}" f"{b}"


# program: format_errors
# f(3.5) => record, hit
# f("s") => hit exit
# f(None) => hit exit
def f(x):
    try:
        return f"<{x:.2f}>"
    except (ValueError, TypeError) as error:
        return error


# program: format_calls_python
# f(Shown(1)) => record, hit
# f(Shown("x")) => hit
class Shown:
    def __init__(self, v):
        self.v = v

    def __format__(self, spec):
        print("format", spec)
        return f"[{self.v}:{spec}]"

    def __repr__(self):
        return "R"

    def __str__(self):
        return "S"


def f(x):
    return f"{x:abc} {x!r} {x!s} {x}", "%s %r" % (x, x), "{0:q} {0!r}".format(x), str(x) + repr(x)


# program: string_methods
# f("Hello, World") => record, hit
# f("a,b") => hit
# f("") => hit
def f(s):
    return (s.lower(), s.split(","), s.find("o"), s.partition(","), s.encode(), s.title(), s * 2, s[:3], s.isalpha(),
            ",".join(sorted(s)), "%-5s|%d" % (s, len(s)), s.translate({ord("o"): "0"}), s == "a,b", s < "m", "b" in s)


# program: string_building_in_place
# f(["a", "b"]) => record, hit
# f(["c", "d"]) => hit
# f(["c", 5]) => hit exit
def f(parts):
    out = ""
    for p in parts:
        out += p
        out += "-"
    return out


# program: tuples_and_comparison_of_containers
# f((1, 2), (1, 3)) => record, hit
# f((2,), (1, 3)) => hit
# f((1, "a"), (1, 3)) => hit exit
def f(a, b):
    return a < b, a == b, max(a, b), a + b, (a, b)[a > b], hash(a) == hash(b)


# program: delete_items_and_names
# f({"k": 1, "l": 2}, [1, 2]) => record, hit
# f({"k": 5}, [1]) => hit
# f({}, [1]) => hit exit
def f(d, x):
    del d["k"], x[0]
    y = x
    del x
    return d, y


# program: large_displays
# f(1) => record, hit
# f("z") => hit
def f(x):
    a = [x, x, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, x]
    b = {0: x, 1: x, 2: x, 3: x, 4: x, 5: x, 6: x, 7: x, 8: x, 9: x, 10: x, 11: x, 12: x, 13: x, 14: x, 15: x, 16: x,
         17: x, 18: x, 19: x}
    return a, b, (x, *a, *b), {x, 1, 2}


# program: annotated_assignments
# f(3) => record, hit
# f("s") => hit
def f(x):
    a: int = x
    b: "not evaluated"
    c: list[int] = [x]
    (d): str = a
    return a, c, d
