"""NumPy arrays: results bit for bit, dtype, shape, strides, flags, base; other dtypes and shapes in the same trace."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: array_chain
# note: extents are not guarded: one recording works for every size
# f(np.arange(6.0), np.ones(6)) => record, hit
# f(np.arange(1000.0), np.full(1000, 0.5)) => hit
# f(np.empty(0), np.empty(0)) => hit
import numpy as np


def f(a, b):
    c = a * 2.0 + b
    d = c - a / (b + 3.0)
    return -d * c


# program: array_dtypes
# f(np.arange(4, dtype=np.int64)) => record, hit
# f(np.arange(4, dtype=np.float32)) => hit
# f(np.arange(4, dtype=np.uint8)) => hit
# f(np.arange(4, dtype=np.float16)) => hit
# f(np.arange(4, dtype=np.complex64)) => hit
# f(np.arange(4, dtype=">f8")) => hit
# f(np.arange(4, dtype=np.longdouble)) => hit
# f(np.array([True, False])) => hit
import numpy as np


def f(a):
    return a + a, a * 2, a * 1.5, a == a, 3 + a, a + 1j


# program: array_unsigned_negative
# f(np.arange(3, dtype=np.uint8)) => record, hit
# f(np.array([200, 255], dtype=np.uint8)) => hit
import numpy as np


def f(a):
    return a + a, -a, ~a, a - a[::-1], a << 1, a >> 1, a & 15, a | 1, a ^ a


# program: array_division_operators
# f(np.array([7, -7, 3]), np.array([2, 2, -2])) => record, hit
# f(np.array([7.5, -7.5]), np.array([2.0, -0.5])) => hit
import numpy as np


def f(a, b):
    return a / b, a // b, a % b, divmod(a, b), a**2, a**0.5 if a[0] == 0 else None, abs(a)


# program: array_powers
# f(np.linspace(0.1, 3, 7)) => record, hit
# f(np.arange(1, 5)) => hit
# f(np.arange(1.0, 5.0, dtype=np.float32)) => hit
import numpy as np


def f(a):
    return a**2, a**0.5, a**3, a**1, a**-1.0, np.power(a, 2), np.square(a), 2.0**a


# program: array_broadcasting
# f(np.arange(3.0), np.arange(4.0).reshape(4, 1)) => record, hit
# f(np.ones((2, 1, 3)), np.ones((5, 1))) => hit
# f(np.float64(2.5), np.arange(3.0)) => hit
# f(np.ones(3), np.ones(4)) => hit exit
import numpy as np


def f(a, b):
    return a + b, a * b - b


# program: array_layouts
# f(np.arange(12.0).reshape(3, 4)) => record, hit
# f(np.asfortranarray(np.arange(12.0).reshape(3, 4))) => hit
# f(np.arange(24.0).reshape(6, 4)[::2]) => hit
# f(np.arange(12.0).reshape(4, 3).T) => hit
# f(np.arange(12.0).reshape(3, 4)[::-1, ::-1]) => hit
# f(np.broadcast_to(np.arange(4.0), (3, 4))) => hit
import numpy as np


def f(a):
    b = a * 2 + a
    return b, b.T - 1, b[:, 0] + b[:, -1], a.copy() * b


# program: array_unaligned_and_readonly
# f(np.frombuffer(b"x" + bytes(range(32)), dtype=np.int32, offset=1, count=8)) => record, hit
# f(np.frombuffer(bytes(range(32)), dtype=np.int32)) => hit
import numpy as np


def f(a):
    return a + 1, a * a, a[1:] - a[:-1], a.flags.writeable


# program: array_scalars
# f(np.float64(1.5), 2) => record, hit
# f(np.float32(1.5), 2) => hit
# f(np.int8(100), 2) => hit
# f(np.array(3.0), 2) => hit
# f(1.5, 2) => hit
import numpy as np


def f(a, b):
    c = a * b
    return c + a, -c, c > a, a


# program: zero_dimensional
# f(np.array(2.0)) => record, hit
# f(np.array(5)) => hit
import numpy as np


def f(a):
    b = a + 1
    return b, type(b).__name__, a[()], a.item(), np.sin(a), a * a


# program: array_in_place
# f(np.arange(5.0), np.ones(5)) => record, hit
# f(np.arange(3.0), np.ones(3)) => hit
# f(np.arange(5), np.ones(5)) => hit exit
import numpy as np


def f(a, b):
    c = a
    a += b
    a *= 2
    a -= a[0]
    a /= 3
    return a, c is a


# program: array_in_place_overlap
# f(np.arange(6.0)) => record, hit
# f(np.arange(9.0)) => hit
import numpy as np


def f(a):
    a[1:] += a[:-1]
    a[::2] = a[::-1][::2]
    a[:-1] *= a[1:]
    return a


# program: array_out_and_where
# f(np.arange(4.0), np.zeros(4)) => record, hit
# f(np.arange(6.0), np.zeros(6)) => hit
# f(np.arange(4.0), np.zeros(5)) => hit exit
import numpy as np


def f(a, out):
    r = np.add(a, 1, out=out)
    s = np.multiply(a, 10.0, out=out, where=a > 1)
    return r is out, s is out, np.sqrt(a, dtype=np.float32), np.add(a, a, out, casting="same_kind") is out


# program: array_views_and_bases
# f(np.arange(12)) => record, hit
# f(np.arange(12.0)) => hit
import numpy as np


def f(a):
    v = a.reshape(3, 4)
    w = v[1:, ::2]
    w[0, 0] = 99
    return v, w, a, w.base is a, v.base is a, a.ravel() is a, v.flatten(), np.shares_memory(w, a)


# program: array_slice_assignment
# f(np.zeros(6), np.arange(3.0)) => record, hit
# f(np.zeros(8), np.arange(4.0)) => hit
# f(np.zeros(6), np.arange(4.0)) => hit exit
import numpy as np


def f(a, b):
    a[::2] = b
    a[1] = 7
    a[-2:] = [1, 2]
    a[a > 5] = -1
    return a


# program: array_fancy_indexing
# f(np.arange(10), np.array([1, 3, 5])) => record, hit
# f(np.arange(10.0), np.array([0, -1])) => hit
# f(np.arange(3), np.array([5])) => hit exit
import numpy as np


def f(a, i):
    b = a[i]
    m = a[(a > 2) & (a < 8)]
    b[0] = -5
    return a, b, m, a[i[0]], a[[0, 1]], a[..., None], np.take(a, i)


# program: array_reductions
# f(np.arange(10.0).reshape(2, 5)) => record, hit
# f(np.random.default_rng(0).normal(size=(3, 200))) => hit
# f(np.arange(6).reshape(2, 3)) => hit
import numpy as np


def f(a):
    return (a.sum(), a.sum(axis=0), a.mean(), a.std(axis=1), a.min(), a.max(axis=0), a.argmax(), a.prod(),
            np.sum(a * 2 + 1), np.mean(a - a.mean(axis=0), axis=1), (a > 2).any(), (a > -1).all(), a.cumsum())


# program: array_comparisons_and_masks
# f(np.array([1.0, -2.0, 3.0])) => record, hit
# f(np.array([1, -2])) => hit
# f(np.array([np.nan, 0.0])) => hit
import numpy as np


def f(a):
    m = a > 0
    return m, ~m, m & (a < 2), np.where(m, a, -a), a[m], m.sum(), (a == a).all(), np.isnan(a), a != 1


# program: branch_on_array_result
# f(np.array([1.0, 2.0])) => record, hit
# f(np.array([-1.0, -2.0])) => hit exit
# f(np.array([3.0, 1.0])) => hit
import numpy as np


def f(a):
    b = a * 2
    if b.sum() > 0:
        return b + 1
    return b - 1


# program: branch_on_array_size
# f(np.ones(3)) => record, hit
# f(np.ones(30)) => hit exit
# f(np.zeros(4)) => hit
import numpy as np


def f(a):
    if len(a) > 10:
        return a * 100
    if a.ndim == 1 and a.shape[0] < 10:
        return a + 1
    return a


# program: ambiguous_truth
# f(np.array([1.0])) => record, hit
# f(np.array([1.0, 2.0])) => hit exit
# f(np.array([0.0])) => hit exit
import numpy as np


def f(a):
    try:
        if a > 0:
            return "plus"
        return "not plus"
    except ValueError as error:
        return str(error)


# program: array_ufuncs
# f(np.linspace(0.1, 0.9, 9)) => record, hit
# f(np.linspace(0.1, 0.9, 40, dtype=np.float32)) => hit
# f(np.array([1, 0])) => hit
import numpy as np


def f(a):
    return (np.sin(a), np.cos(a) ** 2, np.exp(-a), np.log1p(a), np.sqrt(a), np.tanh(a), np.maximum(a, 0.5),
            np.minimum(a, a[::-1]), np.hypot(a, 1), np.arctan2(a, 2.0), np.floor(a), np.sign(a), np.abs(a))


# program: ufunc_methods
# f(np.arange(5.0)) => record, hit
# f(np.arange(4)) => hit
import numpy as np


def f(a):
    b = a.copy()
    np.add.at(b, [0, 0, 1], 1)
    return np.add.reduce(a), np.multiply.accumulate(a + 1), np.add.outer(a, a), np.add.reduceat(a, [0, 2]), b, np.modf(a)


# program: ufunc_with_several_outputs
# f(np.array([1.25, -2.5])) => record, hit
# f(np.array([3, 4])) => hit
import numpy as np


def f(a):
    q, r = np.divmod(a, 2)
    m, e = np.frexp(a)
    return q, r, m, e


# program: matmul_and_linalg
# f(np.arange(4.0).reshape(2, 2) + np.eye(2)) => record, hit
# f(np.arange(9.0).reshape(3, 3) + np.eye(3)) => hit
# f(np.zeros((2, 2))) => hit exit
import numpy as np


def f(a):
    return a @ a, a @ a[0], np.dot(a, a.T), np.einsum("ij->j", a), np.linalg.norm(a), np.linalg.inv(a)


# program: matmul_in_place_and_mismatch
# f(np.eye(2), np.ones((2, 2))) => record, hit
# f(np.eye(3), np.ones((2, 2))) => hit exit
import numpy as np


def f(a, b):
    c = a @ b
    c @= a
    return c


# program: array_constructors
# f(3) => record, hit
# f(5) => hit
# f(0) => hit
import numpy as np


def f(n):
    return (np.zeros(n), np.ones((n, 2), dtype=int), np.arange(n) * 2, np.linspace(0, 1, n), np.eye(n),
            np.full(n, 7), np.array([[n, 1], [2, 3]]), np.concatenate([np.zeros(n), np.ones(1)]))


# program: array_shape_methods
# f(np.arange(6)) => record, hit
# f(np.arange(6.0)) => hit
# f(np.arange(7)) => hit exit
import numpy as np


def f(a):
    b = a.reshape(2, 3)
    return b.T, b.swapaxes(0, 1), np.stack([a, a]), np.vstack([b, b]), b.shape, b.size, np.roll(a, 2), b.astype(np.int8)


# program: floating_point_warnings
# note: category, text and line of RuntimeWarnings
# f(np.array([1.0, 2.0])) => record, hit
# f(np.array([0.0, -1.0])) => hit
# f(np.array([np.inf, 1e308])) => hit
import numpy as np


def g(a):
    return np.log(a)


def f(a):
    b = 1.0 / a
    c = g(a)
    d = a * 1e10
    return b, c, d - d


# program: errstate
# f(np.array([1.0, 2.0])) => record, hit
# f(np.array([0.0, 1.0])) => hit
import numpy as np


def f(a):
    with np.errstate(divide="ignore", invalid="ignore"):
        b = a / (a - a)
        c = np.log(a)
    return b, c


# program: errstate_raise
# f(np.array([1.0, 2.0])) => record, hit
# f(np.array([0.0, 1.0])) => hit exit
# f(np.array([4.0])) => hit
import numpy as np


def f(a):
    with np.errstate(all="raise"):
        try:
            return 1.0 / a
        except FloatingPointError as error:
            return error


# program: errstate_call
# f(np.array([1.0])) => record, hit
# f(np.array([0.0])) => hit
import numpy as np


def handler(kind, flag):
    print(kind, flag)


def f(a):
    with np.errstate(divide="call", call=handler):
        return 1.0 / a


# program: integer_division_by_zero_warning
# f(np.array([4, 2]), np.array([2, 1])) => record, hit
# f(np.array([4, 2]), np.array([0, 1])) => hit
import numpy as np


def f(a, b):
    return a // b, a % b


# program: array_subclass
# f(Tagged.make([1.0, 2.0], "t")) => record, hit
# f(np.array([1.0, 2.0])) => hit
# f(np.ma.masked_array([1.0, 2.0], mask=[0, 1])) => hit
import numpy as np


class Tagged(np.ndarray):
    @classmethod
    def make(cls, data, tag):
        new = np.asarray(data).view(cls)
        new.tag = tag
        return new

    def __array_finalize__(self, obj):
        self.tag = getattr(obj, "tag", "none")


def f(a):
    b = a * 2 + 1
    return b, type(b).__name__, getattr(b, "tag", None)


# program: array_ufunc_override
# f(Own(), np.ones(2)) => record, hit
# f(np.ones(2), Own()) => miss record
# f(np.ones(2), np.ones(2)) => hit
import numpy as np


class Own:
    def __array_ufunc__(self, ufunc, method, *inputs, **kw):
        print(ufunc.__name__, method, len(inputs))
        return "own"

    def __add__(self, o):
        return "own add"

    def __radd__(self, o):
        return "own radd"


def f(a, b):
    return a + b, np.multiply(a, b)


# program: object_arrays
# f(np.array([1, "a", None], dtype=object), 2) => record, hit
# f(np.array([2, 2.5], dtype=object), 3) => hit
import numpy as np


def f(a, k):
    return a[:1] * k, a == a, a[0]


# program: strings_and_dates
# f(np.array(["2020-01-01", "2021-05-05"], dtype="M8[D]")) => record, hit
# f(np.array(["NaT", "2021-05-05"], dtype="M8[D]")) => hit
import numpy as np


def f(a):
    return a - a[0], a + np.timedelta64(1, "D"), a > a[0], np.char.upper(np.array(["a", "b"]))


# program: structured_arrays
# f(np.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")])) => record, hit
import numpy as np


def f(a):
    a["a"] += 1
    return a["a"] * 2, a[0]["b"], a["b"].mean(), a


# program: elided_temporaries
# note: above 256 KiB NumPy computes into temporaries; complex multiplication shows it in the bits
# f(big, big[::-1].copy()) => record, hit
import numpy as np

rng = np.random.default_rng(1)
big = rng.normal(size=20000) + 1j * rng.normal(size=20000)


def f(a, b):
    c = (a * b) * a
    d = a * b
    return c, d * a, (a + b) * (a - b), a * b * a * b


# program: large_float_chain
# f(np.linspace(0, 1, 50000)) => record, hit
# f(np.linspace(-1, 1, 70001)) => hit
import numpy as np


def f(a):
    b = np.sqrt(a * a + 1.0) - np.exp(-a) * 0.5
    return b.sum(), b, (b * b).mean()


# program: array_and_scalar_types_switch
# f(np.arange(3.0)) => record, hit
# f(2.0) => hit, hit
# f(3) => hit
# f(np.arange(2)) => hit
import numpy as np


def f(x):
    return x * 2 + 1


# program: loop_over_array
# f(np.array([1.0, 2.0, 3.0])) => record, hit
# f(np.array([4.0, 5.0, 6.0])) => hit
# f(np.array([4.0, 5.0])) => hit exit
import numpy as np


def f(a):
    total = 0.0
    for x in a:
        total = total + x * x
    return total, type(total).__name__


# program: stencil
# f(np.arange(25.0).reshape(5, 5)) => record, hit
# f(np.arange(49.0).reshape(7, 7)) => hit
import numpy as np


def blur(a):
    out = a.copy()
    out[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + 4 * a[1:-1, 1:-1]) / 8.0
    return out


def f(a):
    for _ in range(3):
        a = blur(a)
    return a


# program: iterative_solver
# f(np.array([[4.0, 1.0], [2.0, 5.0]]), np.array([1.0, 2.0])) => record, hit
# f(np.array([[40.0, 1.0], [2.0, 50.0]]), np.array([1.0, 2.0])) => hit exit
import numpy as np


def f(m, b):
    d = np.diag(m)
    r = m - np.diag(d)
    x = np.zeros_like(b)
    for n in range(100):
        new = (b - r @ x) / d
        if np.abs(new - x).max() < 1e-8:
            break
        x = new
    return x, n


# program: option_pricing
# f(np.array([90.0, 100.0, 110.0]), 100.0, 0.5, 0.01, 0.2) => record, hit
# f(np.linspace(50, 150, 11), 95.0, 1.0, 0.02, 0.3) => hit
import math

import numpy as np


def cdf(x):
    return 0.5 * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def f(s, k, t, r, sigma):
    root = sigma * math.sqrt(t)
    d1 = (np.log(s / k) + (r + 0.5 * sigma**2) * t) / root
    d2 = d1 - root
    return s * cdf(d1) - k * math.exp(-r * t) * cdf(d2)


# program: array_exception_lands
# f(np.ones(3), np.ones(3)) => record, hit
# f(np.ones(3), np.ones(4)) => hit exit
# f(np.ones(3), None) => hit exit
# f(np.ones(2), np.ones(2)) => hit
import numpy as np


def g(a, b):
    return (
        a * 2
        + b
    )


def f(a, b):
    try:
        return g(a, b) - 1
    except (ValueError, TypeError) as error:
        return type(error).__name__, error


# program: array_reused_buffer_between_calls
# note: results of one call must not change when the next call runs
# do kept = []
# kept_f(np.arange(3.0)) => record
# kept_f(np.arange(3.0) * 10) => hit
# kept_f(np.arange(3.0) * 100) => hit
import numpy as np


def f(a):
    return a * 2 + 1


def kept_f(a):
    kept.append(f(a))
    return kept


# program: same_array_twice
# do a = np.arange(4.0)
# f(a, a) => record, hit
# f(a, a[::-1]) => hit
# f(np.arange(4.0), np.arange(4.0)) => hit
import numpy as np


def f(a, b):
    a += b
    c = a * b
    b *= 2
    return a, b, c


# program: weak_scalars
# note: Python numbers take the dtype of the array
# f(np.arange(3, dtype=np.float32), 1.5) => record, hit
# f(np.arange(3, dtype=np.int8), 100) => hit
# f(np.arange(3, dtype=np.int8), 2.5) => hit
# f(np.arange(3, dtype=np.float32), np.float64(1.5)) => hit
# f(np.arange(3, dtype=np.uint8), True) => hit
import numpy as np


def f(a, k):
    return a * k, k - a, a + k, a < k


# program: random_numbers
# f(7) => record, hit
# f(8) => hit
import numpy as np


def f(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=3) * 2, rng.integers(10, size=4), rng.permutation(5)


# program: array_attributes_and_len
# f(np.arange(6).reshape(2, 3)) => record, hit
# f(np.arange(4.0)[::2]) => hit
import numpy as np


def f(a):
    return len(a), a.shape, a.dtype, a.ndim, a.strides, a.itemsize, a.nbytes, a.T.flags.f_contiguous, a.tolist()


# program: array_changed_by_opaque_call
# f(np.array([3.0, 1.0, 2.0])) => record, hit
# f(np.array([5, 4])) => hit
import numpy as np


def f(a):
    before = a * 1
    a.sort()
    after = a * 1
    a.fill(7)
    return before, after, a, a[0]


# program: fusion_of_a_chain
# limits: fusion=1
# note: a name is looked up in the middle; dtypes, sizes and layouts change from call to call
# f(np.arange(1.0, 7.0), np.ones(6)) => record, hit
# f(np.arange(1.0, 7.0), np.full(6, 2.0)) => hit
# f(np.arange(1.0, 3001.0), np.ones(3000)) => hit
# f(np.arange(1.0, 13.0)[::2], np.ones(6)) => hit
# f(np.arange(1.0, 7.0, dtype="f4"), np.ones(6, "f4")) => hit
# f(np.ones((2, 3)), np.ones((2, 3))) => hit
# f(np.ones((2, 3)), np.ones(3)) => hit
# f(np.empty(0), np.empty(0)) => hit
import numpy as np


def f(a, b):
    c = a * 2.0 + b
    c = c * c
    d = np.sqrt(c) - a / (b + 3.0)
    mask = (d > 1.0) & ~(d == c)
    return -d * c, mask, d


# program: fusion_that_warns
# limits: fusion=1
# note: the fusion group is given up, its operations are done again and report, each in its line
# f(np.ones(4), np.ones(4)) => record, hit
# f(np.ones(4), np.array([1.0, 0.0, 2.0, 0.0])) => hit
# f(np.array([1e300, 0.0]), np.zeros(2)) => hit
# f(np.ones(4), np.ones(4)) => hit
import numpy as np


def f(a, b):
    c = a + 1.0
    d = c / b
    e = (a * 1e10) * a
    return d - e * b


# program: fusion_that_raises
# limits: fusion=1
# f(np.arange(3), np.arange(3)) => record, hit
# f(np.arange(3), np.array([1, -1, 2])) => hit exit
# f(np.arange(3), np.array([1, 1, 2])) => hit
import numpy as np


def f(a, b):
    c = a + 1
    d = c * 2
    return d ** b - c


# program: fusion_in_callees
# limits: fusion=1
# note: the inlined frames are never real
# f(np.arange(4.0), np.ones(4)) => record, hit
# f(np.arange(5), np.ones(5, int)) => hit
import numpy as np


def axpy(a, x, y):
    t = a * x
    return t + y


def f(x, y):
    return axpy(2.0, x, y) - axpy(3.0, y, x)


# program: fusion_with_operands_that_die
# limits: fusion=1
# note: where a finaliser would run the operations are done one by one
# f(np.ndarray) => record, hit
# f(Loud) => hit
import sys
import numpy as np


class Loud(np.ndarray):
    def __del__(self):
        frame = sys._getframe(1)
        print("dies in", frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno, sorted(frame.f_locals))


def g(x, y):
    a = x * y
    x = a + 1.0
    b = x - y
    y = None
    return a * b


def f(kind):
    return np.asarray(g(np.arange(3.0).view(kind), np.arange(3.0).view(kind))).tolist()


# program: fusion_in_place
# limits: fusion=1
# note: on an array of its own it is fused, on the caller's not
# f(np.arange(4.0), np.ones(4)) => record, hit
# f(np.arange(4), np.ones(4, int)) => hit
import numpy as np


def f(x, y):
    a = x * y
    b = a
    a += y
    a *= x
    x -= y
    x *= 2
    return a, b, a is b, x


# program: fusion_with_reductions_along_axes
# limits: fusion=1
# note: what is reduced becomes no array
# f(np.arange(12.0).reshape(3, 4), np.ones(4)) => record, hit
# f(np.arange(12).reshape(3, 4).T, np.ones((4, 1), int)) => hit
# f(np.ones((2, 0)), np.ones(1)) => hit
# f(np.arange(5.0), np.ones(5)) => hit exit
import numpy as np


def f(x, y):
    a = (x * y - x).sum(axis=0)
    b = np.mean(x * 2.0 + y, axis=-1, keepdims=True)
    return a, b, (x + y > y).any((0, 1)), np.prod(x - y * 0.5, axis=1)


# program: fusion_with_casts
# limits: fusion=1
# f(np.linspace(-3, 3, 6), np.zeros(6, np.int16)) => record, hit
# f(np.linspace(-300, 300, 6), np.zeros(6, np.uint8)) => hit
# f(np.array([1e300, np.nan]), np.zeros(2, np.float32)) => hit
import numpy as np


def f(x, y):
    a = (x * 2.0 + 1.0).astype(np.float32)
    b = (a - x).astype(bool)
    y[:] = x * a - 1.0
    return a, b, y, (a * b).astype(y.dtype)


# program: fusion_that_begins_with_parts
# limits: fusion=1
# note: parts without references are not made as objects
# f(np.arange(7.0), 1) => record, hit
# f(np.arange(9), 2) => hit
# f(np.arange(12.0).reshape(4, 3), 1) => hit
# f(np.arange(3.0), 5) => hit exit
# f(np.arange(5.0).view(Named), 1) => hit
# f([1, 2, 3], 1) => hit exit
import numpy as np


class Named(np.ndarray):
    def __getitem__(self, key):
        print("asked for", key)
        return np.asarray(self)[key]


def f(x, n):
    a = (x[n:] - x[:-n]) * 0.5
    b = x[1:-1] * 2 - x[0] + x[-1]
    return a, b, x[::2] + x[n] * x[::2]
