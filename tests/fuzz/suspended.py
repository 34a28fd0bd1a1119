"""Generators and coroutines, and statements that use them."""

from __future__ import annotations

from .definitions import Signature, add_row, function_scope
from .engine import Generator, expressions, statement

G = {"feature": "generators"}
A = {"feature": "async"}

statement(14, "yield $int", needs="yield", **G)
statement(3, "$=int = (yield $int) or $int", needs="generator", **G)
statement(2, "$=any1 = yield", needs="generator", **G)
statement(2, "yield from $ints", needs="generator", **G)
statement(2, "yield from $iter", needs="generator", **G)
statement(3, "try:\n    yield $int\n    $block\nfinally:\n    print('closing', $int)", needs="generator", **G)
statement(
    2,
    "try:\n    yield $int\nexcept $etype1 as $new_exc:\n    print('thrown', $1)\n    yield $int",
    needs="generator",
    **G,
)
statement(1, "with Guarded($int, $bool):\n    yield $int\n    $block", needs="generator", **G)
statement(3, "print(drive($iter, $int, $exc, 'close'))", needs="function", **G)
statement(2, "print(drive($iter, $sent, $sent, $sent, $sent))", needs="function", **G)
statement(2, "for $new_int in $iter:\n    $block\n    if $bool:\n        break", needs="function", **G)
statement(1, "$=iter = $iter\n$=int = next($v_iter, 0) + next($v_iter, 1)", **G)
INSIDE = {"x": "none"}  # no walrus in what a comprehension goes over
expressions("sent", "3 $int\n2 None\n2 $exc\n1 'close'\n1 $str")

statement(10, "$=int = await Pause($int)", needs="await", **A)
statement(3, "async with AsyncGuarded($int, $bool) as $new_int:\n    $block", needs="await", **A)


def define_generator(g: Generator) -> None:
    """A generator of the module."""
    name = f"gen{g.number()}"
    signature = Signature(g, plain=g.chance(0.5))
    g.cost = 0
    g.emit(f"def {name}({signature.text}):")
    with function_scope(g, "generator", "int", signature.kinds):
        g.line("yield $int")
        for _ in range(1 + g.random.randrange(3)):
            g.statement()
        if g.chance(0.4):
            g.line("return $int")
    cost = g.cost + 3
    g.cost = 0
    for call in signature.calls:
        weight = 1 / len(signature.calls)
        add_row(g.rows, "iter", f"{name}({call})", 2 * weight, cost=cost)
        add_row(g.rows, "int", f"sum({name}({call}))", weight, cost=cost)
        add_row(g.rows, "ints", f"list({name}({call}))[:8]", weight, cost=cost)
        add_row(g.rows, "int", f"next({name}({call}))", 0.5 * weight, cost=cost)
        add_row(g.rows, "ints", f"[x + 1 for x in {name}({call})][:8]", 0.5 * weight, cost=cost, bind=INSIDE)


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
            add_row(
                g.rows,
                "awaitable",
                f"sum([x async for x in {name}({call})])",
                weight,
                cost=cost,
                bind=INSIDE,
                needs="await",
            )
        else:
            add_row(g.rows, "awaitable", f"(await {name}({call}))", weight, cost=cost, needs="await")
            add_row(g.rows, "int", f"run({name}({call}))", weight, cost=cost)
