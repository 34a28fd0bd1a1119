"""Classes: attributes, methods, properties, operators, inheritance; each is a kind of its own."""

from __future__ import annotations

from .definitions import Signature, add_row, body, function_scope
from .engine import Generator, expressions, statement_builder

expressions("aname", "1 x\n1 y\n1 z")

expressions("length", "6 $n\n1 $int\n0.5 $bool\n0.3 2.5\n0.3 'x'")
expressions("truth", "6 $bool\n0.5 $int\n0.3 None\n0.5 (self.x > 2)")
expressions("equal", "4 $bool\n2 NotImplemented\n1 $any\n2 (self.x == getattr(other, 'x', other))")
SIZED = [
    ("int", "(1 if $C else 2)"),
    ("bool", "(not $C)"),
    ("bool", "bool($C)"),
    ("bool", "bool($C and $int)"),
]
GONE_OVER = [("ints", "[*$C][:6]"), ("int", "sum($C)"), ("bool", "($int in $C)"), ("ints", "list($C)[:6]")]

# Members that need only what every class here has: x and y (int), z (float).
# `ROWS:` lines are templates for instances ({0} is the class).
MEMBERS: tuple[tuple[str, str, list[tuple[str, str]]], ...] = (
    (
        "add",
        "def __add__(self, other):\n    if not isinstance(other, (Base, int)):\n        return NotImplemented\n"
        "    return type(self)(self.x + int(getattr(other, 'x', other)), $int)",
        [("{0}", "($C + $C)"), ("{0}", "($C + $int)")],
    ),
    (
        "radd",
        "def __radd__(self, other):\n    return type(self)($int, self.y)",
        [("{0}", "($int + $C)"), ("{0}", "($float + $C)")],
    ),
    ("sub", "def __sub__(self, other):\n    return $int", [("int", "($C - $int)"), ("int", "($C - $C)")]),
    (
        "rsub",
        "def __rsub__(self, other):\n    return NotImplemented if other == 3 else $int",
        [("int", "($int - $C)")],
    ),
    ("iadd", "def __iadd__(self, other):\n    self.x += 1\n    return self", []),
    ("neg", "def __neg__(self):\n    return type(self)(-self.x, self.y)", [("{0}", "-$C")]),
    (
        "lt",
        "def __lt__(self, other):\n    return NotImplemented if not isinstance(other, Base) else self.x < other.x",
        [("bool", "($C < $C)")],
    ),
    (
        "eq",
        "def __eq__(self, other):\n    return isinstance(other, Base) and self.x == other.x\n__hash__ = None",
        [("bool", "($C == $C)"), ("bool", "($C != $int)")],
    ),
    ("len", "def __len__(self):\n    return abs($int) % 7", [("int", "len($C)")]),
    ("loud len", "def __len__(self):\n    print('len', self.x)\n    self.x += 1\n    return $length", SIZED),
    ("bool", "def __bool__(self):\n    return $bool", [("bool", "(not $C)"), ("int", "(1 if $C else 2)")]),
    (
        "loud bool",
        "def __bool__(self):\n    print('bool', self.x)\n    self.x += 1\n    return $truth",
        SIZED,
    ),
    (
        "call",
        "def __call__(self, p, q=2):\n    self.y = $int\n    return p + q",
        [("int", "$C($int)"), ("int", "$C($int, q=$int)")],
    ),
    (
        "getitem",
        "def __getitem__(self, key):\n    if isinstance(key, int) and key > 6:\n        raise IndexError(key)\n"
        "    return $int",
        [("int", "$C[$n]"), ("ints", "list($C)[:3]")],
    ),
    ("setitem", "def __setitem__(self, key, value):\n    print('set', key)\n    self.x = $int", []),
    ("contains", "def __contains__(self, key):\n    return $bool", [("bool", "($int in $C)")]),
    (
        "loud contains",
        "def __contains__(self, key):\n    print('contains', key)\n    self.y = $int\n    return $any",
        [("bool", "($int in $C)"), ("bool", "($any not in $C)")],
    ),
    (
        "generating",
        "def __iter__(self):\n    print('iter', self.x)\n    yield $int\n    yield from $ints\n    self.x = $int",
        GONE_OVER,
    ),
    (
        "counting",
        "def __iter__(self):\n    self.y = 0\n    return self\ndef __next__(self):\n    self.y += 1\n"
        "    if self.y > $n:\n        raise StopIteration\n    return $int",
        GONE_OVER,
    ),
    ("delegating", "def __iter__(self):\n    print('iter')\n    return $iter", GONE_OVER),
    (
        "hash",
        "def __eq__(self, other):\n    print('eq')\n    return $equal\ndef __hash__(self):\n    print('hash')\n"
        "    return self.x if isinstance(self.x, int) else 5",
        [
            ("bool", "($C == $object)"),
            ("bool", "({$C: 1}.get($C) is None)"),
            ("bool", "($C in [$object, 1])"),
        ],
    ),
    (
        "order",
        "def __lt__(self, other):\n    print('lt')\n    return $equal\ndef __ge__(self, other):\n"
        "    print('ge')\n    return NotImplemented",
        [("bool", "bool($C < $C)"), ("int", "len(sorted([$C, $C, $C]))"), ("int", "max([$C, $C]).y")],
    ),
    ("iter", "def __iter__(self):\n    return iter([self.x, $int])", [("ints", "[*$C]"), ("int", "sum($C)")]),
    (
        "enter",
        "def __enter__(self):\n    return self.x\ndef __exit__(self, kind, value, tb):\n    self.x += 1\n"
        "    return $bool",
        [],
    ),
    (
        "getattr",
        "def __getattr__(self, name):\n    if name.startswith('__'):\n        raise AttributeError(name)\n"
        "    return len(name)",
        [("int", "$C.absent")],
    ),
    ("del", "def __del__(self):\n    print('gone', self.__dict__.get('x'))", []),
    (
        "int",
        "def __int__(self):\n    return $int\n__index__ = __int__",
        [("int", "int($C)"), ("int", "[1, 2][$C % 2]")],
    ),
    ("matmul", "def __matmul__(self, other):\n    return other", [("float", "($C @ $float)")]),
    (
        "prop",
        "@property\ndef half(self):\n    return $float\n@half.setter\ndef half(self, value):\n    self.z = value",
        [("float", "$C.half")],
    ),
    (
        "cached",
        "@functools.cached_property\ndef once(self):\n    print('once')\n    return $int",
        [("int", "$C.once")],
    ),
    (
        "static",
        "@staticmethod\ndef plain(p, q=1):\n    return p - q",
        [("int", "{0}.plain($int)"), ("int", "$C.plain($int, $int)")],
    ),
    (
        "classm",
        "@classmethod\ndef make(cls, p):\n    cls.made += 1\n    return cls(p, cls.made)",
        [("{0}", "{0}.make($int)")],
    ),
    (
        "setattr",
        "def __setattr__(self, name, value):\n    if name == 'z':\n        value = value or 1.0\n"
        "    object.__setattr__(self, name, value)",
        [],
    ),
    (
        "getattribute",
        "def __getattribute__(self, name):\n    if name == 'y':\n        return 7\n"
        "    return object.__getattribute__(self, name)",
        [],
    ),
    ("format", "def __format__(self, spec):\n    return spec + str(self.x)", [("str", "f'{{$v_C:ab}}'")]),
)

