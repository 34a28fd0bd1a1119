"""Templates of NumPy expressions.

`arr` is float64 of shape (4,), `iarr` int64, `barr` bool, `f4arr` float32 and `u1arr` uint8 of the same shape, `mat` is
float64 of shape (3, 4), `npf` and `npi` are scalars.
"""

from __future__ import annotations

from random import Random

from .engine import expressions, literal, statement, statements


@literal("arr")
def _arr(random: Random) -> str:
    return random.choice(
        (
            "np.arange(4.0)",
            "np.array([1.5, -2.0, 0.0, 3.25])",
            "np.ones(4)",
            "np.array([0.0, -0.0, np.inf, np.nan])",
            "np.arange(8.0)[::2]",
            "np.linspace(-1, 1, 4)",
        )
    )


@literal("iarr")
def _iarr(random: Random) -> str:
    return random.choice(
        ("np.arange(4)", "np.array([3, -1, 0, 7])", "np.zeros(4, int)", "np.arange(12)[::3]")
    )


@literal("barr")
def _barr(random: Random) -> str:
    return random.choice(("np.array([True, False, True, False])", "np.ones(4, bool)", "np.zeros(4, bool)"))


@literal("f4arr")
def _f4arr(random: Random) -> str:
    return random.choice(("np.arange(4, dtype=np.float32)", "np.full(4, 1.5, 'f4')"))


@literal("u1arr")
def _u1arr(random: Random) -> str:
    return random.choice(("np.array([1, 2, 250, 255], np.uint8)", "np.arange(4, dtype='u1')"))


@literal("mat")
def _mat(random: Random) -> str:
    return random.choice(
        (
            "np.arange(12.0).reshape(3, 4)",
            "np.ones((3, 4))",
            "np.arange(24.0).reshape(6, 4)[::2]",
            "np.eye(3, 4)",
        )
    )


@literal("npf")
def _npf(random: Random) -> str:
    return random.choice(("np.float64(1.5)", "np.float64(-0.0)", "np.float64('inf')", "np.float64(3.0)"))


@literal("npi")
def _npi(random: Random) -> str:
    return random.choice(("np.int64(3)", "np.int64(-2)", "np.int64(0)", "np.int64(2**62)"))


@literal("index")
def _index(random: Random) -> str:
    return random.choice((":", "0", "-1", "1:3", "::-1", "...", "None", "[0, 2]"))


expressions("index", "4 $l_index\n1 $n % 4\n1 $n:\n0.5 $barr")
expressions(
    "ufunc1",
    "2 np.abs\n2 np.negative\n1 np.sqrt\n1 np.exp\n1 np.log\n1 np.sin\n1 np.cos\n1 np.arcsin\n"
    "1 np.floor\n1 np.square\n1 np.sign",
)
expressions(
    "ufunc2",
    "2 np.add\n2 np.multiply\n1 np.subtract\n1 np.maximum\n1 np.fmin\n1 np.hypot\n1 np.arctan2\n1 np.power",
)

