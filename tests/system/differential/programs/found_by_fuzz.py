"""What random programs found (scripts/fuzz)."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: value_given_back_to_an_inlined_generator
# note: the generator runs eagerly behind a side exit in its callee, whose result has no other reference
# trace: f, g, made
# f(0) => record, hit
# f(1) => hit exit record, hit exit hit
# f(2) => hit exit, hit exit
class Loud:
    def __init__(self, n): self.n = n
    def __del__(self): print("del", self.n)


def made(n):
    if n == 1:
        print("other")
    return Loud(n)


def g(n):
    made(n)
    print("behind", n)
    yield n
    made(n + 1).n
    print("last", n)


def f(n):
    for x in g(n):
        print(x)
    return x


# program: exception_in_an_inlined_generator_behind_a_side_exit
# note: the same; code that throws it into a generator would hold it until the generator yields
# trace: f, g, picky
# f(0) => record, hit
# f(1) => record hit exit record, hit hit exit hit
# f(2) => hit exit, hit exit
class Own(Exception):
    def __del__(self): print("del", self.args)


def picky(n):
    if n == 1:
        raise Own(n)
    return n


def g(n):
    for i in (n, n - 1):
        try:
            yield picky(i)
        except Own as error:
            print(error)
        print("behind", i)


def f(n):
    for x in g(n):
        print(x)
    return x


# program: side_exit_with_an_empty_stack_in_nested_inlined_generators
# limits: nodes=3
# trace: all
# f(3) => record stop:node_limit record stop:node_limit record stop:node_limit record stop:node_limit record stop:node_limit record stop:node_limit record stop:node_limit record stop:node_limit record stop:node_limit, hit exit hit exit hit exit record stop:node_limit record stop:node_limit
# f(1) => hit exit hit exit hit exit, hit exit hit exit hit exit
# f(0) => hit exit hit exit hit exit, hit exit hit exit hit exit
items = []


def f(n):
    items[:] = range(n)
    return [x + x for x in (x + x for x in (items.pop() for _ in range(3) if items))]


# program: arguments_that_a_call_does_not_take
# note: the interpreter gives up surplus arguments first, then those it has bound, in the order of the parameters
# trace: f, calls
# f(0) => record, hit
# f(1) => miss record, hit
# f(2) => miss record, hit
# f(3) => miss record, hit
# f(4) => miss record, hit
# f(5) => miss record, hit
# f(6) => miss record, hit
# f(7) => miss record, hit
# f(8) => miss record, miss hit
class Loud:
    def __init__(self, n): self.n = n
    def __del__(self): print("del", self.n)
    def get(self): pass


def two(a, b): pass
def keyword(a, *, b): pass
def every(a, *rest, b, **named): pass
def positional(a, b, /, c=1): pass


def calls(n):
    if n == 0:
        Loud(1).get(Loud(2), Loud(3))
    if n == 1:
        two(Loud(1))
    if n == 2:
        two(Loud(1), Loud(2), Loud(3))
    if n == 3:
        two(Loud(1), b=Loud(2), c=Loud(3), a=Loud(4))
    if n == 4:
        two(b=Loud(1), a=Loud(2), c=Loud(3))
    if n == 5:
        two(Loud(1), Loud(2), Loud(3), a=Loud(4))
    if n == 6:
        every(Loud(1), Loud(2), Loud(3), c=Loud(4), d=Loud(5))
    if n == 7:
        keyword(b=Loud(1))
    if n == 8:
        positional(Loud(1), b=Loud(2), c=Loud(3))


def f(n):
    try:
        calls(n)
    except TypeError as error:
        print(error)


# program: call_that_no_longer_takes_its_arguments
# note: the exception was not recorded: the operands die with the instruction, not when the stack is unwound
# trace: f
# f(one) => record, hit
# f(two) => hit exit, hit exit
# f(three) => hit exit, hit exit
class Loud:
    def __init__(self, n): self.n = n
    def __del__(self): print("del", self.n)


class Callable:
    def __init__(self, ends): self.ends = ends
    def __call__(self, *arguments):
        if self.ends:
            raise ValueError("ends")


def taking(a, b, c): print("taken")
def not_taking(a, b): pass


one, two, three = taking, not_taking, max


def f(call):
    try:
        call(Loud(1), Loud(2), Loud(3))
    except TypeError as error:
        print(type(error).__name__)


# program: operands_of_an_operation_that_raises_unexpectedly
# trace: f
# only as written: from the eighth call on, eager execution drops the operands of the specialised list.insert in another order
# f(1, lambda x: 0) => record, hit
# f(1, None) => hit exit, hit exit
# f(1, lambda x: x.n // 0) => hit exit, hit exit
# f(2, lambda x: 0) => hit exit, hit exit
class Loud:
    def __init__(self, n): self.n = n
    def __del__(self): print("del", self.n)
    def __lt__(self, other):
        return self.n < other.n // (2 - self.n)


def f(n, key):
    try:
        max(Loud(n), Loud(2), Loud(3), key=key)
        print("between")
        Loud(n) < Loud(5)
        print("behind")
        [Loud(6)].insert(Loud(7).n, Loud(8))
        divmod(Loud(9).n, Loud(0).n * (1 if key is None else n) - n * (n - 1) + 1)
    except Exception as error:
        print(type(error).__name__, error.__traceback__.tb_lineno)


# program: consumer_that_raises_unexpectedly
# note: the exception was not recorded: the operands of the builtin's call die with it, the generator before the others
# trace: fmin, fsum, g
# fmin([1, 2]) => record, hit
# fmin([1, "a"]) => hit exit, hit exit
# fmin([]) => hit exit, hit exit
# fsum([1, 2]) => record record hit exit record, hit hit hit exit hit
# fsum([1, "a"]) => hit hit hit exit, hit hit hit exit
# fsum([1, Loud(5), "a"]) => hit hit hit hit exit, hit hit hit hit exit
class Loud:
    def __init__(self, n): self.n = n
    def __del__(self): print("del", self.n)
    def __radd__(self, other): return self
    def __add__(self, other): return 1 if type(other) is int else NotImplemented


def g(items):
    try:
        for item in items:
            yield item
    finally:
        print("over", len(items))


def fmin(items):
    try:
        return min(g(items), default=Loud(99))
    except TypeError as error:
        print(error)


def fsum(items):
    try:
        return sum(g(items), Loud(98))
    except TypeError as error:
        print(error)


# program: unbound_local_behind_a_loop_that_next_ends
# note: between the StopIteration of a recorded __next__ and the exception of a read or del there is no hook
# trace: read, delete, leave, inner
# read(2) => record, hit
# read(9) => miss record, hit
# delete(2) => record, hit
# leave(2) => record, hit
# inner(2) => record, hit
class Count:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        return self.n


def read(n):
    if n > 5:
        e = 1
    for i in Count(n):
        pass
    try:
        return e
    except NameError as x:
        return str(x)


def delete(n):
    try:
        for i in Count(n):
            pass
        del e
        e = n
    except NameError as x:
        print(x, x.__traceback__.tb_lineno)


def leave(n):
    if n > 5:
        e = 1
    for i in Count(n):
        pass
    return e


def inner(n):
    try:
        leave(n)
    except NameError as x:
        print(x, x.__traceback__.tb_next.tb_lineno)


# program: a_generator_that_has_asked_for_its_locals_ends
# note: the locals die before the dict of locals, which also holds them
# f() => record, hit, hit
# trace: f


class Loud:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print(self.n)


def two():
    yield 1
    yield 2


def gen():
    yield 10
    for i in two():
        m = (Loud(len(locals())),)


def f():
    for x in gen():
        pass
