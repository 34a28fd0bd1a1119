"""Branches are guards on their outcome: before the first effect they choose the trace, later they leave it."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: if_else
# f(3) => record, hit
# f(-3) => miss record, hit
# f(7) => hit
# f(-1) => hit
def f(x):
    if x > 0:
        return x * 2
    else:
        return -x


# program: if_without_else
# f(3) => record
# f(30) => miss record
# f(4) => hit
# f(31) => hit
def f(x):
    y = x + 1
    if y > 10:
        y = y - 10
    return y


# program: elif_tree
# f(1) => record, hit
# f(15) => miss record, hit
# f(25) => miss record, hit
# f(-4) => miss record, hit
# f(2) => hit
# f(16) => hit
def f(x):
    if x < 0:
        return "negative"
    elif x < 10:
        return "small"
    elif x < 20:
        return "medium"
    else:
        return "large"


# program: side_exit_after_effect
# note: the branch comes after a visible effect, so the graph is left in the middle
# do log = []
# f(1) => record, hit
# f(-1) => hit exit
# f(2) => hit
# f(-2) => hit exit
def f(x):
    log.append(x)
    if x > 0:
        log.append("positive")
        return 1
    log.append("negative")
    return 0


# program: side_exit_keeps_locals
# f([5, 6]) => record, hit
# f([5, -6]) => hit exit
# f([-5, 6]) => hit exit
def f(x):
    a = x[0] * 2
    b = (a, x)
    if x[1] > 0:
        c = a + x[1]
    else:
        c = None
    x.append(a)
    if a > 0:
        return a, b, c
    return b, c, x


# program: side_exit_with_stack
# note: the conditional expression leaves with operands on the value stack
# do log = []
# f(1, [10]) => record, hit
# f(1, []) => hit exit
# f(2, [3]) => hit
def f(x, y):
    return (x, log.append(x), [x, (y[0] if y else "empty"), x + 1], len(log))


# program: truth_of_values
# f(5) => record
# f(0) => miss record
# f("") => miss record
# f("s") => miss record
# f(None) => miss record
# f(1.5) => miss record
# f(6) => hit
def f(x):
    if x:
        return "true"
    return "false"


# program: truth_of_containers
# f([1]) => record, hit
# f([]) => hit exit
# f({1: 2}) => hit
# f(()) => hit exit
def f(x):
    if not x:
        return "empty"
    return "full"


# program: truth_of_bool
# f(True) => record, hit
# f(False) => miss record, hit
# f(True) => hit
def f(flag):
    if flag:
        return "on"
    return "off"


# program: and_or_values
# f(1, 2) => record, hit
# f(0, 2) => miss record, hit
# f(0, 0) => hit, hit
# f(5, 0) => hit, hit
def f(a, b):
    return (a and b), (a or b), not (a and b)


# program: and_or_in_condition
# f(5, 3) => record, hit
# f(-5, 3) => miss record
# f(5, -3) => miss record
# f(-5, -3) => miss record
# f(6, 4) => hit
def f(a, b):
    if (a > 0 and b > 0) or (a < 0 and b < 0):
        return "same"
    return "different"


# program: conditional_expression
# f(3) => record, hit
# f(4) => miss record, hit
# f(5) => hit
def f(x):
    return ("odd" if x % 2 else "even") + str(x)


# program: nested_conditionals
# f(1, 1) => record, hit
# f(1, -1) => miss record
# f(-1, 1) => miss record
# f(-1, -1) => miss record
# f(2, 2) => hit
def f(a, b):
    return (1 if b > 0 else 2) if a > 0 else (3 if b > 0 else 4)


# program: walrus_condition
# f("abc") => record, hit
# f("") => hit exit
# f([1, 2]) => hit
def f(s):
    if (n := len(s)) > 1:
        return n, n * 2
    return n


# program: assert_statement
# f(3) => record, hit
# f(-3) => miss record
# f(4) => hit
def f(x):
    assert x > 0, f"bad {x}"
    return x


# program: branch_on_result_of_opaque_call
# f("12") => record, hit
# f("-12") => hit exit
# f("0") => hit exit
# f("99") => hit
def f(s):
    n = int(s)
    if n > 0:
        return "plus", n
    if n < 0:
        return "minus", n
    return "zero", n


# program: type_change_of_result
# note: the result of an opaque call changes its type under typed arithmetic
# f(1) => record, hit
# f(2) => hit
# f(3) => hit
# f(4) => hit
values = {1: 10, 2: 20, 3: 2.5, 4: "x"}


def f(k):
    v = values.get(k)
    return v * 2, v == 20


# program: same_condition_twice
# note: the second guard is the first one again
# f(3, 0) => record, hit
# f(-3, 0) => miss record, hit
# f(3, 1) => hit
def f(x, y):
    a = 1 if x > 0 else 2
    b = 3 if x > 0 else 4
    return a, b, y


# program: type_checks
# f(3) => record, hit
# f("3") => hit exit
# f([3]) => hit exit
# f(4) => hit
def f(x):
    if type(x) is int:
        return "int", x + 1
    if isinstance(x, str):
        return "str", x
    return "other", x


# program: overloaded_truth
# f(Flag(True)) => record, hit
# f(Flag(False)) => hit exit
# f(Flag(True)) => hit
class Flag:
    def __init__(self, on):
        self.on = on

    def __bool__(self):
        print("asked")
        return self.on


def f(x):
    if x:
        return "on"
    return "off"


# program: truth_that_raises
# f([1]) => record, hit
# f(Odd()) => hit exit
# f([]) => hit exit
class Odd:
    def __bool__(self):
        raise RuntimeError("no truth")


def f(x):
    try:
        if x:
            return "full"
        return "empty"
    except RuntimeError as error:
        return str(error), error


# program: unreachable_and_constants
# f(3) => record, hit
# f(4) => hit
DEBUG = False


def f(x):
    if DEBUG:
        return "never"
    if 0:
        return "never"
    while False:
        pass
    return x, ..., None, True, 1.5, 2j, b"b", (1, "t")