expressions(
    "arr",
    """
    6 ($arr + $arr)
    5 ($arr * $arr)
    4 ($arr - $arr)
    2 ($arr / $arr)
    4 ($arr * $float)
    3 ($float + $arr)
    2 ($int - $arr)
    2 ($arr / 2)
    2 ($arr ** 2)
    1 ($arr % 3.0)
    1 ($arr // 2.0)
    2 -$arr
    2 abs($arr)
    2 ($arr + $iarr)
    1 ($iarr / $nz)
    1 ($arr + $npf)
    1 ($f4arr * $arr)
    3 $ufunc1($arr)
    3 $ufunc2($arr, $arr)
    1 $ufunc2($arr, $float)
    1 np.where($barr, $arr, $arr)
    1 np.clip($arr, -1, $float if $bool else 2.0)
    1 $mat[$n % 3]
    1 $mat.sum(axis=0)
    1 $mat.max(axis=0)
    1 $arr[::-1]
    1 $arr.copy()
    1 np.array([$float, $float, $float, 1.0])
    1 $iarr.astype(float)
    1 np.cumsum($arr)
    1 np.sort($arr)
    1 ($arr if $bool else $arr)
    1 $mat.T[:, 1].repeat(2)[:4]
    1 $mat @ $arr @ $mat
    1! ($arr + $mat.T)
    0.5! $arr.reshape(3)
    0.5! $arr[[$int, 0, 1, 2]]
    0.5 $ufunc1($arr, out=$arr)
    0.5 np.add.accumulate($arr)
    """,
)
expressions(
    "iarr",
    """
    4 ($iarr + $iarr)
    3 ($iarr * $iarr)
    2 ($iarr - ($int % 1000))
    1 ($iarr // $nz)
    1 ($iarr % $iarr)
    1 ($iarr & $iarr)
    1 ($iarr << ($n % 4))
    1 -$iarr
    1 abs($iarr)
    1 $iarr[::-1]
    1 np.where($barr, $iarr, 0)
    1 np.argsort($iarr)
    1 $barr.astype(int)
    1 np.array([$n, $n, $int % 100, 1])
    1! ($iarr + $int)
    """,
)
expressions(
    "barr",
    """
    4 ($arr < $arr)
    2 ($arr > $float)
    2 ($iarr == $iarr)
    2 ($iarr != $n)
    1 ($barr & $barr)
    1 ($barr | $barr)
    1 ~$barr
    1 np.isnan($arr)
    1 np.isfinite($arr)
    1 ($arr == $arr)
    1 np.logical_xor($barr, $barr)
    """,
)
expressions(
    "f4arr", "3 ($f4arr + $f4arr)\n2 ($f4arr * 2)\n2 ($f4arr - 1.5)\n1 $arr.astype('f4')\n1 np.sqrt($f4arr)"
)
expressions("u1arr", "3 ($u1arr + $u1arr)\n2 ($u1arr * 2)\n1 $u1arr[::-1]\n1! ($u1arr + 300)\n1 ~$u1arr")
expressions(
    "mat",
    """
    3 ($mat + $mat)
    3 ($mat * $arr)
    2 ($mat - $float)
    2 ($mat + $arr)
    1 ($mat * $mat.sum(axis=1)[:, None])
    1 $mat[::-1]
    1 np.sqrt($mat)
    1 np.outer($arr[:3], $arr)
    1 $mat.copy()
    1 np.vstack([$arr, $arr, $arr])
    1 np.maximum($mat, 0)
    1 $mat.T.reshape(3, 4)
    """,
)
expressions(
    "npf",
    """
    3 ($npf + $npf)
    3 ($npf * $float)
    2 ($float - $npf)
    1 ($npf / $npf)
    2 $arr[$n % 4]
    2 $arr.sum()
    1 $arr.mean()
    1 $arr.max()
    1 np.dot($arr, $arr)
    1 np.sqrt($npf)
    1 $mat[$n % 3, $n % 4]
    1 -$npf
    1 ($npf ** 2)
    1! $arr[$int]
    1 np.float64($float)
    """,
)
expressions(
    "npi",
    "2 ($npi + $npi)\n1 ($npi * 3)\n2 $iarr[$n % 4]\n1 $iarr.sum()\n1 $iarr.argmax()\n1 ($npi // $nz)\n1 -$npi",
)

A = {"feature": "arrays"}
statements(
    """
    2 $m_arr += $arr
    1 $m_arr *= $float
    1 $m_arr -= $v_arr
    1 $m_iarr += $n
    0.5! $m_iarr += $arr
    1 $m_u1arr += $u1arr
    1 $=u1arr = $u1arr
    2 $v_arr[$n % 4] = $float
    1 $v_arr[$slice] = $float
    1 $v_arr[$v_barr] = $float
    1 $v_arr[1:] += $v_arr[:-1]
    1 $v_mat[$n % 3] = $arr
    1 $v_mat[:, $n % 4] *= $float
    0.5! $m_mat += $mat.T
    1 $=arr = $v_mat[$n % 3]
    1 $=arr = $v_arr[::-1]
    1 $=arr = $v_arr
    1 np.add($arr, $arr, out=$v_arr)
    0.7 $ufunc1($arr, out=$v_arr, where=$barr)
    0.7 $v_arr.sort()
    0.7! $v_arr.flags.writeable = $bool
    0.7 print($arr)
    0.5! print($mat[$index])
    """,
    **A,
)
statement(1, "with np.errstate(all='$l_errstate'):\n    $block", **A)
statement(1, "for $new_npf in $arr:\n    $block", **A)
statement(0.7, "for $new_arr in $mat:\n    $block", **A)


@literal("errstate")
def _errstate(random: Random) -> str:
    return random.choice(("raise", "ignore", "warn", "print"))