OPERATORS = (
    ("add", "+"),
    ("sub", "-"),
    ("mul", "*"),
    ("truediv", "/"),
    ("floordiv", "//"),
    ("mod", "%"),
    ("lshift", "<<"),
    ("rshift", ">>"),
    ("and", "&"),
    ("or", "|"),
    ("xor", "^"),
    ("matmul", "@"),
)
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
ANSWERS = (
    "return NotImplemented",
    "return NotImplemented if isinstance(other, (int, float)) else $int",
    "return NotImplemented if type(self) is type(other) else self",
    "return $int",
    "return $any",
    "self.x += 1\nreturn $int",
    "return type(self)($int, self.y)",
    "return getattr(other, 'x', $int)",
    "if $bool:\n    raise $exc\nreturn NotImplemented",
)


def _operator(g: Generator) -> tuple[str, list[tuple[str, str]]]:
    """An operator and its reflection, in one class or distributed over several."""
    name, sign = g.random.choice(OPERATORS)
    text = []
    forms = g.random.sample([f"__{name}__", f"__r{name}__", f"__i{name}__"], 1 + g.random.randrange(2))
    for form in forms:
        head = f"def {form}(self, other):\nprint('{form}', type(other).__name__)\n" if g.chance(0.7) else ""
        head = head or f"def {form}(self, other):\n"
        text.append((head + g.random.choice(ANSWERS)).replace("\n", "\n    "))
    return "\n".join(text), [("any1", f"($C {sign} $int)"), ("any1", f"($object {sign} $C)")]


