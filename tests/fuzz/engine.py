"""Typed templates and how they are expanded.

A template is source text with holes. In an expression template:

    $int          an expression of that kind (`any`: of plain data, `object`: of a class of the program)
    $v_int        a variable of that kind (the row does not apply where there is none)
    $a_int        a local variable that may be assigned to (the same)
    $m_int        a variable of that kind, declared nonlocal or global where it has to be to be assigned to (the same)
    $l_int        a literal of that kind
    $^int         an expression outside of the names that the row binds
    {x}, {y}      names that the row binds, declared by `bind`

In a statement template, line by line:

    $=int         a variable to assign to: one that is there, or a new one, which is known from the next line on
    $new_int      a new variable; `$1`, `$2`, ... name the new variables of the template again
    $0            the last variable that the template itself has named by `$v_...` or `$m_...`
    $block        a line of its own: nested statements; what they define is forgotten behind the template

A kind is a word; `tables` say which expressions there are for it.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

MAX_DEPTH = 3
HOLE = re.compile(r"\$(\^?\w+|=\w+)|\{([xyz])\}")


class NotHere(Exception):
    """The template cannot be used here."""


@dataclass(slots=True)
class Row:
    """One template, or a function that writes the text."""

    weight: float
    text: str
    parts: list[tuple[str, str]] = field(default_factory=list)
    bind: dict[str, str] = field(default_factory=dict)
    feature: str = ""
    risky: bool = False  # raises often
    cost: int = 0
    needs: str = ""  # what the scope must be: loop, function, generator, coroutine, ...
    keeps: bool = False  # variables of the template's blocks stay known behind it
    build: Callable[[Generator], str | None] | None = None


def _parsed(text: str) -> list[tuple[str, str]]:
    parts, end = [], 0
    for match in HOLE.finditer(text):
        if match.start() > end:
            parts.append(("text", text[end : match.start()]))
        hole, name = match.groups()
        if name:
            parts.append(("name", name))
        elif hole.startswith("^"):
            parts.append(("outer", hole[1:]))
        elif hole.startswith("="):
            parts.append(("assign", hole[1:]))
        elif hole.startswith("v_"):
            parts.append(("variable", hole[2:]))
        elif hole.startswith("a_"):
            parts.append(("own", hole[2:]))
        elif hole.startswith("m_"):
            parts.append(("mutated", hole[2:]))
        elif hole.startswith("l_"):
            parts.append(("literal", hole[2:]))
        elif hole.startswith("new_"):
            parts.append(("new", hole[4:]))
        elif hole.isdigit():
            parts.append(("again", hole))
        else:
            parts.append(("expr", hole))
        end = match.end()
    if end < len(text):
        parts.append(("text", text[end:]))
    return parts


class Table:
    """Rows to choose from by weight."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._sums: list[float] | None = None

    def add(self, row: Row) -> None:
        self.rows.append(row)
        self._sums = None

    def choose(self, random: Random) -> Row:
        if self._sums is None:
            self._sums = list(accumulate(row.weight for row in self.rows))
        return self.rows[bisect(self._sums, random.random() * self._sums[-1])]


EXPRESSIONS: dict[str, Table] = {}
STATEMENTS = Table()
LITERALS: dict[str, Callable[[Random], str]] = {}


def expressions(kind: str, text: str, **options: object) -> None:
    """Adds rows, one a line: weight, then the template; `!` behind the weight: risky, `@feature` the feature."""
    table = EXPRESSIONS.setdefault(kind, Table())
    for line in text.strip("\n").splitlines():
        if not line.strip():
            continue
        head, _, template = line.strip().partition(" ")
        head, _, feature = head.partition("@")
        bind, template = _bindings(template)
        table.add(
            Row(
                float(head.rstrip("!")),
                template,
                _parsed(template),
                bind,
                feature,
                "!" in head,
                **options,  # type: ignore[arg-type]
            )
        )


def _bindings(template: str) -> tuple[dict[str, str], str]:
    """The bindings `{x:int}` in front of a template, and the rest of the template."""
    return dict(re.findall(r"\{([xyz]):(\w+)\}", template)), re.sub(r"\{([xyz]):\w+\}", "", template).strip()


def statement(
    weight: float, text: str, *, feature: str = "", risky: bool = False, needs: str = "", keeps: bool = False
) -> None:
    """Adds a statement template."""
    STATEMENTS.add(Row(weight, text.strip("\n"), feature=feature, risky=risky, needs=needs, keeps=keeps))


def statements(text: str, *, feature: str = "", needs: str = "") -> None:
    """Adds statement templates of one line each: weight, then the template; `!` behind the weight: risky."""
    for line in filter(str.strip, text.splitlines()):
        head, _, template = line.strip().partition(" ")
        statement(float(head.rstrip("!")), template, feature=feature, risky="!" in head, needs=needs)


