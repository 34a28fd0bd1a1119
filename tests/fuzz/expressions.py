"""Templates of expressions, by the kind of their value.

`ints` is a list of int, `map` a dict from str to int, `table` a dict from int to list, `pair` a tuple of two int,
`mixed` a tuple of anything, `fn` a function from int to int, `iter` an iterator of int.
"""

from __future__ import annotations

from random import Random

from .engine import expressions, literal

BIG = (2**30, 2**31 - 1, 2**62, 2**63, 2**64 + 1, 10**25, -(2**63), -(2**30), -(10**20))
FLOATS = (
    "0.0",
    "-0.0",
    "1.0",
    "1.5",
    "-2.25",
    "0.1",
    "1e16",
    "1e308",
    "5e-324",
    "float('inf')",
    "3.75",
    "100.5",
)
WORDS = ("a", "b", "ab", "", "xyz", "k", "Hello", "é", "7", "a b", "-12", "zz")


@literal("int")
def _int(random: Random) -> str:
    choice = random.random()
    if choice < 0.8:
        return str(random.randrange(-3, 12))
    if choice < 0.93:
        return str(random.randrange(-300, 1000))
    return str(random.choice(BIG))


@literal("n")
def _n(random: Random) -> str:
    return str(random.randrange(0, 6))


@literal("nz")
def _nz(random: Random) -> str:
    return random.choice(("1", "2", "3", "7", "-2", "10", "97"))


@literal("prime")
def _prime(random: Random) -> str:
    return random.choice(("97", "1009", "65537", "2305843009213693951", "1180591620717411303449"))


@literal("float")
def _float(random: Random) -> str:
    if random.random() < 0.04:
        return "float('nan')"
    return random.choice(FLOATS)


@literal("bool")
def _bool(random: Random) -> str:
    return random.choice(("True", "False"))


@literal("str")
def _str(random: Random) -> str:
    return repr(random.choice(WORDS))


@literal("key")
def _key(random: Random) -> str:
    return repr(random.choice("abck"))


@literal("bytes")
def _bytes(random: Random) -> str:
    return repr(random.choice((b"", b"a", b"xyz", b"\x00\xff", b"12")))


@literal("none")
def _none(random: Random) -> str:
    return "None"


def _several(random: Random, make: object, low: int = 0, high: int = 5) -> str:
    return ", ".join(make(random) for _ in range(random.randrange(low, high)))  # type: ignore[operator]


@literal("ints")
def _ints(random: Random) -> str:
    return f"[{_several(random, _int)}]"


@literal("floats")
def _floats(random: Random) -> str:
    return f"[{_several(random, _float)}]"


@literal("strs")
def _strs(random: Random) -> str:
    return f"[{_several(random, _str)}]"


@literal("pair")
def _pair(random: Random) -> str:
    return f"({_int(random)}, {_int(random)})"


@literal("mixed")
def _mixed(random: Random) -> str:
    return random.choice(("()", "(1, 'a', 2.5)", "(None, True)", "((1, 2), b'x', -1)", "('q',)"))


@literal("map")
def _map(random: Random) -> str:
    return "{" + ", ".join(f"{_key(random)}: {_int(random)}" for _ in range(random.randrange(0, 4))) + "}"


@literal("table")
def _table(random: Random) -> str:
    return (
        "{"
        + ", ".join(f"{random.randrange(4)}: {_ints(random)}" for _ in range(random.randrange(0, 3)))
        + "}"
    )


@literal("set")
def _set(random: Random) -> str:
    return "{" + (_several(random, _int, 1) or "0") + "}"


@literal("fn")
def _fn(random: Random) -> str:
    return random.choice(("(lambda q: q + 1)", "(lambda q, d=2: q * d % 97)", "abs", "(lambda *q: len(q))"))


@literal("iter")
def _iter(random: Random) -> str:
    return random.choice(("iter([1, 2, 3])", "iter(range(4))", "iter(())"))


@literal("slice")
def _slice(random: Random) -> str:
    return random.choice((":", "1:", ":2", "-2:", "::2", "::-1", "1:-1", "0:0", "3:1:-1"))


