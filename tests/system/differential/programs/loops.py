"""Loops are unrolled: another number of iterations leaves through a side exit, too many stop the recording."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: for_over_range
# f(4) => record, hit
# f(5) => hit exit
# f(2) => hit exit
# f(4) => hit
def f(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


# program: for_over_list
# f([1, 2, 3]) => record, hit
# f([4, 5, 6]) => hit
# f([1, 2.5, 3]) => hit
# f([1, 2]) => hit exit
# f([]) => hit exit
# f((7, 8, 9)) => hit
def f(items):
    total = 0
    for item in items:
        total = total + item
    return total


# program: for_over_nothing
# f([]) => record, hit
# f([1]) => hit exit
# f("") => hit
def f(items):
    for item in items:
        return item
    return "nothing"


# program: for_else_break
# f([1, 2, 3]) => record, hit
# f([1, -2, 3]) => hit exit
# f([-1]) => hit exit
# f([1, 2, 3]) => hit
def f(items):
    for item in items:
        if item < 0:
            found = item
            break
    else:
        found = "none"
    return found


# program: for_continue
# f([1, 2, 3, 4]) => record, hit
# f([2, 2, 3, 4]) => hit exit
# f([1, 4, 5, 6]) => hit
def f(items):
    out = []
    for item in items:
        if item % 2 == 0:
            continue
        out.append(item)
    return out


# program: while_loop
# note: nothing visible happens in the loop, so another number of iterations is a miss
# f(3) => record, hit
# f(4) => hit exit, hit exit
# f(0) => miss record
# f(3) => hit
def f(n):
    steps = 0
    while n > 0:
        n -= 1
        steps += 2
    return steps


# program: while_else
# f(3, 9) => record, hit
# f(3, 2) => hit exit, hit exit
# f(0, 1) => miss record
def f(n, stop):
    while n > 0:
        if n == stop:
            result = "broken"
            break
        n -= 1
    else:
        result = "done"
    return result, n


# program: while_true
# f([3, 2, 0, 9]) => record, hit
# f([1, 1, 0, 9]) => hit
# f([1, 0]) => hit exit
# f([5, 5, 5, 0]) => hit exit
def f(items):
    out = []
    while True:
        item = items.pop(0)
        if not item:
            break
        out.append(item)
    return out, items


# program: nested_loops
# f(2, 3) => record, hit
# f(3, 3) => hit exit
# f(2, 2) => hit exit
# f(2, 3) => hit
def f(n, m):
    out = []
    for i in range(n):
        for j in range(m):
            if i == j:
                continue
            out.append((i, j))
        else:
            out.append(i)
    return out


# program: break_out_of_nested_loops
# f([[1, 2], [3, 0], [5]]) => record, hit
# f([[1, 2], [3, 4], [5]]) => hit exit
# f([[0], [1]]) => hit exit
def f(rows):
    for i, row in enumerate(rows):
        for value in row:
            if value == 0:
                break
        else:
            continue
        return i
    return None


# program: long_loop_stops
# note: 100,000 iterations are not unrolled; some may be replayed
# f(100000) => record stop:unroll_limit
# f(3) => hit exit
def f(n):
    total = 0
    for i in range(n):
        total += i
    return total


# program: long_while_loop_stops
# f(100000) => record stop:unroll_limit
def f(n):
    i = 0
    while i < n:
        i += 3
    return i


# program: loop_over_dict
# f({"a": 1, "b": 2}) => record, hit
# f({"x": 5, "y": 6}) => hit
# f({"x": 5}) => hit exit
# f({"a": 1, "b": 2, "c": 3}) => hit exit
def f(d):
    out = []
    for k, v in d.items():
        out += [k, v]
    for k in d:
        out.append(d[k])
    return out


# program: dict_changes_while_looped_over
# f({1: 2, 3: 4}, False) => record, hit
# f({1: 2, 3: 4}, True) => hit exit
# f({1: 2, 3: 4}, False) => hit
def f(d, bad):
    for k in d:
        if bad:
            d[k + 10] = 1
    return d


# program: enumerate_zip_reversed
# f([1, 2], "ab") => record, hit
# f([3, 4], "xy") => hit
# f([3], "xyz") => hit exit
def f(a, b):
    out = []
    for i, (x, y) in enumerate(zip(a, b), start=5):
        out.append((i, x, y))
    for x in reversed(a):
        out.append(x)
    for x in sorted(b, key=str.upper, reverse=True):
        out.append(x)
    return out


# program: loop_variable_survives
# f([1, 2, 3]) => record, hit
# f([4, 5, 6]) => hit
# f([]) => hit exit
def f(items):
    for i in items:
        j = i * 2
    return i, j


# program: loop_with_object_iterator
# note: __iter__ and __next__ are the program's own
# f(Count(3)) => record, hit
# f(Count(4)) => hit exit
# f(Count(2)) => hit exit
class Count:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        print("iter")
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def f(items):
    out = []
    for i in items:
        out.append(i)
    return out


# program: iterator_that_raises
# f(iter([1, 2])) => record, hit
# f(Bad()) => hit exit
# f(iter([3, 4])) => hit
class Bad:
    def __iter__(self):
        return self

    def __next__(self):
        raise ValueError("no next")


def f(it):
    total = 0
    for x in it:
        total += x
    return total


# program: list_grows_while_looped_over
# f([1, 2]) => record, hit
# f([3, 4]) => hit
# f([3]) => hit exit
def f(items):
    for x in items:
        if len(items) < 5:
            items.append(x * 10)
    return items


# program: loop_with_return_inside
# f([1, 2, 3], 2) => record, hit
# f([1, 2, 3], 3) => hit exit
# f([1, 2, 3], 9) => hit exit
def f(items, wanted):
    for i, item in enumerate(items):
        if item == wanted:
            return i
    return -1


# program: iter_with_sentinel
# f([3, 2, 1, 0]) => record, hit
# f([3, 0]) => hit exit
def f(items):
    out = []
    for x in iter(items.pop, 3):
        out.append(x)
    return out


# program: newton_iteration
# f(2.0) => record, hit
# f(3.0) => hit
def f(x):
    guess = x
    n = 0
    while abs(guess * guess - x) > 1e-12 and n < 50:
        guess = (guess + x / guess) / 2
        n += 1
    return guess, n