@statement_builder(8, feature="classes")
def operate(g: Generator) -> None:
    """Operators, truth and containment between instances of any classes and plain data."""
    sign = g.random.choice(OPERATORS)[1]
    compare = g.random.choice(COMPARISONS)
    form = g.pick(
        f"print(($object {sign} $object) is None)",
        f"$=any1 = $object {sign} $any",
        f"$=any1 = $any {sign} $object",
        f"$=any1 = $object {sign} $object",
        f"$=any1 = $int {sign} $object",
        f"$=any1 = $object {compare} $object",
        f"$=any1 = $any {compare} $object",
        f"$=any1 = $object\n$v_any1 {sign}= $any",
        f"$=any1 = $int\n$v_any1 {sign}= $object",
        f"if $object {compare} $object:\n    $block",
        "if $object:\n    $block\nelse:\n    $block",
        # No statement and no walrus can assign to the counter, because no hole has its kind.
        "$new_tally = 0\nwhile $object:\n    $1 += 1\n    if $1 > 2:\n        break\n    $block",
        "$=any1 = $object and $int or $object",
        "print(not $object, bool($object))",
        "print($any in $object)",
        "if $object in $object:\n    $block",
        "print(len($object))",
        "for $new_any1 in itertools.islice($object, 4):\n    $block",
        "for $new_any1 in $object:\n    print(type($1).__name__)\n    break",
        "print(list(itertools.islice($object, 3)))",
        "$=any1, *_ = itertools.islice($object, 4)",
        "assert $object, 'nothing'",
        "{x:none}print([1 for q in (1, 2) if $object])",
        "print(any([$object, $object]), all([$object, 1]))",
        "print($object == $object, $object != $any)",
    )
    if g.scope.trying and g.chance(0.5):
        g.template(form)
        return
    lines = "\n".join("    " + line for line in form.split("\n"))
    g.template(
        f"try:\n{lines}\nexcept Exception as $new_exc:\n    print(type($LAST).__name__, $LAST)".replace(
            "$LAST", f"${form.count('$new_') + 1}"
        )
    )


BASE = """
class Base:
    made = 0
    shared = 3
    def __init__(self, x=1, y=2):
        self.x, self.y, self.z = x, y, 1.5
    def __repr__(self):
        return f'{type(self).__name__}({self.x})'
    def base(self, p):
        return self.x + p
"""


def begin_classes(g: Generator) -> None:
    """The class that all others have as a base."""
    for text in BASE.strip("\n").splitlines():
        g.emit(text)
    _rows(g, "Base", "CBase")
    add_row(g.rows, "int", "$CBase.base($int)", cost=3)
    g.classes.append("CBase")


def _rows(g: Generator, name: str, kind: str) -> None:
    add_row(g.rows, kind, f"{name}($int, $int)", 2, cost=4)
    add_row(g.rows, kind, f"{name}(y=$int)", cost=4)
    for attribute, what in (("x", "int"), ("y", "int"), ("z", "float"), ("shared", "int"), ("made", "int")):
        add_row(g.rows, what, f"$v_{kind}.{attribute}", 2 if attribute in "xyz" else 0.5)
        add_row(g.rows, what, f"${kind}.{attribute}", 0.5, cost=4)
    add_row(g.rows, "str", f"repr(${kind})", cost=4)
    add_row(g.rows, "bool", f"isinstance(${kind}, {name})")
    add_row(g.rows, "int", f"getattr(${kind}, '$aname', $int)")