expressions("n", "2 $l_n\n1 len($ints)\n1 abs($int) % 5\n1 len($str)\n1 int($bool)\n1 $int % 4")
expressions("nz", "4 $l_nz\n1 ($int or 1)\n1 (abs($int) + 1)")
expressions("key", "4 $l_key\n1 ('a' if $bool else 'b')\n1 'abck'[$int % 4]")
expressions("slice", "4 $l_slice\n1 $int % 4:\n1 :$n\n1 $n:$int % 7\n0.3 -$n::$nz")

expressions(
    "int",
    """
    9 ($int + $int)
    7 ($int - $int)
    4 ($int * $int) % $prime
    1 ($l_int * $v_int)
    3 ($int // $nz)
    3 ($int % $nz)
    1! ($int // $int)
    1! ($int % $int)
    2 -$int
    1 ~$int
    1 +$int
    2 ($int & $int)
    2 ($int | $int)
    2 ($int ^ $int)
    1 ($int << $n) % $prime
    1 ($int >> $n)
    0.5! (1 << ($int % 70 - 3))
    1 abs($int)
    3 ($int if $bool else $int)
    2 ($int and $int)
    2 ($int or $int)
    1 (not $int) + $int
    3 len($ints)
    1 len($str)
    1 len($map)
    1 len($set)
    0.5 len($mixed)
    0.5 len($arr)
    1 int($bool)
    1! int($float)
    1! int($str)
    1! $ints[$int]
    4 ($ints or [$int])[-1]
    2 [$int, $int, $int][$int % 3]
    1 [*$ints, $int][0]
    2 sum($ints)
    1 max($int, $int)
    1 min($ints, default=$int)
    2 $pair[0]
    2 $pair[1]
    2 $pair[-1]
    2 $map.get($key, $int)
    1! $map[$key]
    1! $table[$n][$n]
    1 sum($table.get($n, $ints))
    1 {x:int}(lambda {x}: $int)($^int)
    1 {x:int}{y:int}(lambda {x}, {y}=$^int, *, z=1: $int)($^int)
    0.5 (lambda *a, **k: len(a) * 10 + len(k))($int, *$pair, z=$int)
    0.5 (lambda a, /, b=2, *c, d=4: a + b + len(c) + d)($int, $int, d=$int)
    1! round($float)
    1 divmod($int, $nz)[1]
    1 pow($int, $n, 97)
    0.7 $str.find($str)
    0.7 $str.count($str)
    0.5! $bytes[$n]
    1 {x:int}sum({x} + 1 for {x} in $^ints)
    1 {x:int}sum([$int for {x} in $^ints])
    1 {x:int}len([{x} for {x} in $^ints if $bool])
    1 {x:int}next(({x} for {x} in $^ints if $bool), $^int)
    0.7 next($iter, $int)
    0.7 ($int).bit_length()
    0.5 hash($int) % 1009
    0.5 ord(($str or 'z')[0])
    0.5 functools.reduce(lambda p, q: p - q, $ints, $int)
    0.5 functools.partial(lambda p, q=3: p + q, $int)()
    0.7 {x:int}max($^ints, key=lambda {x}: -{x}, default=0)
    0.7 {x:int}{y:int}functools.reduce(lambda {x}, {y}: $int, $^ints, $^int) % 65537
    1 ($ints[$slice] or [3])[0]
    1 int(($npi))
    0.7 int($iarr.sum())
    0.7 int($barr.sum())
    0.5 operator.add($int, $int)
    0.5 math.gcd($int, $int)
    0.5 {x:none}[$int for _ in 'ab'][1]
    0.5 ($ints.index($int) if $int in $ints else -1)
    0.5! $ints.index($int)
    """,
)
expressions("int", "1.5 ($a_int := $int)", needs="plain")
expressions("int", "1.5 $v_fn($int)", cost=6, needs="plain")
expressions("int", "0.7@frames sys._getframe().f_lineno")
expressions("int", "0.3@frames len(locals())", needs="plain")

