"""Functions, at the top of the program and nested, with all kinds of parameters; and the templates that call them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .engine import DATA, Generator, NotHere, Row, Scope, Table, _parsed, statement_builder

PARAMETERS = (
    ["int"] * 8
    + ["float"] * 4
    + ["ints", "ints", "str", "bool", "pair", "map", "arr", "arr", "any1", "fn", "mat"]
)
RESULTS = ["int"] * 5 + ["float"] * 3 + ["ints", "pair", "bool", "str", "mixed", "arr", "map"]


def add_row(tables: dict[str, Table], kind: str, template: str, weight: float = 1, **options: object) -> None:
    """Adds a template that uses the new definition."""
    tables.setdefault(kind, Table()).add(Row(weight, template, _parsed(template), **options))  # type: ignore[arg-type]


class Signature:
    """Parameters with kinds, as source, and the ways to call with them."""

    def __init__(self, g: Generator, *, first: str = "", plain: bool = False) -> None:
        self.kinds: dict[str, str] = {}
        self.first = first
        parts = [first] if first else []
        self.calls: list[str] = []
        count = 1 + int(g.random.random() * 3)
        defaults = False
        required, optional = [], []
        for number in range(count):
            kind = g.random.choice(PARAMETERS) if not plain else "int"
            name = "pqrst"[number]
            self.kinds[name] = kind
            defaults = defaults or (number > 0 and g.chance(0.25))
            if defaults and kind != "any1":
                parts.append(f"{name}={g.leaf(kind)}")
                optional.append((name, kind))
            elif defaults:
                parts.append(f"{name}={g.leaf('int')}")
                optional.append((name, "any"))
            else:
                parts.append(name)
                required.append((name, "any" if kind == "any1" else kind))
        if g.chance(0.06) and required:
            parts.insert(len(required) + bool(first), "/")
        elif g.chance(0.15):
            parts.append("*rest")
            self.kinds["rest"] = "mixed"
        if g.chance(0.15):
            if "*rest" not in parts:
                parts.append("*")
            parts.append(f"u={g.leaf('int')}")
            self.kinds["u"] = "int"
        if g.chance(0.1):
            parts.append("**named")
            self.kinds["named"] = "map"
        self.text = ", ".join(parts)
        hole = "${}".format
        positional = [hole(k) for _, k in required]
        every = positional + [hole(k) for _, k in optional]
        self.calls = [", ".join(every), ", ".join(every), ", ".join(positional)]
        if optional and "/" not in parts:
            named = [f"{n}={hole(k)}" for n, k in optional]
            self.calls.append(", ".join(positional + named[::-1]))
        if "/" not in parts and "*rest" not in parts:
            self.calls.append(", ".join(f"{n}={hole(k)}" for n, k in required))
        if "*rest" in parts:
            self.calls.append(", ".join([*every, "$any", "$any"]))
            self.calls.append(", ".join([*every, "*$ints[:2]"]))
        if "u" in self.kinds:
            self.calls.append(", ".join([*every, "u=$int"]))
        if "named" in self.kinds:
            self.calls.append(", ".join([*every, "extra=$int"]))
            self.calls.append(", ".join([*every, "**{'more': $int}"]))
        if len(every) == 2 and required == [("p", "int"), ("q", "int")]:
            self.calls.append("*$pair")


@contextmanager
def function_scope(g: Generator, what: str, result: str, kinds: dict[str, str]) -> Iterator[Scope]:
    """The inside of a function whose header has been written."""
    outer = g.scope
    inner = Scope(
        parent=None if outer is g.module else outer,
        what=what,
        result=result,
        counter=0 if outer is g.module else outer.counter,
        level=outer.level + 1,
        multiplier=outer.multiplier if outer is not g.module else 1,
    )
    inner.variables.update(kinds)
    inner.own.update(kinds)
    inner.fixed.update(n for n, k in kinds.items() if k == "self")
    bound, g.bound = g.bound, []
    blocks, g.blocks = g.blocks, max(0, g.blocks - 1)
    g.scope = inner
    g.indent += 1
    start = len(g.lines)
    try:
        yield inner
    finally:
        head = "    " * g.indent
        if inner.outer:
            g.lines.insert(start, f"{head}nonlocal {', '.join(sorted(inner.outer))}")
        if inner.globals:
            g.lines.insert(start, f"{head}global {', '.join(sorted(inner.globals))}")
        g.indent -= 1
        g.scope = outer
        g.bound = bound
        g.blocks = blocks


def body(g: Generator, statements: int) -> None:
    """Statements and a return."""
    for _ in range(statements):
        g.statement()
    g.line(f"return ${g.scope.result}")


def top_function(g: Generator, name: str, statements: int) -> tuple[Signature, str]:
    """A function of the module, which later ones may call."""
    signature = Signature(g)
    result = g.random.choice(RESULTS)
    g.cost = 0
    if g.chance(0.06):
        g.emit("@decorated")
    elif g.chance(0.04):
        g.emit(f"@scaled({g.leaf('int')})")
    g.emit(f"def {name}({signature.text}):")
    with function_scope(g, "function", result, signature.kinds):
        body(g, statements)
    cost = g.cost + 2
    for call in signature.calls:
        add_row(g.rows, result, f"{name}({call})", 1 / len(signature.calls), cost=cost)
    if g.chance(0.1):
        add_row(g.rows, "int", f"opaque({name}, {signature.calls[0]})", 0.3, cost=cost)
    g.cost = 0
    return signature, result


@statement_builder(4, needs="nest")
def nested_function(g: Generator) -> None:
    """A closure, and most often a call of it behind."""
    number = g.number()
    name = f"h{number}"
    signature = Signature(g, plain=g.chance(0.5))
    result = g.random.choice(RESULTS)
    cost, g.cost = g.cost, 0
    if g.chance(0.08):
        g.emit(g.pick("@decorated", "@scaled(2)"))
    g.emit(f"def {name}({signature.text}):")
    multiplier = g.scope.multiplier
    with function_scope(g, "function", result, signature.kinds) as inner:
        inner.multiplier = 1
        body(g, 1 + int(g.random.random() * 3))
    own, g.cost = g.cost + 2, cost
    if g.cost + own * multiplier > g.budget:
        raise NotHere
    for call in signature.calls:
        add_row(g.scope.rows, result, f"{name}({call})", 1 / len(signature.calls), cost=own, needs="")
    known = name
    g.line(f"$={result} = {known}({g.random.choice(signature.calls)})")
    g.cost += own * multiplier
    if g.chance(0.3):
        g.line(f"LOG.append({known})")
    if g.chance(0.3):
        g.line(f"$={result} = {known}({g.random.choice(signature.calls)})")
        g.cost += own * multiplier


@statement_builder(1, needs="nest")
def recursive_function(g: Generator) -> None:
    """A function that calls itself, down to zero."""
    if g.scope.multiplier > 4 or g.cost > 250:
        raise NotHere
    name = f"r{g.number()}"
    g.emit(f"def {name}(p, q):")
    with function_scope(g, "function", "int", {"p": "depth", "q": "int"}):
        cost = g.cost
        g.emit("if p <= 0:")
        g.emit("    return q")
        if g.chance(0.5):
            g.statement()
        if g.cost - cost > 20:
            raise NotHere
        form = g.pick("{}(p - 1, $int) + $int", "$int - {}(p - 2, $int)", "{0}(p - 2, {0}(p - 2, $int))")
        g.line(f"return {form.format(name)}")
    g.line(f"$=int = {name}({g.pick('3', '4', '5')}, $int)")
    g.cost += 40 * g.scope.multiplier


@statement_builder(1, needs="nest")
def counter_function(g: Generator) -> None:
    """Two closures over one cell."""
    number = g.number()
    g.line("$=int = $int")
    name = next((n for n in reversed(g.scope.variables) if g.scope.variables[n] == "int"), None)
    if name is None or name in g.scope.outer or name in g.scope.globals or name not in g.scope.variables:
        raise NotHere
    g.emit(f"def up{number}(by=1):")
    g.emit(f"    nonlocal {name}")
    g.emit(f"    {name} = ({name} + by) % 65537")
    g.emit(f"    return {name}")
    g.emit(f"get{number} = lambda: {name}")
    add_row(g.scope.rows, "int", f"up{number}()", cost=2)
    add_row(g.scope.rows, "int", f"up{number}($int)", cost=2)
    add_row(g.scope.rows, "int", f"get{number}()", cost=2)
    if g.chance(0.5):
        g.line(f"LOG.append(up{number})")


def data_kinds() -> list[str]:
    """Kinds of plain data."""
    return sorted(set(DATA))
