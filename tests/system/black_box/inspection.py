"""inspect, dis, signature, annotations, and the attributes of functions and code."""

import dis
import hashlib
import inspect
import io
import types
import typing


def plain(a, b: int = 2, /, c=(), *rest: str, key: float, other="o", **more) -> tuple:
    """A docstring."""
    inner = lambda z: z + a  # noqa: E731
    return inner(b), c, rest, key, other, sum(i * i for i in range(3)), more


def generator(n):
    for i in range(n):
        yield i


async def coroutine(n):
    return n


class Kind:
    def method(self, x):
        return (self, x)[1]

    @property
    def attribute(self):
        return 7

    @classmethod
    def of_class(cls, x):
        return cls, x

    @staticmethod
    def alone(x):
        return x


def outer(x):
    def inner(y):
        nonlocal x
        x += y
        return x

    return inner


def listing(thing):
    out = io.StringIO()
    dis.dis(thing, file=out)
    return hashlib.sha256(out.getvalue().replace(hex(id(thing)), "").split(" at 0x")[0].encode()).hexdigest()


def attributes(code):
    names = [
        name
        for name in dir(code)
        if name.startswith("co_") and name not in ("co_consts", "co_filename", "co_lnotab")
    ]
    for name in names:
        value = getattr(code, name)
        print("  ", name, list(value()) if callable(value) else value)
    for constant in code.co_consts:
        print("   constant", attributes(constant) if isinstance(constant, types.CodeType) else repr(constant))


def describe(function):
    print(
        function.__name__, function.__qualname__, function.__module__, function.__doc__, function.__defaults__
    )
    print(" ", function.__kwdefaults__, function.__dict__, typing.get_type_hints(function))
    print(" ", inspect.signature(function), inspect.getfullargspec(function))
    print(" ", inspect.getsourcelines(function), inspect.getclosurevars(function).nonlocals)
    print(" ", listing(function), [list(line) for line in function.__code__.co_positions()][:9])
    print(
        " ", dis.stack_effect(dis.opmap["LOAD_FAST"], 0), dis.code_info(function.__code__).splitlines()[2:9]
    )
    attributes(function.__code__)


adder = outer(1)
for number in range(60):
    plain(number, key=1.0)
    list(generator(5))
    one = Kind()
    one.method(number), one.attribute, Kind.of_class(1), Kind.alone(2), one.of_class(3)
    adder(number)
for function in (plain, generator, coroutine, outer, adder, Kind.method, Kind.attribute.fget, Kind.alone):
    describe(function)
    assert function.__code__ is function.__code__ and function.__code__ == function.__code__
print(Kind.of_class.__func__.__code__.co_name, one.method.__func__ is Kind.method, one.method == one.method)
print(
    inspect.isgeneratorfunction(generator), inspect.iscoroutinefunction(coroutine), inspect.isfunction(plain)
)
print([name for name, _ in inspect.getmembers(plain) if name not in ("__builtins__", "__globals__")])
print(inspect.getgeneratorstate(generator(1)), inspect.getmodule(plain).__name__)
print(sorted(vars(Kind)), type(plain).__name__, sorted(dir(plain)))
try:
    plain()
except TypeError as error:
    print(error)
copied = types.FunctionType(plain.__code__, globals(), "copied", plain.__defaults__)
print(
    copied(1, key=2, other=3),
    plain.__code__.replace(co_name="x").co_name,
    hash(plain.__code__) == hash(plain.__code__.replace()),
)