def statement_builder(weight: float, *, feature: str = "", risky: bool = False, needs: str = "") -> Callable:
    """Adds a function that emits statements itself."""

    def add(build: Callable[[Generator], None]) -> Callable[[Generator], None]:
        STATEMENTS.add(Row(weight, build.__name__, feature=feature, risky=risky, needs=needs, build=build))
        return build

    return add


def literal(kind: str) -> Callable:
    """Registers a function that makes literals of a kind."""

    def add(make: Callable[[Random], str]) -> Callable[[Random], str]:
        LITERALS[kind] = make
        return make

    return add


@dataclass
class Scope:
    """The names that a function can read and assign, and the current position in it."""

    parent: Scope | None = None
    variables: dict[str, str] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)  # not assigned, because loops depend on them
    outer: set[str] = field(default_factory=set)  # nonlocal
    globals: set[str] = field(default_factory=set)  # declared global
    counter: int = 0
    what: str = "function"  # or module, generator, coroutine, asyncgen
    result: str = "int"
    loops: int = 0
    trying: int = 0
    no_jump: int = 0  # inside of except*
    multiplier: int = 1
    level: int = 0
    rows: dict[str, Table] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)  # every name that has ever been local here


class Generator:
    """Expands templates. One for each program; everything follows from the seed."""

    def __init__(self, seed: int, size: int, off: frozenset[str]) -> None:
        self.random = Random(seed)
        self.size = size
        self.off = off
        self.lines: list[str] = []
        self.indent = 0
        self.module = Scope(what="module")
        self.scope = self.module
        self.rows: dict[str, Table] = {}  # templates for what the program defines
        self.depth = 0
        self.blocks = 0
        self.cost = 0  # statements that the function under construction can execute
        self.budget = 400
        self.news: list[str] = []
        self.target = ""  # the variable that the statement is about: `$0`
        self.pending: dict[str, str] = {}
        self.bound: list[dict[str, str]] = []  # names bound by enclosing comprehensions and lambdas
        self.serial = 0
        self.classes: list[str] = []
        self.risk = 0.02
        self.in_class = 0
        self.left = size  # number of statements to write; at the end blocks are as short as possible

    # --- small choices

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *choices: str) -> str:
        return choices[int(self.random.random() * len(choices))]

    def number(self) -> int:
        self.serial += 1
        return self.serial

    # --- names

    def visible(self, kind: str) -> list[str]:
        found = [name for names in self.bound for name, k in names.items() if k == kind]
        scope: Scope | None = self.scope
        if kind == "fn":  # calls through variables could become recursive
            return [] if found or scope is None else [n for n, k in scope.variables.items() if k == kind]
        while scope is not None:
            found += [name for name, k in scope.variables.items() if k == kind]
            scope = scope.parent
        if self.scope is not self.module and not (self.in_class and kind[0] == "C"):
            found += [name for name, k in self.module.variables.items() if k == kind]
        return found

    def fresh(self, kind: str) -> str:
        """A new name in the scope; its first letter depends on its kind."""
        scope = self.scope
        scope.counter += 1
        letter = "G" if scope is self.module else kind[0].lower()
        return f"{letter}{scope.counter}"

    def declare(self, name: str, kind: str) -> None:
        self.scope.variables[name] = kind

    def assignable(self, kind: str) -> str:
        scope = self.scope
        own = [name for name, k in scope.variables.items() if k == kind and name not in scope.fixed]
        choice = self.random.random()
        if own and choice < 0.55:
            return self.random.choice(own)
        if choice < 0.68 and scope.what != "module":
            outer = scope.parent
            while outer is not None:
                names = [
                    n
                    for n, k in outer.variables.items()
                    if k == kind and n not in outer.fixed and n not in scope.own and n not in outer.globals
                ]
                if names:
                    name = self.random.choice(names)
                    scope.outer.add(name)
                    return name
                outer = outer.parent
            names = [n for n, k in self.module.variables.items() if k == kind and n not in self.module.fixed]
            if names:
                name = self.random.choice(names)
                scope.globals.add(name)
                return name
        name = self.fresh(kind)
        self.pending[name] = kind
        return name

    def mutated(self, kind: str) -> str:
        """An existing variable to which the scope may assign."""
        scope = self.scope
        names = [n for n in self.visible(kind) if n not in scope.fixed]
        names = [n for n in names if n in scope.variables or n not in scope.own]
        names = [n for n in names if not any(n in bound for bound in self.bound)]
        if not names or scope.what == "module":
            raise NotHere
        name = self.random.choice(names)
        if name in scope.variables:
            return name
        outer = scope.parent
        while outer is not None:
            if name in outer.variables:
                if name in outer.globals:
                    raise NotHere
                scope.outer.add(name)
                return name
            outer = outer.parent
        scope.globals.add(name)
        return name

    # --- expressions

    def literal(self, kind: str) -> str:
        make = LITERALS.get(kind)
        if make is None:
            raise NotHere
        return make(self.random)

    def leaf(self, kind: str) -> str:
        names = self.visible(kind)
        if names and self.random.random() < 0.75:
            return self.random.choice(names)
        try:
            return self.literal(kind)
        except NotHere:
            if names:
                return self.random.choice(names)
            raise

    def expr(self, kind: str) -> str:
        """An expression whose value has this kind, as long as no disturbance changes it."""
        if kind == "result":
            kind = self.scope.result
        if kind == "any":
            kind = self.random.choice(DATA)
        elif kind == "hash":
            kind = self.random.choice(HASHABLE)
        elif kind == "object":
            if not self.classes:
                raise NotHere
            kind = self.random.choice(self.classes)
        random = self.random
        if self.depth >= MAX_DEPTH or random.random() < 0.15 + 0.2 * self.depth:
            try:
                return self.leaf(kind)
            except NotHere:
                pass
        for _ in range(12):
            table = self._table(kind)
            if table is None:
                break
            row = table.choose(random)
            if not self.applies(row):
                continue
            try:
                return self.expand(row)
            except NotHere:
                continue
        return self.leaf(kind)

    def _table(self, kind: str) -> Table | None:
        choices = []
        scope: Scope | None = self.scope
        while scope is not None:
            if kind in scope.rows:
                choices.append(scope.rows[kind])
            scope = scope.parent
        if kind in self.rows:
            choices.append(self.rows[kind])
        static = EXPRESSIONS.get(kind)
        if choices and (static is None or (self.depth < 3 and self.random.random() < 0.25)):
            return self.random.choice(choices)
        return static

    def applies(self, row: Row) -> bool:
        if row.feature and row.feature in self.off:
            return False
        if row.risky and not (self.random.random() < (0.5 if self.scope.trying else self.risk)):
            return False
        if row.needs and not self.has(row.needs):
            return False
        return not (row.cost and self.cost + row.cost * self.scope.multiplier > self.budget)

    def has(self, needs: str) -> bool:
        scope = self.scope
        if needs == "loop":
            return scope.loops > 0 and not scope.no_jump
        if needs == "function":
            return scope.what != "module"
        if needs == "plain":  # here a walrus binds in the function itself
            return scope.what != "module" and not self.bound
        if needs == "return":
            return scope.what == "function" and not scope.no_jump
        if needs == "yield":
            return scope.what in ("generator", "asyncgen") and not self.bound
        if needs == "generator":
            return scope.what == "generator" and not self.bound
        if needs == "last":  # here a generator may return
            return scope.what == "generator" and not self.bound and not scope.no_jump
        if needs == "await":
            return scope.what in ("coroutine", "asyncgen") and not self.bound
        if needs == "try":
            return scope.trying > 0
        if needs == "nest":
            return scope.what != "module" and scope.level < 3 and self.blocks < 3
        raise AssertionError(needs)

    def expand(self, row: Row) -> str:
        if row.build is not None:
            text = row.build(self)
            if text is None:
                raise NotHere
            return text
        self.cost += row.cost * self.scope.multiplier
        names = {}
        if row.bind:
            for label, kind in row.bind.items():
                self.serial += 1
                names[label] = (f"{label}{self.serial}", kind)
            self.bound.append({name: kind for name, kind in names.values() if kind != "none"})
        self.depth += 1
        try:
            found = []
            for what, text in row.parts:
                if what == "text":
                    found.append(text)
                elif what == "expr":
                    found.append(self.expr(text))
                elif what == "name":
                    found.append(names[text][0])
                elif what == "variable":
                    choices = self.visible(text)
                    if not choices:
                        raise NotHere
                    found.append(self.random.choice(choices))
                    if self.depth == 1:
                        self.target = found[-1]
                elif what == "own":
                    scope = self.scope
                    own = [n for n, k in scope.variables.items() if k == text and n not in scope.fixed]
                    if not own:
                        raise NotHere
                    found.append(self.random.choice(own))
                elif what == "mutated":
                    found.append(self.mutated(text))
                    if self.depth == 1:
                        self.target = found[-1]
                elif what == "literal":
                    found.append(self.literal(text))
                elif what == "outer":
                    inner, self.bound[-1] = self.bound[-1], {}
                    try:
                        found.append(self.expr(text))
                    finally:
                        self.bound[-1] = inner
                elif what == "assign":
                    found.append(self.assignable(text))
                elif what == "new":
                    name = self.fresh(text)
                    self.pending[name] = text
                    self.news.append(name)
                    found.append(name)
                elif what == "again" and text == "0":
                    found.append(self.target)
                elif what == "again":
                    found.append(self.news[int(text) - 1])
            return "".join(found)
        finally:
            self.depth -= 1
            if row.bind:
                self.bound.pop()

    # --- statements

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def line(self, template: str) -> None:
        """One line of a template; new names are known behind it."""
        pending, self.pending = self.pending, {}
        try:
            text = self.expand(_cached(template))
            self.emit(text)
            self.scope.variables.update(self.pending)
            self.scope.own.update(self.pending)
            self.cost += self.scope.multiplier
        finally:
            self.pending = pending

    def block(self, limit: int = 3, *, forget: bool = True) -> None:
        """One or more nested statements, one level deeper."""
        known = dict(self.scope.variables)
        self.indent += 1
        self.blocks += 1
        start = len(self.lines)
        for _ in range(1 + int(self.random.random() * limit)):
            if self.left <= 0 and len(self.lines) > start:
                break
            self.statement()
        if len(self.lines) == start:
            self.emit("pass")
        self.blocks -= 1
        self.indent -= 1
        if forget:
            self.scope.variables = {n: k for n, k in self.scope.variables.items() if n in known}

    def statement(self) -> None:
        """One statement, of any form that is possible here."""
        for _ in range(10):
            row = STATEMENTS.choose(self.random)
            deep = (self.blocks >= 4 or self.left <= 0) and ("$block" in row.text or row.build is not None)
            if deep or not self.applies(row):
                continue
            mark, cost = len(self.lines), self.cost
            known = dict(self.scope.variables)
            state = (self.indent, self.blocks, self.scope)
            counts = (self.scope.loops, self.scope.trying, self.scope.no_jump, self.scope.multiplier)
            bound, fixed, news = list(self.bound), set(self.scope.fixed), self.news
            self.news = []
            self.left -= 1
            try:
                if row.build is not None:
                    row.build(self)
                else:
                    self._template(row)
                return
            except NotHere:
                del self.lines[mark:]
                self.cost = cost
                self.indent, self.blocks, self.scope = state
                scope = self.scope
                scope.loops, scope.trying, scope.no_jump, scope.multiplier = counts
                scope.variables, scope.fixed, self.bound = known, fixed, bound
            finally:
                self.news = news

    def template(self, text: str) -> None:
        """Emits the statements of a template; for builders that write statements themselves."""
        self._template(Row(1, text))

    def _template(self, row: Row) -> None:
        news, self.news = self.news, []
        known = dict(self.scope.variables)
        base = self.indent
        nested = "$block" in row.text
        stack: list[tuple[int, str]] = []
        fixed = set(self.scope.fixed)
        for raw in row.text.splitlines():
            text = raw.lstrip()
            level = (len(raw) - len(text)) // 4
            self.indent = base + level
            while stack and stack[-1][0] >= level:
                self._close(stack.pop()[1])
            if text.startswith("$block"):
                self.indent -= 1
                self.block(2 if self.blocks else 3)
                continue
            self.line(text)
            if text.endswith(":"):
                stack.append((level, self._open(text)))
        while stack:
            self._close(stack.pop()[1])
        self.indent = base
        self.scope.fixed = fixed
        self.news = news
        if nested and not row.keeps:
            self.scope.variables = {n: k for n, k in self.scope.variables.items() if n in known}

    def _open(self, text: str) -> str:
        """Which body the header opens, for the statements in it."""
        scope = self.scope
        if text.startswith(("for ", "while ", "async for ")):
            scope.loops += 1
            scope.multiplier *= 4
            if text.startswith("while") or self.chance(0.5):
                scope.fixed.update(self.news)
            return "loop"
        if text.startswith("try:"):
            scope.trying += 1
            return "try"
        if text.startswith("except*"):
            scope.no_jump += 1
            return "except*"
        return ""

    def _close(self, what: str) -> None:
        scope = self.scope
        if what == "loop":
            scope.loops -= 1
            scope.multiplier //= 4
        elif what == "try":
            scope.trying -= 1
        elif what == "except*":
            scope.no_jump -= 1


_cache: dict[str, Row] = {}


def _cached(text: str) -> Row:
    if text not in _cache:
        bind, template = _bindings(text)
        _cache[text] = Row(1, template, _parsed(template), bind)
    return _cache[text]


# The kinds that `$any` and `$hash` can become.
DATA = (
    ["int"] * 6
    + ["float"] * 4
    + ["bool", "str", "str", "bytes", "none", "ints", "ints", "floats", "strs", "pair", "pair"]
    + ["mixed", "map", "set", "arr", "arr", "iarr", "barr", "mat", "npf", "npi", "f4arr"]
)
HASHABLE = ["int", "int", "float", "str", "bool", "bytes", "none", "pair"]
