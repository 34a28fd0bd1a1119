"""Definitions that programs may use: each piece is put in front of a program that contains its name."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z_]\w+")
IMPORTS = (
    "asyncio",
    "builtins",
    "collections",
    "contextlib",
    "dataclasses",
    "enum",
    "functools",
    "gc",
    "itertools",
    "math",
    "operator",
    "sys",
    "traceback",
    "types",
    "warnings",
    "weakref",
)

PIECES = {
    "MyError": """
class MyError(Exception):
    pass
""",
    "SubError": """
class SubError(MyError):
    def __init__(self, what):
        super().__init__(what)
        self.what = what
""",
    "Adder": """
class Adder:
    def __init__(self, d): self.d = d
    def __call__(self, q): return q + self.d
""",
    "Count": """
class Count:
    def __init__(self, n): self.n = n if n in range(9) else 2
    def __iter__(self): return self
    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        return self.n
""",
    "Point": """
@dataclasses.dataclass
class Point:
    x: int
    y: object = None
""",
    "Whole": """
class Whole(int):
    def __add__(self, other): return Whole(int(self) + 1) if isinstance(other, int) else NotImplemented
""",
    "Word": """
class Word(str):
    def upper(self): return 'UP'
""",
    "Two": """
Two = collections.namedtuple('Two', 'a b')
""",
    "Colour": """
class Colour(enum.Enum):
    RED = 1
    BLUE = 2
""",
    "Held": """
class Limit:
    def __set_name__(self, owner, name): self.name = '_' + name
    def __get__(self, obj, owner): return self if obj is None else getattr(obj, self.name, 0)
    def __set__(self, obj, value): setattr(obj, self.name, min(value, 50))
class Held:
    value = Limit()
    def __init__(self, n): self.value = n
""",
    "Ordered": """
@functools.total_ordering
class Ordered:
    __slots__ = ('n',)
    def __init__(self, n): self.n = n
    def __lt__(self, other): return self.n < other.n
    def __eq__(self, other): return self.n == other.n
    @property
    def twice(self): return self.n + self.n
""",
    "Left": """
class Top:
    def __init__(self, n): self.n = n
    def who(self, p): return p
class Right(Top):
    def who(self, p): return super().who(p) + 1
class Middle(Top):
    def who(self, p): return super().who(p) * 2 % 1009
class Left(Middle, Right):
    def __init_subclass__(cls): cls.made = 0
    def who(self, p): return super().who(p) - self.n
""",
    "caller_locals": """
def caller_locals(function):
    return len(sys._getframe(1).f_locals) + int(bool(function()))
""",
    "Guarded": """
class Guarded:
    def __init__(self, n, swallows): self.n, self.swallows = n, swallows
    def __enter__(self):
        print('enter', self.n)
        return self.n
    def __exit__(self, kind, value, tb):
        print('exit', self.n, kind and kind.__name__)
        return self.swallows and kind is not None and issubclass(kind, Exception)
""",
    "raising": """
class raising:
    def __init__(self, error): self.error = error
    def __enter__(self): return self
    def __exit__(self, kind, value, tb):
        raise self.error
""",
    "managed": """
@contextlib.contextmanager
def managed(n):
    print('in', n)
    try:
        yield n
    except KeyError as error:
        print('swallowed', error)
    finally:
        print('out', n)
""",
    "Loud": """
class Loud:
    def __init__(self, n): self.n = n
    def __del__(self): print('del', self.n)
    def __add__(self, other): return self.n
    def get(self): return self.n
""",
    "zip_sum": """
def zip_sum(a, b):
    for p, q in zip(a, b):
        yield p + q
""",
    "lines": """
def lines(error):
    found, tb = [], None if isinstance(error, UnboundLocalError) else error.__traceback__
    while tb is not None:
        found.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
        tb = tb.tb_next
    return tuple(found)
""",
    "shown": """
def shown(error, depth=0):
    if error is None or depth > 4:
        return None
    inner = [shown(e, depth + 1) for e in getattr(error, 'exceptions', ())]
    links = [shown(e, depth + 1) for e in (error.__cause__, error.__context__)]
    notes = getattr(error, '__notes__', None)
    return type(error).__name__, str(error), error.__suppress_context__, links, inner, notes
""",
    "decorated": """
def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print('call', len(args), sorted(kwargs))
        return function(*args, **kwargs)
    return wrapper
""",
    "scaled": """
def scaled(by):
    def decorate(function):
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            return result + by if isinstance(result, (int, float)) else result
        return wrapper
    return decorate
""",
    "told": """
def told(x):
    print('told', x)
    return x
""",
    "shifty": """
def shifty(x):
    return x if x % 3 else x + 0.5
""",
    "picky": """
def picky(x):
    if x in (4, 7, 3):
        raise ValueError(x)
    return x
""",
    "Noted": """
