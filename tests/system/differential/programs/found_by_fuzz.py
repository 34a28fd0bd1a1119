"""What random programs found (scripts/fuzz)."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: value_given_back_to_an_inlined_generator
# note: the generator goes on as written behind a side exit in its callee; nobody else holds what the callee gave it
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
# note: the same; whoever throws it into a generator would hold it until the generator gives way
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