expressions(
    "float",
    """
    9 ($float + $float)
    7 ($float - $float)
    7 ($float * $float)
    3 ($float / ($float or 1.0))
    2 ($int / $nz)
    2 ($float + $int)
    2 ($int * $float)
    1 ($float // ($float or 2.0))
    1 ($float % ($float or 2.0))
    1! ($float / $float)
    1! ($float ** $float)
    1! math.sqrt($float)
    1! math.log($float)
    1! math.exp($float)
    2 -$float
    1 abs($float)
    2 float($int)
    2 ($float if $bool else $float)
    1 ($float or $float)
    1 ($float and $float)
    1 max($float, $float)
    1 min($floats, default=$float)
    1 sum($floats)
    2 ($floats or [$float])[-1]
    1! $floats[$int]
    1 round($float, $n)
    1 math.copysign($float, $l_float)
    0.3 math.copysign($float, $int)
    1 (math.sin($float) if $float == 0.5 else $float)
    1 float($npf)
    1 float($arr.sum())
    1 float($arr[$n % 4])
    1 $arr.tolist()[1]
    0.7 {x:float}sum([$float for {x} in $^floats], 0.0)
    0.7 {x:float}(lambda {x}: $float)($^float)
    0.5 (math.fsum([$float, $float]) if $bool else $float)
    0.5! float($str)
    0.5 complex($float, $int).imag
    """,
)
expressions("float", "1 ($a_float := $float)", needs="plain")

expressions(
    "bool",
    """
    6 ($int < $int)
    4 ($int == $int)
    3 ($int >= $int)
    2 ($int != $int)
    3 ($float < $float)
    2 ($float == $float)
    1 ($float != $float)
    1 ($int <= $float)
    2 ($int < $int < $int)
    1 ($int <= $int != $int > 2)
    1 ($str == $str)
    1 ($str < $str)
    1 ($bytes <= $bytes)
    1 ($ints == $ints)
    1 ($ints < $ints)
    1 ($pair > $pair)
    1 ($set <= $set)
    1 ($map == $map)
    3 ($int in $ints)
    1 ($int not in $pair)
    1 ($key in $map)
    1 ($str in $str)
    1 ($int in range($n, $int % 20))
    1 ($int in $set)
    3 (not $int)
    3 (not $bool)
    3 ($bool and $bool)
    3 ($bool or $bool)
    2 ($bool if $bool else $bool)
    1 bool($ints)
    1 bool($float)
    1 ($v_int is $v_int)
    1 ($v_float is not $v_float)
    1 ($v_ints is $v_ints)
    1 ($any is None)
    1 ($any is not None)
    2 isinstance($any, int)
    1 isinstance($any, (float, str))
    1 isinstance($int, object)
    0.7 issubclass(type($any), int)
    1 {x:int}any($bool for {x} in $^ints)
    1 {x:int}all([$bool for {x} in $^ints])
    1 (len($str) > $n)
    1 callable($any)
    0.5 hasattr($any, 'real')
    1 ($npf < $float)
    1 bool($barr.all())
    1 bool(np.any($barr))
    0.7 math.isnan($float)
    0.7! bool($arr)
    0.7! ($int < $str)
    0.5 $str.isdigit()
    0.5 $bool ^ $bool
    0.5 $int % 2 == 0
    """,
)
expressions("bool", "1 ($a_bool := $bool)", needs="plain")

expressions(
    "str",
    """
    4 ($str + $str)[:12]
    1 $str * ($n % 4)
    3 str($int)
    2 repr($any)
    2 str($float)
    1 $str[$slice]
    1! $str[$int]
    1 $str.upper()
    1 $str.replace($str, $str)[:12]
    1 $str.join($strs)[:12]
    1 $str.strip()
    1 ' '.join(map(str, $ints))[:30]
    2 ('%s-%d' % ($any, $int))
    1 '{}:{!r}'.format($any, $str)
    1 format($float, '.3f')
    1 ($strs or [$str])[0]
    1 ($str if $bool else $str)
    1 chr(97 + $int % 26)
    1 type($any).__name__
    1 (str($bytes, 'latin1'))
    1! ($str + $int)
    """,
)
expressions("str", "2 f'{$v_int}'\n1 f'<{$v_float:.3e}>{$v_str!r:>6}'\n1 f'{$v_int:{$v_int % 7}d}|'")
expressions("str", "1 f'{$v_ints}{$v_bool!s}'\n1 f'{$v_int=}'\n1! f'{$v_str:d}'")
expressions(
    "str", "1@frames sys._getframe().f_code.co_name\n0.5@frames ','.join(sorted(locals()))", needs="plain"
)
expressions("str", "0.5@frames ','.join(e.name for e in traceback.extract_stack(limit=2))", needs="plain")