class Noted:
    def __init__(self, n): self.n = n if n in range(9) else 2
    def __iter__(self):
        print('iter', self.n)
        try:
            for k in range(self.n):
                yield k
        finally:
            print('over', self.n)
    def __len__(self):
        print('len')
        return self.n
    def __bool__(self):
        print('bool')
        return self.n > 1
    def __contains__(self, key):
        print('contains', key)
        return key == self.n
""",
    "Hint": """
class Hint:
    def __init__(self, items, hint): self.items, self.hint = iter(items), hint
    def __iter__(self): return self
    def __next__(self): return next(self.items)
    def __length_hint__(self):
        print('hint')
        return self.hint
""",
    "both": """
def both(*args, **kwargs):
    print('both', args, sorted(kwargs))
    return len(args)
""",
    "asked": """
def asked(it, *sends):
    for value in sends:
        try:
            if value == 'close':
                print('closed', it.close())
            elif isinstance(value, BaseException):
                print('threw', it.throw(value))
            elif value is None:
                print('next', next(it))
            else:
                print('sent', it.send(value))
        except StopIteration as stop:
            print('stop', stop.value)
            return stop.value
        except Exception as error:
            print(type(error).__name__, error, lines(error))
    return None
""",
    "drive": """
def drive(it, *sends):
    got = []
    try:
        got.append(next(it))
        for value in sends:
            if isinstance(value, BaseException):
                got.append(it.throw(value))
            elif value == 'close':
                got.append(it.close())
            else:
                got.append(it.send(value))
    except StopIteration as stop:
        got.append(('stop', stop.value))
    except Exception as error:
        got.append((type(error).__name__, str(error), lines(error)))
    print('drive', got)
    return len(got)
""",
    "Pause": """
class Pause:
    def __init__(self, n): self.n = n
    def __await__(self):
        got = yield self.n
        return self.n if got is None else got
""",
    "run": """
def run(coroutine):
    steps = 0
    try:
        while True:
            coroutine.send(steps if steps % 2 else None)
            steps += 1
    except StopIteration as stop:
        return stop.value
""",
    "Relay": """
class Relay:
    def __init__(self, inner): self.inner = inner
    def __await__(self):
        try:
            return (yield from self.inner.__await__())
        finally:
            print('relayed')
""",
    "paused": """
@types.coroutine
def paused(n):
    got = yield n
    print('paused', n, got)
    return n if got is None else got
""",
    "Stream": """
class Stream:
    def __init__(self, n): self.n = n if n in range(9) else 2
    def __aiter__(self): return self
    async def __anext__(self):
        self.n -= 1
        if self.n < 0:
            raise StopAsyncIteration
        await Pause(self.n)
        return self.n
""",
    "broken": """
def broken(coroutine, at, error):
    steps = 0
    try:
        while True:
            if steps == at:
                coroutine.close() if error is None else coroutine.throw(error)
            else:
                coroutine.send(None)
            steps += 1
            if steps > 40:
                break
    except StopIteration as stop:
        print('stop', stop.value)
    except Exception as error:
        print(type(error).__name__, error, lines(error))
    return steps
""",
    "AsyncGuarded": """
class AsyncGuarded:
    def __init__(self, n, swallows): self.n, self.swallows = n, swallows
    async def __aenter__(self):
        await Pause(1)
        return self.n
    async def __aexit__(self, kind, value, tb):
        print('aexit', kind and kind.__name__)
        return self.swallows and kind is not None and issubclass(kind, Exception)
""",
    "opaque": """
def opaque(function, *args):
    return list(map(lambda _: function(*args), [0]))[0]
""",
    "cell_of": """
def cell_of(function):
    return function.__closure__[0]
""",
    "leaf_a": """
def leaf_a(p=1):
    return p + 1
""",
    "leaf_b": """
def leaf_b(p=2, *, u=4):
    return p * 2
""",
    "leaf_c": """
def make_leaf():
    held = 5
    def leaf_c(p=3):
        return held if p else -1
    return leaf_c
leaf_c = make_leaf()
""",
    "outside": """
exec('def outside(function, *args):\\n    return function(*args)\\n')
""",
}


def prelude_for(source: str, log: bool) -> str:
    """The imports and pieces that the source needs, in order."""
    needed: set[str] = set()
    words = set(_WORD.findall(source))
    while True:
        more = (words & PIECES.keys()) - needed
        if more & {"leaf_a", "leaf_b"}:
            more |= {"leaf_a", "leaf_b"} - needed
        if not more:
            break
        needed |= more
        for name in more:
            words.update(_WORD.findall(PIECES[name]))
    body = "".join(piece for name, piece in PIECES.items() if name in needed)
    imports = [f"import {name}" for name in IMPORTS if name in words]
    if "np" in words:
        imports.append("import numpy as np")
    if log and "LOG" in words:
        body = "LOG = []\n" + body
    return "\n".join(imports) + "\n" + body
