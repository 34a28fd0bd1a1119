"""Generators and coroutines, and statements that use them.

`gen` is a generator, `iter` any iterator of int.
"""

from __future__ import annotations

from .definitions import Signature, add_row, function_scope
from .engine import Generator, NotHere, expressions, statement, statement_builder, statements

G = {"feature": "generators"}
A = {"feature": "async"}

expressions(
    "genexp",  # over a list of its own, so it ends in every consumer
    """
    3 {x:int}($int for {x} in $^ints[:5])
    2 {x:int}($int for {x} in $^ints[:6] if $bool)
    2 {x:int}(told({x}) for {x} in $^ints[:5])
    2 {x:int}(told($int) for {x} in range($^n))
    1 {x:int}(picky({x}) for {x} in $^ints[:5])
    1 {x:int}(shifty({x}) for {x} in $^ints[:5])
    1 {x:int}{y:int}($int for {x} in $^ints[:3] for {y} in $^pair)
    1 {x:int}(LOG.append({x}) or {x} for {x} in $^ints[:3])
    1 {x:none}($v_ints.pop() for _ in range(3) if $v_ints)
    0.5@lifetimes {x:int}(Loud({x}).n for {x} in $^pair)
    0.5@lifetimes {x:int}(Loud($int) and {x} for {x} in $^pair)
    """,
)
expressions("gen", "8 $genexp\n1 {x:int}({x} + $int for {x} in $^gen)")
expressions(
    "iter", "4 $gen\n1 iter(Noted($n))\n1 Hint($ints, $n)\n1 {x:int}map(told, $gen)\n1 filter(None, $gen)"
)
expressions(
    "iterable",
    "6 $gen\n1 $iter\n1 Noted($n)\n1 {x:int}map(told, $gen)\n1 {x:none}(told(q) for q in $pair)\n0.5 $ints",
)

statement(14, "yield $int", needs="yield", **G)
statement(3, "$=int = (yield $int) or $int", needs="generator", **G)
statement(2, "$=any1 = yield", needs="generator", **G)
statement(1, "yield $any", needs="generator", **G)
statement(2, "yield from $ints", needs="generator", **G)
statement(4, "yield from $iter", needs="generator", **G)
statement(3, "$=any1 = yield from $gen", needs="generator", **G)
statement(2, "print('from', (yield from $gen))", needs="generator", **G)
statement(
    2,
    "try:\n    yield from $gen\nexcept $etype as $new_exc:\n    print('inner', $1)\n    $block",
    needs="generator",
    **G,
)
statement(2, "try:\n    yield from $gen\nfinally:\n    print('from over', $int)", needs="generator", **G)
statement(1, "for $new_int in $gen:\n    yield $1\n    $block", needs="generator", **G)
statement(1, "if $bool:\n    return $int", needs="last", **G)
statement(3, "try:\n    yield $int\n    $block\nfinally:\n    print('closing', $int)", needs="generator", **G)
statement(
    2,
    "try:\n    yield $int\nexcept $etype1 as $new_exc:\n    print('thrown', $1)\n    yield $int",
    needs="generator",
    **G,
)
statement(1, "with Guarded($int, $bool):\n    yield $int\n    $block", needs="generator", **G)
statement(
    0.5,
    "try:\n    yield $int\nexcept GeneratorExit:\n    print('exit', $int)\n    if $bool:\n        raise",
    needs="generator",
    **G,
)
statement(3, "print(drive($iter, $int, $exc, 'close'))", needs="function", **G)
statement(2, "print(drive($iter, $sent, $sent, $sent, $sent))", needs="function", **G)
statement(4, "asked($gen, None, $sent, $sent, $sent, $sent)", needs="function", **G)
statement(2, "for $new_int in $iter:\n    $block\n    if $bool:\n        break", needs="function", **G)
statement(1, "$=iter = $iter\n$=int = next($v_iter, 0) + next($v_iter, 1)", **G)
INSIDE = {"x": "none"}  # no walrus in the iterable of a comprehension
expressions("sent", "3 $int\n2 None\n2 $exc\n1 'close'\n1 $str")

