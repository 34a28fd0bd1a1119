"""What running other people's code found: CPython's own tests, traced (tests/system/test_traced_modules.py)."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: raising_call_with_keywords
# note: the trace ends before the call; the original instructions go on at KW_NAMES, not behind it
# f() => record stop:exception, hit exit
def f():
    try:
        return list((), sequence=())
    except TypeError as error:
        return str(error)


# program: raising_builtin_call_with_keywords_in_callee
# trace: f
# f([3, 1]) => record stop:exception, hit exit
def g(x):
    return sorted(x, key=None, revers=True)


def f(x):
    try:
        return g(x)
    except TypeError as error:
        return str(error)


# program: finalisers_at_operators
# note: a finaliser runs inside of the instruction, whose operands are partly gone by then
# f(0) => record, hit
log = []


class Noisy:
    def __init__(self, name): self.name = name
    def __del__(self): log.append(self.name)


def f(x):
    log.clear()
    a = [Noisy(1)] == [Noisy(2)]
    b = (Noisy(3),) + (Noisy(4),)
    c = [Noisy(5)] < [Noisy(6)] if x else None
    del b
    return a, list(log)
