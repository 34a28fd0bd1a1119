"""Templates of statements: assignment, branches, loops, containers, matching."""

from __future__ import annotations

from .engine import DATA, Generator, NotHere, statement, statement_builder


@statement_builder(22)
def assign(g: Generator) -> None:
    kind = g.random.choice(DATA) if not g.chance(0.12) else g.pick("map", "table", "fn", "iter", "set")
    if kind == "fn" and g.scope.what == "module":
        raise NotHere
    g.line(f"$={kind} = ${kind}")


@statement_builder(4)
def assign_object(g: Generator) -> None:
    if not g.classes:
        raise NotHere
    kind = g.random.choice(g.classes)
    g.line(f"$={kind} = ${kind}")


statement(4, "$a_int += $int")
statement(3, "$a_int -= $int")
statement(2, "$a_int = ($a_int * $int) % $prime")
statement(1, "$a_int //= $nz")
statement(1, "$a_int ^= $int")
statement(3, "$a_float += $float")
statement(2, "$a_float *= $float")
statement(1, "$a_float /= $float", risky=True)
statement(1, "$a_str += $str[:3]")
statement(2, "$=int, $=int = $pair")
statement(1, "$=int, $=float = $int, $float")
statement(1, "[$=int, $=int] = $int, $int")
statement(1, "$=int, *$=ints = [$int, *$ints]")
statement(1, "*$=ints, $=int = *$ints, $int")
statement(1, "$=int, ($=float, $=str) = $int, ($float, $str)")
statement(1, "$=int, $=int = $ints", risky=True)
statement(2, "$=int = $=int = $int")
statement(1, "$new_int: int = $int")
statement(5, "print($any, $any)")
statement(3, "print($str, $int)")
statement(2, "LOG.append($hash)")
statement(1, "$any")
statement(1, "del LOG[5:]")

# --- containers
statement(3, "$v_ints.append($int)\ndel $0[12:]")
statement(1, "$v_ints[$n:$n] = $ints[:3]\ndel $0[12:]")
statement(1, "$v_ints[$n] = $int", risky=True)
statement(2, "if $v_ints:\n    $0[-1] = $int")
statement(1, "$v_ints.reverse()")
statement(1, "$v_ints.sort(key=lambda q: -q)")
statement(1, "$v_ints.clear()")
statement(1, "del $v_ints[$slice]")
statement(1, "$v_ints.pop()", risky=True)
statement(1, "$v_ints.remove($int)", risky=True)
statement(1, "$m_ints += $ints[:3]\ndel $0[12:]")
statement(3, "$v_map[$key] = $int")
statement(1, "$v_map[$key] += $int", risky=True)
statement(1, "del $v_map[$key]", risky=True)
statement(1, "$v_map.update($map)")
statement(1, "$v_map.pop($key, None)")
statement(1, "$v_map.setdefault($key, $int)")
statement(1, "$v_table.setdefault($n, []).append($int)")
statement(1, "$v_set.add($int)")
statement(1, "$v_set.discard($int)")
statement(1, "$m_set |= $set")
statement(0.7, "$v_floats.append($float)\ndel $0[9:]")

# --- branches
statement(12, "if $bool:\n    $block")
statement(10, "if $bool:\n    $block\nelse:\n    $block")
statement(4, "if $int > $int:\n    $block\nelif $bool:\n    $block\nelse:\n    $block")
statement(2, "if $any:\n    $block", risky=True)
statement(3, "if $v_int == $l_int:\n    $block")
statement(2, "if $ints:\n    $block")
statement(2, "if $bool and $bool or $bool:\n    $block")
statement(2, "if not ($bool and $bool):\n    $block")
statement(3, "$=int = $int if $bool else $int")