def define_class(g: Generator) -> None:
    """One class, at the top of the program."""
    name = f"K{g.number()}"
    kind = f"C{name}"
    base = g.random.choice(g.classes)
    base_name = base.removeprefix("C")
    g.emit(f"class {name}({base_name}):")
    g.indent += 1
    g.in_class += 1
    g.emit(f"shared = {g.literal('int')}")
    rows: list[tuple[str, str]] = []
    if g.chance(0.15):
        g.emit(f"__slots__ = ({g.pick(repr('w'), repr('v'))},)")
    if g.chance(0.4):
        signature = "self, x=1, y=2"
        g.emit(f"def __init__({signature}):")
        with function_scope(g, "method", "none", {"x": "int", "y": "int"}):
            g.emit(g.pick("super().__init__(x, y)", f"{base_name}.__init__(self, x, y)"))
            _self_rows(g)
            for _ in range(g.random.randrange(2)):
                g.statement()
            if g.chance(0.5):
                g.line("self.x = $int")
    chosen = g.random.sample(MEMBERS, 1 + int(g.random.random() * 4))
    bodies = [(text, more) for _, text, more in chosen]
    bodies += [_operator(g) for _ in range(int(g.random.random() * 3))]
    for text, more in bodies:
        rows += more
        with function_scope(g, "method", "int", {}):
            g.indent -= 1
            _self_rows(g)
            for line in text.splitlines():
                indent = (len(line) - len(line.lstrip())) // 4
                g.indent += indent
                g.line(line.strip())
                g.indent -= indent
            g.indent += 1
    cost = 0
    for _ in range(g.random.randrange(3)):
        cost = _method(g, kind, name, base_name)
    g.in_class -= 1
    g.indent -= 1
    g.classes.append(kind)
    _rows(g, name, kind)
    for what, template in rows:
        template = template.replace("{0}", name).replace("$C", f"${kind}").replace("$v_C", f"$v_{kind}")
        add_row(g.rows, what.format(kind), template, 1, cost=5 + cost)
    add_row(g.rows, base, f"${kind}", 0.5)


def _self_rows(g: Generator) -> None:
    rows = g.scope.rows
    for attribute, what in (("x", "int"), ("y", "int"), ("z", "float"), ("shared", "int")):
        add_row(rows, what, f"self.{attribute}")
    add_row(rows, "str", "type(self).__name__", 0.3)
    add_row(rows, "bool", "hasattr(self, '$aname')", 0.3)


def _method(g: Generator, kind: str, name: str, base: str) -> int:
    label = g.pick("m", "n", "o")
    signature = Signature(g, first="self", plain=g.chance(0.6))
    result = g.pick("int", "int", "float", "pair")
    g.cost = 0
    g.emit(f"def {label}{name}({signature.text}):" if g.chance(0.4) else f"def {label}({signature.text}):")
    own = g.lines[-1].split("(")[0].split()[-1]
    with function_scope(g, "function", result, signature.kinds):
        _self_rows(g)
        if g.chance(0.3):
            add_row(g.scope.rows, "int", "super().base($int)", cost=3)
        if g.chance(0.2):
            g.line("__class__.made = $int")
        if g.chance(0.4):
            g.line("self.$aname = $int")
        body(g, g.random.randrange(3))
    if own == label:  # others override it, so it is called by a name that only this signature has
        g.emit(f"{own}{name} = {own}")
        own = f"{own}{name}"
    cost = g.cost + 3
    g.cost = 0
    for call in signature.calls:
        add_row(g.rows, result, f"${kind}.{own}({call})", 2 / len(signature.calls), cost=cost)
    if g.chance(0.2):
        add_row(g.rows, result, f"{name}.{own}(${kind}, {signature.calls[0]})", 0.3, cost=cost)
    return cost
