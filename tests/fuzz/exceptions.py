"""Templates of statements that raise and handle exceptions."""

from __future__ import annotations

from .engine import statement

E = {"feature": "exceptions"}
statement(
    9, "try:\n    $block\nexcept $etype as $new_exc:\n    print(type($1).__name__, $1)\n    $block", **E
)
statement(4, "try:\n    $block\nexcept $etype:\n    $block", **E)
statement(
    3,
    "try:\n    $block\nexcept $etype:\n    $block\nexcept $etype as $new_exc:\n    print($1.args)\n    $block",
    **E,
)
statement(
    3,
    "try:\n    $block\nexcept $etype:\n    $block\nelse:\n    $block\nfinally:\n    print('fin')\n    $block",
    **E,
)
statement(4, "try:\n    $block\nfinally:\n    $block", **E)
statement(2, "try:\n    $block\nexcept:\n    print(sys.exc_info()[0].__name__)\n    $block", **E)
statement(
    2, "try:\n    $block\nexcept Exception as $new_exc:\n    print(lines($1))\n    $block\n    raise", **E
)
statement(
    2, "try:\n    $block\nexcept $etype as $new_exc:\n    print(shown($1))\n    LOG.append(lines($1))", **E
)
statement(2, "try:\n    $block\nexcept $etype as $new_exc:\n    raise $exc from $1", **E)
statement(1, "try:\n    $block\nexcept $etype as $new_exc:\n    raise $exc", **E)
statement(1, "try:\n    $block\nexcept $etype as $new_exc:\n    $1.add_note($str)\n    raise", **E)
statement(1, "try:\n    $block\nexcept $etype:\n    raise $exc from None", **E)
statement(
    2,
    "try:\n    try:\n        $block\n    finally:\n        $block\nexcept $etype as $new_exc:\n    print(shown($1))",
    **E,
)
statement(
    2,
    "try:\n    try:\n        raise $exc\n    except $etype as $new_exc:\n        $block\n        raise $exc\n"
    "except Exception as $new_exc:\n    print(shown($2))\n    $block",
    **E,
)
statement(
    1,
    "try:\n    raise ExceptionGroup('g', [$exc, $exc])\nexcept* $etypes as $new_exc:\n    print(shown($1))\n"
    "    $block\nexcept* Exception:\n    $block",
    **E,
)
statement(1, "try:\n    $block\nexcept* $etypes as $new_exc:\n    print(len($1.exceptions))\n    $block", **E)
statement(5, "if $bool:\n    raise $exc", needs="try", **E)
statement(2, "raise $exc", needs="try", **E)
statement(0.7, "if $bool:\n    raise $exc", risky=True, **E)
statement(1, "raise $etype1", needs="try", **E)
statement(3, "with Guarded($int, $bool) as $new_int:\n    $block", **E)
statement(1, "with Guarded($int, False), Guarded($int, True) as $new_int:\n    $block", **E)
statement(1, "with contextlib.suppress($etype1):\n    $block", **E)
statement(1, "with managed($int) as $new_int:\n    $block", **E)
statement(2, "$=int = $ints[$int]", needs="try")
statement(2, "$=int = $int // $int", needs="try")
statement(1, "$=any1 = $int + $any", needs="try")
statement(1, "$=any1 = $any[$any]", needs="try")
statement(1, "$=any1 = $any < $any", needs="try")
statement(1, "$=any1 = ($any).missing", needs="try")
statement(1, "$=any1 = missing_name", needs="try")
statement(1, "$=any1 = $v_any1", needs="try")

# --- leaving blocks in all possible ways
statement(1.5, "try:\n    $block\nfinally:\n    if $bool:\n        break", needs="loop", **E)
statement(1, "try:\n    $block\nfinally:\n    if $bool:\n        continue", needs="loop", **E)
statement(1, "try:\n    if $bool:\n        continue\n    $block\nfinally:\n    $block", needs="loop", **E)
statement(1, "with Guarded($int, $bool):\n    if $bool:\n        break\n    $block", needs="loop", **E)
statement(
    1, "with Guarded($int, $bool):\n    if $bool:\n        return $result\n    $block", needs="return", **E
)
statement(1, "try:\n    return $result\nfinally:\n    $block", needs="return", **E)
statement(0.5, "try:\n    $block\nfinally:\n    return $result", needs="return", **E)
statement(
    1, "try:\n    return $result\nexcept $etype as $new_exc:\n    print($1)\n    $block", needs="return", **E
)
statement(
    1,
    "for $new_int in $ints[:4]:\n    try:\n        $block\n    except $etype:\n        continue\n    $block",
    **E,
)
statement(1, "with raising($exc):\n    $block", needs="try", **E)
statement(
    1,
    "try:\n    with raising($exc):\n        $block\nexcept Exception as $new_exc:\n    print(shown($1))",
    **E,
)
statement(1, "for $new_any1 in $mixed:\n    try:\n        print($1 + $int)\n        $block\n"
          "    except TypeError as $new_exc:\n        print($2)", **E)  # fmt: skip
statement(1, "for $new_int in [1, 2.5, True, 'w', $int]:\n    try:\n        $block\n    except Exception as $new_exc:\n"
          "        print(type($2).__name__, lines($2))", **E)  # fmt: skip