# --- consumers: code that iterates over a generator, to its end or not
expressions(
    "int",
    """
    1@generators sum($gen)
    0.5@generators sum($gen, $int)
    0.4@generators len(list($gen))
    0.4@generators len({*$gen})
    0.4@generators max($gen, default=$int)
    0.4@generators {x:int}min($^gen, key=lambda {x}: $int, default=0)
    0.5@generators next($gen, $int)
    0.3@generators functools.reduce(operator.sub, $gen, $int)
    0.4@generators both(*$gen)
    0.3@generators both($int, *$gen, u=$int)
    0.3@generators {x:none}sum(1 for _ in $gen)
    0.3! min($gen)
    0.3! next($gen)
    """,
)
expressions(
    "bool",
    """
    1@generators any($gen)
    1@generators all($gen)
    0.7@generators {x:int}any($bool for {x} in $^gen)
    0.7@generators ($int in $gen)
    0.4@generators ($any not in $gen)
    """,
)
expressions(
    "ints",
    """
    1@generators list($gen)[:8]
    0.7@generators [*$gen][:8]
    0.7@generators sorted($gen)[:8]
    0.5@generators sorted($gen, reverse=$bool)[:8]
    0.5@generators [*$ints, *$gen][:8]
    0.4@generators {x:int}{y:int}[{x} - {y} for {x}, {y} in zip($^gen, $^iter)][:8]
    0.4@generators {x:int}{y:int}[{x} + {y} for {x}, {y} in enumerate($^gen)][:8]
    0.4@generators {x:int}list(map(lambda {x}: $int, $^gen))[:8]
    0.4@generators {x:int}sorted($^gen, key=lambda {x}: $int)[:8]
    """,
)
expressions("pair", "0.7@generators tuple($gen)[:2]\n0.4@generators (*$gen, 1, 2)[:2]")
expressions("set", "0.7@generators set($gen)\n0.4@generators {*$gen}\n0.3@generators frozenset($gen) | $set")
expressions(
    "str",
    "1@generators {x:none}','.join(str(q) for q in $gen)[:20]\n"
    "0.5@generators {x:str}$str.join($str for {x} in $^strs)[:20]",
)
expressions(
    "map",
    "0.7@generators {x:int}dict((str({x} % 3), {x}) for {x} in $^gen)\n0.4@generators dict.fromkeys(map(str, $gen), 1)",
)
statements(
    """
    1.5 $=int = sum($iterable)
    1.5 print(list($iterable))
    1 print(tuple($iterable))
    1 print([*$iterable, *$iterable])
    1 print(sorted(set($iterable), key=str))
    1 print(min($iterable, default=None), max($iterable, default=None))
    1 print(any($iterable), all($iterable))
    1 $=int, *$=ints = $int, *$gen
    0.7! $=int, $=int = $gen
    0.7! $=int, *$=ints = $gen
    1 print(next($iter, None))
    1 $=iter = $gen
    1 print(*$iterable)
    1 print(both(*$iterable, **{'k': $int}))
    """,
    **G,
)
statement(1, "$v_ints.extend($genexp)\ndel $0[12:]", **G)
statement(1, "$v_ints[$n:$n] = $genexp\ndel $0[12:]", **G)
statement(1, "$m_ints += $genexp\ndel $0[12:]", **G)
statement(1, "$v_set.update($gen)", **G)
statement(1, "$v_set.intersection_update($gen)", **G)
statement(0.7, "{x:none}$v_map.update((str(q % 3), q) for q in $gen)", **G)
statement(1, "$=iter = $gen\nprint(next($v_iter, None), sum($v_iter), list($v_iter))", **G)
statement(1, "$new_iter = $gen\nfor $new_int in $1:\n    print($2, next($1, None))\n    $block", **G)
statement(1, "try:\n    print(sum($gen), list($gen))\nexcept $etype as $new_exc:\n    print(lines($1))", **G)
statement(1, "try:\n    $=int, $=int = $gen\nexcept (ValueError, TypeError) as $new_exc:\n    print($1)", **G)
statement(1, "for $new_int, $new_int in zip($gen, $gen):\n    $block", **G)
statement(1, "for $new_int in filter(None, $gen):\n    $block", **G)
# Variables of a generator change; a generator resumes itself; a generator is closed while its consumer waits for an
# item.
statement(
    0.7,
    "$new_ints = $ints[:5]\nprint(sum($1.pop() for _ in $1), $1)",
    **G,
)
statement(0.7, "$new_ints = $ints[:4]\n$1.extend(told(q) for q in $1[:3])\nprint($1)", **G)
statement(0.7, "$new_ints = $ints[:4]\n$1[:] = ($1.append(q) or q for q in $1[:2])\nprint($1)", **G)
statement(
    0.7,
    "{x:none}$new_iter = (next($1, q) for q in $pair)\ntry:\n    print(list($1))\n"
    "except ValueError as $new_exc:\n    print($2)",
    needs="function",
    **G,
)
statement(
    0.7,
    "$new_iter = $gen\ntry:\n    print(sorted($1, key=lambda q: next($1, q)))\nexcept Exception as $new_exc:\n"
    "    print(type($2).__name__, $2)",
    needs="function",
    **G,
)
statement(
    0.7,
    "$new_iter = $gen\nfor $new_int in $1:\n    $block\n    $1.close()",
    needs="function",
    **G,
)