expressions(
    "bytes",
    """
    2 ($bytes + $bytes)[:8]
    1 $str.encode()[:6]
    1 bytes([$int % 256, $n])
    1 $bytes[$slice]
    1 bytes($n)
    1 $bytes * ($n % 3)
    0.5! bytes($ints)
    """,
)
expressions("none", "3 None\n1 print($any)\n1 $ints.sort()\n0.5 print($str, $int, sep='/')")
expressions(
    "ints",
    """
    4 [$int, $int]
    2 [$int, *$ints][:8]
    3 ($ints + $ints)[:8]
    3 {x:int}[$int for {x} in $^ints]
    3 {x:int}[$int for {x} in range($^n)]
    2 {x:int}[{x} for {x} in $^ints if $bool]
    1 {x:int}{y:int}[$int for {x} in $^pair for {y} in $^pair]
    1 {x:int}{y:int}[{x} + {y} for {x}, {y} in zip($^ints, $^ints)]
    1 {x:int}{y:int}[{x} * $int for {x}, {y} in enumerate($^ints)][:9]
    1 {x:key}[$int for {x} in $^map]
    2 $ints[$slice]
    2 sorted($ints)
    1 {x:int}sorted($^ints, key=lambda {x}: $int)
    1 sorted($ints, reverse=$bool)
    1 list(range($n))
    1 list($pair)
    1 list($map.values())
    1 {x:int}list(map(lambda {x}: $int, $^ints))
    1 {x:int}list(filter(lambda {x}: $bool, $^ints))
    1 list(reversed($ints))
    1 sorted($set)
    1 $ints.copy()
    1 ($ints * ($n % 3))[:8]
    1 $iarr.tolist()
    1 ($ints if $bool else $ints)
    1 ($ints or $ints)
    1 list(itertools.islice($iter, 4))
    1 {x:int}list({x} - 1 for {x} in $^ints)
    1 list(itertools.accumulate($ints[:5]))
    1 list(map(abs, $ints))
    0.7 $table.setdefault($n, $ints)
    0.7 [*map($v_fn, $ints[:4])]
    """,
)
expressions("ints", "1 ($a_ints := $ints)", needs="plain")
expressions(
    "floats",
    """
    3 [$float, $float]
    2 ($floats + $floats)[:8]
    2 {x:float}[$float for {x} in $^floats]
    1 {x:int}[$float for {x} in $^ints]
    1 $arr.tolist()
    1 $floats[$slice]
    1 sorted([$float, $float, 1.0])
    1 {x:none}[float(q) for q in $pair]
    """,
)
expressions(
    "strs",
    """
    3 [$str, $str]
    2 $str.split()
    2 {x:str}[$str for {x} in $^strs]
    1 {x:int}[str({x}) for {x} in $^ints]
    1 list($str)[:5]
    1 sorted($strs)
    1 ($strs + $strs)[:6]
    1 sorted($map)
    1 $strs[$slice]
    """,
)
expressions(
    "pair",
    """
    5 ($int, $int)
    2 divmod($int, $nz)
    2 $pair[::-1]
    1 tuple([$int, $int])
    1 ($pair if $bool else $pair)
    1 (*$ints, $int, $int)[:2]
    1 (lambda *a: a)($int, $int)
    1! tuple($ints)
    1 min($pair, $pair)
    """,
)
expressions(
    "mixed",
    """
    3 ($any, $any)
    2 ($any,)
    2 ($any, $any, $any)
    1 ($mixed + $mixed)[:5]
    1 (*$ints, $any)
    1 $mixed[$slice]
    1 tuple($map.items())
    1 ($int, [$float], ($str, $bool))
    """,
)
expressions(
    "map",
    """
    3 {$key: $int, $key: $int}
    1 {**$map, $key: $int}
    2 {x:int}{$key: $int for {x} in $^ints}
    1 {x:int}{y:int}{str({x} % 3): {y} for {x}, {y} in zip($^ints, $^ints)}
    1 dict(a=$int, b=$int)
    1 dict(zip($strs[:3], $ints))
    1 dict($map)
    1 ($map | $map)
    1 $map.copy()
    1 dict.fromkeys(['a', 'k'], $int)
    1 dict(**{'a': $int}, k=2)
    """,
)
expressions(
    "table",
    """
    2 {$n: $ints}
    1 {x:int}{{x} % 4: [$int] for {x} in $^ints}
    1 {$n: $ints, $n: $ints}
    """,
)
expressions(
    "set",
    """
    3 {$int, $int}
    2 set($ints)
    2 {x:int}{$int for {x} in $^ints}
    1 ($set | $set)
    1 ($set & $set)
    1 ($set - {$int})
    1 ($set ^ $set)
    1 set($pair)
    1 {*$ints, $int}
    """,
)
expressions(
    "fn",
    """
    4 {x:int}(lambda {x}: $int)
    2 {x:int}{y:int}(lambda {x}, {y}=$^int: $int)
    1 {x:int}functools.partial(lambda {x}, q: q + $int, $^int)
    1 operator.neg
    1 {x:int}(lambda {x}, *a, **k: ({x}, a, k)[0])
    1 ($int).__add__
    1 Adder($int)
    1 {x:none}functools.lru_cache(lambda q: q - $int)
    """,
)
expressions(
    "iter",
    """
    3 iter($ints)
    2 {x:int}($int for {x} in $^ints)
    1 {x:int}($int for {x} in range($^n) if $bool)
    1 {x:int}map(lambda {x}: $int, $^ints)
    1 reversed($ints)
    1 iter(range($n))
    1 itertools.chain($ints, $pair)
    1 zip_sum($ints, $pair)
    """,
)
expressions(
    "exc", "2 ValueError($any)\n1 KeyError($str)\n1 IndexError($int, $any)\n1 MyError($int)\n1 SubError($any)"
)
expressions("exc", "1 TypeError()\n0.5 StopIteration($int)\n1 ZeroDivisionError($str)\n0.5 OSError($n, $str)")
expressions(
    "etype",
    "3 ValueError\n3 TypeError\n2 Exception\n2 (ValueError, IndexError)\n2 ZeroDivisionError\n2 KeyError\n"
    "2 LookupError\n1 ArithmeticError\n2 MyError\n1 SubError\n1 (SubError, TypeError)\n1 BaseException",
)
expressions("etype1", "2 ValueError\n2 KeyError\n1 MyError\n1 SubError\n1 ZeroDivisionError\n1 TypeError")
expressions("etypes", "2 ValueError\n2 Exception\n1 (KeyError, MyError)\n1 MyError")


