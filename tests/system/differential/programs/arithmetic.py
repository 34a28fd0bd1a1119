"""Numbers and operators: typed arithmetic is guarded on exact types, the rest is one general operation."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: add_numbers
# f(1, 2) => record, hit
# f(3, 4) => hit
# f(1.5, 2.5) => miss record, hit
# f(10**30, -(10**30)) => hit
def f(a, b):
    return a + b


# program: add_anything
# note: strings, lists and tuples share the general operation, which has no guard
# f("a", "b") => record
# f([1], [2]) => hit
# f((1,), (2,)) => hit
# f(b"x", b"y") => hit
# f(1, "y") => hit exit
def f(a, b):
    return a + b


# program: int_operators
# f(17, 5) => record, hit
# f(-17, 5) => hit
# f(17, -5) => hit
# f(2**80 + 1, 2**40 + 7) => hit
def f(a, b):
    return (a + b, a - b, a * b, a // b, a % b, a & b, a | b, a ^ b, a / b)


# program: float_operators
# f(17.5, 5.25) => record, hit
# f(-17.5, 5.25) => hit
# f(float("inf"), -3.0) => hit
# f(float("nan"), 2.0) => hit
# f(-0.0, 5.0) => hit
def f(a, b):
    return (a + b, a - b, a * b, a // b, a % b, a / b, -a, +b, a**2.0)


# program: int_float_mixed
# f(3, 0.5) => record, hit
# f(0.5, 3) => miss record, hit
# f(3, 4) => miss record
# f(3, 0.25) => hit
def f(a, b):
    return a * b + a - b / 2


# program: division_by_zero
# note: the exception in the middle of the graph must lead to the original instruction
# f(8, 2) => record, hit
# f(8, 0) => hit exit
# f(8, 4) => hit
def f(a, b):
    c = a + 1
    return c / b


# program: float_division_by_zero
# f(8.0, 2.0) => record, hit
# f(8.0, 0.0) => hit exit
# f(1.0, 3.0) => hit
def f(a, b):
    return a // b + a % b


# program: shifts_and_powers
# f(3, 4) => record, hit
# f(1, 200) => hit
# f(-5, 2) => hit
# f(2, 0) => hit
# f(2, -1) => hit exit
def f(a, b):
    return (a**b, a << b, a >> b, ~a)


# program: unary_operators
# f(5) => record, hit
# f(-5) => hit
# f(0) => hit
# f(2.5) => hit
def f(a):
    return (-a, +a, not a, abs(a))


# program: bool_arithmetic
# f(True, False) => record, hit
# f(False, False) => hit
# f(True, True) => hit
def f(a, b):
    return (a + b, a & b, a | b, a ^ b, a - b, ~a)


# program: augmented_assignment
# f(7, 3) => record, hit
# f(700, -3) => hit
def f(a, b):
    a += b
    a *= 3
    a -= 1
    a //= 2
    a %= 1000
    a <<= 2
    a >>= 1
    a |= 8
    a &= 0xFFFF
    a ^= b
    a **= 2
    return a


# program: augmented_list
# note: += changes the list that the caller holds
# do shared = [1]
# f(shared, [2]) => record, hit
# f(shared, (3, 4)) => hit
# f((1,), (2,)) => hit
def f(a, b):
    c = a
    a += b
    return a is c, a, c


# program: big_integers
# f(2**64, 3**50) => record, hit
# f(-(2**100), 7**33) => hit
# f(1, 1) => hit
def f(a, b):
    return a * b, a // b, -a % b, a * a - b * b, (a + b).bit_length()


# program: complex_numbers
# f(1 + 2j, 3 - 1j) => record, hit
# f(0j, 1j) => hit
# f(2j, 0j) => hit exit
def f(a, b):
    return a * b, a - b, a.real + b.imag, a.conjugate(), a / b


# program: comparisons
# f(1, 2) => record, hit
# f(2, 2) => hit
# f(3, 2) => hit
# f(1.0, 2.0) => miss record, hit
# f(float("nan"), 1.0) => hit
# f("a", "b") => miss record, hit
def f(a, b):
    return a < b, a <= b, a == b, a != b, a > b, a >= b


# program: chained_comparison
# f(1, 2, 3) => record, hit
# f(1, 5, 3) => hit
# f(4, 2, 3) => miss record
# f(9, 2, 3) => hit
def f(a, b, c):
    return a < b < c


# program: chained_comparison_in_branch
# f(1, 2, 3) => record, hit
# f(1, 5, 3) => miss record, hit
# f(4, 2, 3) => miss record, hit
# f(0, 1, 2) => hit
def f(a, b, c):
    if a < b <= c != 10:
        return "between"
    return "outside"


# program: identity
# do thing = object()
# f(thing, thing) => record, hit
# f(thing, None) => hit
# f(None, None) => hit
def f(a, b):
    return a is b, a is not b, a is None, b is not None


# program: none_branches
# f(None) => record, hit
# f(3) => miss record, hit
# f(None) => hit
# f([1]) => miss record
def f(a):
    if a is None:
        return "nothing"
    if a is not None and a == 3:
        return "three"
    return "some"


# program: membership
# f(2, [1, 2, 3]) => record, hit
# f(5, [1, 2, 3]) => hit
# f(2, {2: 1}) => hit
# f("b", "abc") => hit
# f(2, 5) => hit exit
def f(a, b):
    return a in b, a not in b


# program: constant_arithmetic
# f(21) => record, hit
# f(2.5) => miss record
# f("ab") => miss record
def f(x):
    ret = 2 * x
    return ret


# program: int_methods_and_conversions
# f(10) => record, hit
# f(255) => hit
# f(3.75) => hit
def f(x):
    return int(x), float(x), str(x), bool(x), hex(int(x)), divmod(x, 3), round(x, 1), pow(int(x), 2, 7)


# program: small_and_large_result
# note: results cross the border of the small integers, in both directions
# f(250) => record, hit
# f(251) => hit
# f(256) => hit
# f(-10) => hit
def f(x):
    y = x + 5
    z = y - 260
    return y, z, y is z


# program: neutral_elements
# note: what a folding pass might simplify: -0.0, nan, and the types of the results
# f(5) => record, hit
# f(0) => hit
# f(-0.0) => miss record, hit
# f(float("nan")) => hit
# f(float("-inf")) => hit
# f(True) => miss record, hit
def f(x):
    return x + 0, 0 + x, x - 0, x * 1, 1 * x, x * 0, x // 1, x / 1, x**1, x**0, x * -1, x - x, x == x, -(-x), +x


# program: power_changes_its_result_type
# note: int ** int is a float for negative exponents, float ** float a complex for negative bases: nothing is
# note: assumed of the result, so nothing has to be left
# f(3, 2) => record, hit
# f(2, -1) => hit
# f(3, 4) => hit
# f(4.0, 0.5) => hit, hit
# f(-8.0, 0.5) => hit
def f(a, b):
    c = a**b
    return c + 1, c * 2, c == 9


# program: unused_results_still_raise
# f(6, 3) => record, hit
# f(6, 0) => hit exit
# f(6.0, 0.0) => miss record
# f(8, 2) => hit
def f(a, b):
    a // b
    a % b
    c = a / b
    return "done"


# program: unused_results_of_opaque_operations
# f([1], 0) => record, hit
# f([], 0) => hit exit
# f([2, 3], 1) => hit
def f(x, i):
    x[i]
    x == x
    -i
    x + x
    return "done"


# program: huge_int_meets_float
# f(10**15, 0.5) => record, hit
# f(2**53 + 1, 9007199254740992.0) => hit
# f(10**400, 0.5) => hit exit
# f(3, 0.5) => hit
def f(a, b):
    return a < b, a == b, a * b, a + b


# program: int_and_float_subclasses
# note: exact types only: a subclass has operators of its own
# f(3) => record, hit
# f(Loud(3)) => miss record
# f(Real(1.5)) => miss record
# f(4) => hit exit
class Loud(int):
    def __add__(self, other):
        print("add", int(self), other)
        return "sum"

    def __bool__(self):
        print("bool")
        return False


class Real(float):
    def __radd__(self, other):
        return "radd"


def f(x):
    return x + 1, 1 + x, not x


# program: equality_that_is_no_bool
# f(Odd(True), 1) => record, hit
# f(Odd(False), 1) => hit exit
# f(Odd([]), 1) => hit exit
# f(Odd(True), 2) => hit
class Odd:
    def __init__(self, answer):
        self.answer = answer

    def __eq__(self, other):
        print("eq", other)
        return self.answer


def f(a, b):
    if a == b:
        return "equal"
    return "different", a != b


# program: number_truth_of_all_kinds
# f(1, 0.0) => record, hit
# f(0, 0.5) => miss record, hit
# f(2, float("nan")) => miss record
# f(3, -0.0) => hit
# f(10**20, 0.0) => hit
def f(a, b):
    return (1 if a else 2), (3 if b else 4), not a, not b


# program: true_is_not_one
# f(True) => record, hit
# f(1) => miss record, hit
# f(True) => hit
# f(0) => miss record
# f(False) => miss record
def f(x):
    if x:
        return "yes", x
    return "no", x


# program: reused_subexpressions
# f(3, 4) => record, hit
# f(3.5, 4.0) => miss record, hit
# f([1], 2) => miss record, hit
def f(a, b):
    c = a * b + a * b
    d = a * b
    a = d
    return c, d, a * b if isinstance(a, int) else a, (d, d)


# program: identity_of_equal_results
# note: two results of one expression are two objects, unless they are small integers
# f(1000, 3) => record, hit
# f(2, 3) => hit
# f(2.5, 3.0) => miss record, hit
def f(a, b):
    p = a * b
    q = a * b
    return p is q, p is p, [p, q][0] is q, a is a