# --- coroutines
statement(10, "$=int = await Pause($int)", needs="await", **A)
statement(2, "$=int = await paused($int)", needs="await", **A)
statement(2, "$=int = await Relay(Pause($int))", needs="await", **A)
statement(3, "async with AsyncGuarded($int, $bool) as $new_int:\n    $block", needs="await", **A)
statement(2, "async for $new_int in Stream($n):\n    $block", needs="await", **A)
statement(
    2,
    "try:\n    $=int = await Pause($int)\n    $block\nexcept $etype as $new_exc:\n    print('thrown', $1)\n    $block",
    needs="await",
    **A,
)
statement(1, "try:\n    $=int = await Pause($int)\nfinally:\n    print('after', $int)", needs="await", **A)


def _generator_body(g: Generator, statements: int) -> None:
    g.line("yield $int")
    for _ in range(statements):
        g.statement()
    if g.chance(0.4):
        g.line("return $int")


def define_generator(g: Generator) -> None:
    """A generator of the module."""
    name = f"gen{g.number()}"
    signature = Signature(g, plain=g.chance(0.5))
    g.cost = 0
    g.emit(f"def {name}({signature.text}):")
    with function_scope(g, "generator", "int", signature.kinds):
        _generator_body(g, 1 + g.random.randrange(3))
    cost = g.cost + 3
    g.cost = 0
    for call in signature.calls:
        weight = 1 / len(signature.calls)
        add_row(g.rows, "gen", f"{name}({call})", 3 * weight, cost=cost)
        add_row(g.rows, "iter", f"{name}({call})", 2 * weight, cost=cost)
        add_row(g.rows, "iterable", f"{name}({call})", 2 * weight, cost=cost)
        add_row(g.rows, "int", f"sum({name}({call}))", weight, cost=cost)
        add_row(g.rows, "ints", f"list({name}({call}))[:8]", weight, cost=cost)
        add_row(g.rows, "int", f"next({name}({call}))", 0.5 * weight, cost=cost)
        add_row(g.rows, "ints", f"[x + 1 for x in {name}({call})][:8]", 0.5 * weight, cost=cost, bind=INSIDE)


@statement_builder(4, needs="nest", **G)
def nested_generator(g: Generator) -> None:
    """A generator that uses enclosing variables, and a consumer of it."""
    name = f"each{g.number()}"
    signature = Signature(g, plain=g.chance(0.7))
    cost, g.cost = g.cost, 0
    g.emit(f"def {name}({signature.text}):")
    multiplier = g.scope.multiplier
    with function_scope(g, "generator", "int", signature.kinds) as inner:
        inner.multiplier = 1
        _generator_body(g, int(g.random.random() * 3))
    own, g.cost = g.cost + 3, cost
    if g.cost + own * multiplier > g.budget:
        raise NotHere
    for call in signature.calls:
        weight = 1 / len(signature.calls)
        add_row(g.scope.rows, "gen", f"{name}({call})", 2 * weight, cost=own)
        add_row(g.scope.rows, "int", f"sum({name}({call}))", 0.5 * weight, cost=own)
    call = g.random.choice(signature.calls)
    form = g.pick(
        "for $new_int in {}:\n    $block",
        "print(list({}))",
        "$=int = sum({})",
        "print(any({}), all({}))",
        "print(max({}, default=None))",
        "$=ints = [*{}][:8]",
        "$=iter = {}",
        "asked({}, None, $sent, $sent, $sent)",
        "{x:none}print(tuple(q for q in {}))",  # no walrus here, either
        "$=int, *$=ints = $int, *{}",
    )
    g.template(form.replace("{}", f"{name}({call})"))
    g.cost += own * multiplier