@literal("level")
def _level(random: Random) -> str:
    return random.choice(("1", "2", "3"))


expressions(
    "int",
    "0.6@identity leaf_a($int)\n0.6@identity leaf_b($int)\n0.4@identity leaf_c()\n0.2@identity leaf_a()",
)

# Values like those of the kind, but of another type: guards fail in the middle of a trace.
expressions("int", "0.5 $bool\n0.3 $npi\n0.2@classes Whole($int)\n0.4 int($int != $int)")
expressions("float", "0.6 $int\n0.4 $npf\n0.3 (1 if $bool else 2.5)")
expressions("ints", "0.4 [$int, $float]\n0.3 list($floats)\n0.3 [$bool, $npi, $int]\n0.3 list($iarr)")
expressions(
    "int",
    "0.7 {x:int}sum([{x} + $int for {x} in [1, True, $int]])\n0.3 {x:int}[{x} * 2 for {x} in [1, 2.5, $int]][$n % 2]",
)
expressions("str", "0.3@classes Word($str)\n0.4 f'{$v_mixed!r:.20}'\n0.4 repr($mixed)\n0.3 str($pair)")
expressions("pair", "0.6@classes Two($int, $int)\n0.3 $v_mixed[:2]\n0.3 ($int, $float)")
expressions(
    "int", "0.4@classes Two($int, $int).b\n0.3@classes Colour.RED.value\n0.3@classes Held($int).value"
)
expressions(
    "int",
    "0.3@classes Colour($n % 2 + 1).value\n0.3@classes Ordered($int).twice\n0.3@classes Left($int).who($int)",
)
expressions(
    "bool", "0.3@classes (Colour.RED is Colour($n % 2 + 1))\n0.4@classes Ordered($int) < Ordered($int)"
)
expressions("int", "0.4@disturb {x:none}opaque(lambda: $int)\n0.3@frames {x:none}caller_locals(lambda: $int)")
