"""What classes overload, asked by branches: truth and length."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E711, E722, E731, E741, F401, F811, F821, F841, F842, I001, PTH118


# program: truth_at_branches
# f(A(True)) => record, hit
# f(A(False)) => hit exit, hit exit
# f(A(3)) => hit exit
# f(A(None)) => hit exit
class A:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        return self.answer


def f(a):
    found = []
    if a:
        found.append("if")
    if not a:
        found.append("if not")
    found.append(a and 1)
    found.append(a or 2)
    found.append(not a)
    found.append(1 if a else 2)
    while not a:
        found.append("while")
        break
    return found[:3], found[3] is a, found[4:]


# program: truth_is_false
# f(A()) => record, hit
# f(A()) => hit
class A:
    def __bool__(self):
        return False


def f(a):
    found = []
    if a:
        found.append("if")
    if not a:
        found.append("if not")
    found.append((a and 1) is a)
    found.append(a or 2)
    found.append(not a)
    while a:
        found.append("never")
    assert not a
    return found


# program: truth_by_length
# f(A(2)) => record, hit
# f(A(0)) => hit exit
# f(A(-1)) => hit exit
# f(A("x")) => hit exit
# f(A(1 << 80)) => hit exit
# f(A(Index())) => hit
class Index:
    def __index__(self):
        return 7


class A:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n


def f(a):
    if a:
        return "true", (a and 1), not a, bool(a), len(a)
    return "false", (a or 1)


# program: overloaded_truth_that_raises
# f(A(0)) => record, hit
# f(A(1)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        1 // self.n
        return True


def f(a):
    try:
        if a:
            return 1
    except ZeroDivisionError as error:
        return str(error), error.__traceback__.tb_lineno
    return 2


# program: truth_that_is_refused
# f(A(3)) => record, hit
# f(A("x")) => hit
# f(A(True)) => hit exit
class A:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        return self.answer


def f(a):
    try:
        if a:
            return 1
    except TypeError as error:
        return str(error), error.__traceback__.tb_lineno, error.__traceback__.tb_next
    return 2


# program: refused_truth_leaves_the_function
# f(A(3)) => record, hit
# f(A(False)) => hit exit
class A:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        return self.answer


def f(a):
    if not a:
        return 1
    return 2


# program: exit_in_the_middle_of_truth
# f(A(1)) => record, hit
# f(A(2)) => hit exit
# f(A(-2)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        if self.n == 1:
            return True
        seen.append(self.n)
        return self.n > 0


seen = []


def f(a):
    x = [1, (a and 5), (a or 6)]
    if a:
        x.append("yes")
    else:
        x.append("no")
    return x[1] is a, x[2] is a, x[3:], seen


# program: truth_in_inlined_callee
# f(A(1)) => record, hit
# f(A(0)) => hit exit
# f(A(-1)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        if self.n == 1:
            return True
        return self.n > 0 or self.n == 0


def g(a):
    if a:
        return "yes"
    return "no"


def h(a):
    return (a or "nothing") is a


def f(a):
    return g(a), h(a)


# program: truth_in_a_loop
# f(A(3)) => record, hit
# f(A(2)) => hit exit
# f(A(5)) => hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        self.n -= 1
        return self.n >= 0


def f(a):
    count = 0
    while a:
        count += 1
    return count


# program: limited_at_truth
# limits: nodes=12
# f(A(1)) => record stop:node_limit, hit exit
class A:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        log.append(self.n)
        return True


log = []


def f(a):
    if a:
        log.append("yes")
    return (a or 3) is a, len(log)