@statement_builder(2, needs="nest", **G)
def chain(g: Generator) -> None:
    """Generators that delegate to one another, driven from outside."""
    number = g.number()
    inner, *outer = (f"link{number}_{level}" for level in range(2 + int(g.random.random() * 3)))
    cost, g.cost = g.cost, 0
    multiplier = g.scope.multiplier
    g.emit(f"def {inner}(p):")
    with function_scope(g, "generator", "int", {"p": "int"}) as scope:
        scope.multiplier = 1
        _generator_body(g, 1 + int(g.random.random() * 2))
    for name in outer:
        g.emit(f"def {name}(p):")
        with function_scope(g, "generator", "int", {"p": "int"}) as scope:
            scope.multiplier = 1
            form = g.pick(
                "return (yield from {}(p))",
                "$=any1 = yield from {}(p)\nprint('through', $v_any1)\nreturn $v_any1",
                "yield from {}(p)\nyield from {}($int)",
                "try:\n    $=any1 = yield from {}(p)\nexcept $etype as $new_exc:\n    print('caught', $1)\n"
                "    yield from {}($int)",
                "try:\n    yield from {}($int)\nfinally:\n    print('end of', p)",
                "for $new_int in {}(p):\n    yield $1 + p",
                "with Guarded(p, $bool):\n    yield from {}(p)",
                "yield $int\nreturn (yield from {}($int))",
            )
            g.template(form.replace("{}", inner))
        inner = name
    own, g.cost = 2 * (g.cost + 3 * len(outer)), cost
    if g.cost + own * multiplier > g.budget:
        raise NotHere
    form = g.pick(
        "asked({}($int), None, $sent, $sent, $sent, $sent)",
        "print(drive({}($int), $sent, $sent, $sent))",
        "for $new_int in {}($int):\n    $block",
        "print(list({}($int)))",
        "$=int = sum({}($int))",
    )
    g.template(form.replace("{}", inner))
    add_row(g.scope.rows, "gen", f"{inner}($int)", cost=own)
    g.cost += own * multiplier


def define_coroutine(g: Generator) -> None:
    """A coroutine or an asynchronous generator of the module; `run` is the loop."""
    name = f"co{g.number()}"
    signature = Signature(g, plain=g.chance(0.5))
    streaming = g.chance(0.3)
    g.cost = 0
    g.emit(f"async def {name}({signature.text}):")
    with function_scope(g, "asyncgen" if streaming else "coroutine", "int", signature.kinds) as scope:
        for kind, table in g.rows.items():
            if kind == "awaitable":
                scope.rows["int"] = table
        for _ in range(1 + g.random.randrange(3)):
            g.statement()
        g.line("yield $int" if streaming else "return $int")
    cost = g.cost + 3
    g.cost = 0
    for call in signature.calls:
        weight = 1 / len(signature.calls)
        if streaming:
            row = f"sum([x async for x in {name}({call})])"
            add_row(g.rows, "awaitable", row, weight, cost=cost, bind=INSIDE, needs="await")
        else:
            add_row(g.rows, "awaitable", f"(await {name}({call}))", 2 * weight, cost=cost, needs="await")
            row = f"(await Relay({name}({call})))"
            add_row(g.rows, "awaitable", row, 0.5 * weight, cost=cost, needs="await")
            add_row(g.rows, "int", f"run({name}({call}))", weight, cost=cost)
            add_row(g.rows, "int", f"broken({name}({call}), $n, $exc)", 0.4 * weight, cost=cost)
            add_row(g.rows, "int", f"broken({name}({call}), $n, None)", 0.2 * weight, cost=cost)