# --- loops
statement(7, "for $new_int in range($n):\n    $block")
statement(4, "for $new_int in range($l_n, $n):\n    $block\nelse:\n    $block")
statement(6, "for $new_int in $ints[:6]:\n    $block")
statement(3, "for $new_int in $v_ints:\n    $block")
statement(2, "for $new_int, $new_int in zip($ints, $ints[:5]):\n    $block")
statement(2, "for $new_int, $new_int in enumerate($ints[:5]):\n    $block")
statement(2, "for $new_key, $new_int in list($map.items())[:5]:\n    $block")
statement(1, "for $new_key, $new_int in $v_map.items():\n    $block")
statement(1, "for $new_key in $v_map:\n    $block")
statement(1, "for $new_str in $str[:4]:\n    $block")
statement(2, "for $new_int in $pair:\n    $block")
statement(1, "for $new_int, $new_float in [($int, $float), $pair]:\n    $block")
statement(1, "for $new_int, *$new_ints in [$pair, $ints + [1]]:\n    $block")
statement(1, "for $new_int in sorted($set)[:4]:\n    $block")
statement(2, "for $new_int in itertools.islice($iter, 4):\n    $block")
statement(2, "for $new_int in Count($n):\n    $block")
statement(1, "for $new_float in map(float, $ints[:4]):\n    $block")
statement(4, "$new_int = 0\nwhile $1 < $l_n:\n    $1 += 1\n    $block")
# No walrus in the condition: it would bind the counter.
statement(
    3,
    "$new_int = $n\nwhile $1 > 0 and ($v_int < $l_int or $v_ints):\n    $1 -= 1\n    $block\nelse:\n    $block",
)
statement(2, "$new_int = 0\nwhile True:\n    $1 += 1\n    if $1 > $l_n:\n        break\n    $block")
statement(
    1,
    "$new_int = 0\n$new_ints = $ints[:6]\nwhile $2 and $1 < 6:\n    $1 += 1\n    $=int = $2.pop()\n    $block",
)
statement(5, "if $bool:\n    break", needs="loop")
statement(4, "if $bool:\n    continue", needs="loop")
statement(1, "if $int > $int:\n    $block\n    break", needs="loop")


@statement_builder(4, needs="return")
def early_return(g: Generator) -> None:
    if g.chance(0.4) and g.blocks:
        g.line(f"return ${g.scope.result}")
        return
    g.line("if $bool:")
    g.indent += 1
    g.line(f"return ${g.scope.result}")
    g.indent -= 1


# --- matching
statement(
    2,
    "match $int % 4:\n    case 0:\n        $block\n    case 1 | 2:\n        $block\n    case $new_int if $bool:\n"
    "        $block\n    case _:\n        $block",
)
statement(
    2,
    "match $mixed:\n    case ():\n        $block\n"
    "    case (int(), *$new_mixed):\n        print($1)\n        $block\n"
    "    case ($new_any1, str() | None as $new_any1):\n        print($2, $3)\n"
    "    case [$new_any1, *_]:\n        $block",
)
statement(
    1,
    "match $map:\n    case {'a': $new_int, **$new_map}:\n        print($1, $2)\n        $block\n"
    "    case {'k': 1 | 2}:\n        $block\n    case {}:\n        $block",
)
statement(
    1,
    "match Point($int, $any):\n    case Point(0, $new_any1):\n        print($1)\n        $block\n"
    "    case Point(x=$new_int, y=[1, *_]):\n        $block\n"
    "    case Point(x=$new_int):\n        print($3)\n        $block",
)
statement(
    1, "match $any:\n    case int() | float():\n        $block\n    case str() | bytes():\n        $block"
)

# --- the rest
statement(1, "del $a_int", needs="function")
statement(1, "import math as $new_module", needs="function")
statement(1, "from operator import add as $new_adder, sub\nprint($1($int, $int))", needs="function")
statement(1, "assert $bool, $str", needs="try")
statement(1, "assert isinstance($any, object)")
statement(1, "pass")


@statement_builder(1, needs="function")
def delete(g: Generator) -> None:
    """A deleted local; sometimes it is read afterwards."""
    names = [n for n, k in g.scope.variables.items() if n not in g.scope.fixed and k != "self"]
    if not names or g.blocks > 1:
        raise NotHere
    name = g.random.choice(names)
    if name in g.scope.outer or name in g.scope.globals or g.scope.loops:
        raise NotHere
    g.line(f"del {name}")
    del g.scope.variables[name]
    if g.chance(0.3):
        g.line("try:")
        g.emit(f"    print({name})")
        g.line("except NameError as $new_exc:")
        g.emit("    print('unbound', type(" + next(reversed(g.scope.variables)) + ").__name__)")
        g.scope.variables.popitem()
