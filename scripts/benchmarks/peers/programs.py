"""The programs: each is a Python function over NumPy, with replacements for peers that need something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from benchmarks.chains import chain

Arguments = tuple[Any, ...]

CLUSTERS = 8
TAPS = (0.0625, 0.25, 0.375, 0.25, 0.0625)


def exp_log_chain(a, b, c):
    return np.exp(-a * a) * np.sqrt(b) + np.log(c + 1.0) / (a + 2.0)


def black_scholes(s, k, t):
    """Prices of European calls, with r = 3 % and volatility 20 %; erf by Abramowitz and Stegun, 7.1.26."""
    root = 0.2 * np.sqrt(t)
    d1 = (np.log(s / k) + 0.05 * t) / root
    d2 = d1 - root
    z1 = np.abs(d1) * 0.7071067811865476
    z2 = np.abs(d2) * 0.7071067811865476
    u1 = 1.0 / (1.0 + 0.3275911 * z1)
    u2 = 1.0 / (1.0 + 0.3275911 * z2)
    p1 = ((((1.061405429 * u1 - 1.453152027) * u1 + 1.421413741) * u1 - 0.284496736) * u1 + 0.254829592) * u1
    p2 = ((((1.061405429 * u2 - 1.453152027) * u2 + 1.421413741) * u2 - 0.284496736) * u2 + 0.254829592) * u2
    n1 = 0.5 + 0.5 * np.sign(d1) * (1.0 - p1 * np.exp(-z1 * z1))
    n2 = 0.5 + 0.5 * np.sign(d2) * (1.0 - p2 * np.exp(-z2 * z2))
    return s * n1 - k * np.exp(-0.03 * t) * n2


def haversine(lat1, lon1, lat2, lon2):
    """Distances in km of points given in radians."""
    a = np.sin((lat2 - lat1) * 0.5)
    b = np.sin((lon2 - lon1) * 0.5)
    return 12742.0 * np.arcsin(np.sqrt(a * a + np.cos(lat1) * np.cos(lat2) * (b * b)))


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def mandelbrot(x, y, cx, cy, rounds):
    xx = x * x
    yy = y * y
    inside = xx + yy <= 4.0
    return (
        np.where(inside, xx - yy + cx, x),
        np.where(inside, 2.0 * x * y + cy, y),
        np.where(inside, rounds + 1.0, rounds),
    )


def stencil(u, out):
    out[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return out


def stencil_of_jax(u, out):
    new = 0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return out.at[1:-1, 1:-1].set(new)


def stencil_loops(u, out):
    for i in prange(1, u.shape[0] - 1):  # noqa: F821 - numba's
        for j in range(1, u.shape[1] - 1):
            out[i, j] = 0.2 * (u[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return out


def kmeans(x, y, cx, cy):
    """One step: each point is assigned to the nearest centre, then the centres move to the middle of their points."""
    distances = (x[:, None] - cx) ** 2 + (y[:, None] - cy) ** 2
    labels = np.argmin(distances, axis=1)
    counts = np.bincount(labels, minlength=CLUSTERS)
    new_x = np.bincount(labels, weights=x, minlength=CLUSTERS) / counts
    return new_x, np.bincount(labels, weights=y, minlength=CLUSTERS) / counts


def kmeans_of_jax(x, y, cx, cy):
    distances = (x[:, None] - cx) ** 2 + (y[:, None] - cy) ** 2
    labels = np.argmin(distances, axis=1)
    counts = np.bincount(labels, length=CLUSTERS)
    new_x = np.bincount(labels, weights=x, length=CLUSTERS) / counts
    return new_x, np.bincount(labels, weights=y, length=CLUSTERS) / counts


def kmeans_loops(x, y, cx, cy):
    counts = np.zeros(CLUSTERS)
    new_x = np.zeros(CLUSTERS)
    new_y = np.zeros(CLUSTERS)
    for i in range(x.size):
        best = 0
        least = np.inf
        for k in range(CLUSTERS):
            distance = (x[i] - cx[k]) ** 2 + (y[i] - cy[k]) ** 2
            if distance < least:
                least = distance
                best = k
        counts[best] += 1
        new_x[best] += x[i]
        new_y[best] += y[i]
    return new_x / counts, new_y / counts


def gaussian(u):
    """Separable, five taps, on the inner part of the image."""
    a, b, c, _, _ = TAPS
    rows = a * (u[:, :-4] + u[:, 4:]) + b * (u[:, 1:-3] + u[:, 3:-1]) + c * u[:, 2:-2]
    return a * (rows[:-4] + rows[4:]) + b * (rows[1:-3] + rows[3:-1]) + c * rows[2:-2]


def gaussian_loops(u):
    a, b, c, _, _ = TAPS
    height, width = u.shape
    rows = np.empty((height, width - 4))
    for i in prange(height):  # noqa: F821 - numba's
        for j in range(width - 4):
            rows[i, j] = a * (u[i, j] + u[i, j + 4]) + b * (u[i, j + 1] + u[i, j + 3]) + c * u[i, j + 2]
    out = np.empty((height - 4, width - 4))
    for i in prange(height - 4):  # noqa: F821
        for j in range(width - 4):
            ends = a * (rows[i, j] + rows[i + 4, j])
            out[i, j] = ends + b * (rows[i + 1, j] + rows[i + 3, j]) + c * rows[i + 2, j]
    return out


def twenty(x, y):
    """Twenty operations."""
    a = (x + y) * 0.5 - x * 0.25
    b = a * a + x * y
    c = np.sqrt(b + 4.0) * a
    d = (c - a) * (c + b) / (b + 3.0)
    return d * 0.5 + c - np.exp(a) * b


# --- for numexpr, which has only expressions


def compiled(numexpr: Any, expression: str, names: str) -> Any:
    return numexpr.NumExpr(expression, [(name, np.double) for name in names.split()])


def black_scholes_by_numexpr(numexpr: Any) -> Any:
    """numexpr has no sign(), and finds common subexpressions itself."""
    root = "(0.2 * sqrt(t))"
    d1 = f"((log(s / k) + 0.05 * t) / {root})"

    def normal(d: str) -> str:
        z = f"(abs({d}) * 0.7071067811865476)"
        u = f"(1.0 / (1.0 + 0.3275911 * {z}))"
        inner = f"((1.061405429 * {u} - 1.453152027) * {u} + 1.421413741)"
        p = f"((({inner} * {u} - 0.284496736) * {u} + 0.254829592) * {u})"
        return f"(0.5 + 0.5 * where({d} < 0.0, -1.0, 1.0) * (1.0 - {p} * exp(-{z} * {z})))"

    return compiled(numexpr, f"s * {normal(d1)} - k * exp(-0.03 * t) * {normal(f'({d1} - {root})')}", "s k t")


def haversine_by_numexpr(numexpr: Any) -> Any:
    a, b = "sin((lat2 - lat1) * 0.5)", "sin((lon2 - lon1) * 0.5)"
    whole = f"12742.0 * arcsin(sqrt({a} * {a} + cos(lat1) * cos(lat2) * ({b} * {b})))"
    return compiled(numexpr, whole, "lat1 lon1 lat2 lon2")


def softmax_by_numexpr(numexpr: Any) -> Any:
    exponentials, quotients = compiled(numexpr, "exp(x - m)", "x m"), compiled(numexpr, "e / s", "e s")

    def run(x):
        e = exponentials(x, np.max(x))
        return quotients(e, np.sum(e))

    return run


def mandelbrot_by_numexpr(numexpr: Any) -> Any:
    x = compiled(numexpr, "where(x * x + y * y <= 4.0, x * x - y * y + cx, x)", "x y cx")
    y = compiled(numexpr, "where(x * x + y * y <= 4.0, 2.0 * x * y + cy, y)", "x y cy")
    rounds = compiled(numexpr, "where(x * x + y * y <= 4.0, n + 1.0, n)", "x y n")
    return lambda a, b, ca, cb, n: (x(a, b, ca), y(a, b, cb), rounds(a, b, n))


def stencil_by_numexpr(numexpr: Any) -> Any:
    sums = compiled(numexpr, "0.2 * (a + b + c + d + e)", "a b c d e")

    def run(u, out):
        inner = (u[1:-1, 1:-1], u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:])
        sums(*inner, out=out[1:-1, 1:-1], order="K", casting="safe", ex_uses_vml=False)
        return out

    return run


def kmeans_by_numexpr(numexpr: Any) -> Any:
    squares = compiled(numexpr, "(x - cx) ** 2 + (y - cy) ** 2", "x cx y cy")

    def run(x, y, cx, cy):
        labels = np.argmin(squares(x[:, None], cx, y[:, None], cy), axis=1)
        counts = np.bincount(labels, minlength=CLUSTERS)
        new_x = np.bincount(labels, weights=x, minlength=CLUSTERS) / counts
        return new_x, np.bincount(labels, weights=y, minlength=CLUSTERS) / counts

    return run


def gaussian_by_numexpr(numexpr: Any) -> Any:
    a, b, c, _, _ = TAPS
    taps = compiled(numexpr, f"{a} * (p + t) + {b} * (q + s) + {c} * r", "p q r s t")

    def run(u):
        rows = taps(u[:, :-4], u[:, 1:-3], u[:, 2:-2], u[:, 3:-1], u[:, 4:])
        return taps(rows[:-4], rows[1:-3], rows[2:-2], rows[3:-1], rows[4:])

    return run


def by_expression(expression: str, names: str) -> Callable[[Any], Any]:
    return lambda numexpr: compiled(numexpr, expression, names)


# --- the input


def uniform(*ranges: tuple[float, float]) -> Callable[[int], Arguments]:
    """Arrays of this size, one for each range, always with the same contents."""

    def arguments(size: int) -> Arguments:
        random = np.random.default_rng(7)
        return tuple(random.uniform(low, high, size) for low, high in ranges)

    return arguments


def image(size: int, least: int) -> Any:
    side = max(least, round(size**0.5))
    return np.random.default_rng(7).uniform(0.0, 1.0, (side, side))


def points(size: int) -> Arguments:
    """As many points as there are in `size` distances."""
    x, y = uniform((0.0, 1.0), (0.0, 1.0))(max(2 * CLUSTERS, size // CLUSTERS))
    return x, y, x[:CLUSTERS].copy(), y[:CLUSTERS].copy()


@dataclass(frozen=True)
class Program:
    """What jax and numba get instead of the function, where needed: `loops` is written as loops."""

    name: str
    function: FunctionType
    arguments: Callable[[int], Arguments]
    by_numexpr: Callable[[Any], Any]
    by_jax: FunctionType | None = None
    loops: FunctionType | None = None
    is_elementwise: bool = False
    is_transcendental: bool = False

    def copy(self, form: FunctionType | None = None, **names: Any) -> FunctionType:
        """A copy of the function with its own code object and with `names` among its globals."""
        function = form or self.function
        return FunctionType(function.__code__.replace(), function.__globals__ | names, function.__name__)


A_BAND = ((-1.4, 1.4), (-3.1, 3.1))
PROGRAMS = (
    Program(
        "chain of 6 operations",
        chain,
        uniform((1.0, 2.0), (2.0, 3.0)),
        by_expression("sqrt((x * y + x - y) * 0.5) + y", "x y"),
        is_elementwise=True,
    ),
    Program(
        "chain with exp and log",
        exp_log_chain,
        uniform((-2.0, 2.0), (1.0, 2.0), (0.0, 9.0)),
        by_expression("exp(-a * a) * sqrt(b) + log(c + 1.0) / (a + 2.0)", "a b c"),
        is_elementwise=True,
        is_transcendental=True,
    ),
    Program(
        "Black–Scholes",
        black_scholes,
        uniform((50.0, 150.0), (50.0, 150.0), (0.1, 2.0)),
        black_scholes_by_numexpr,
        is_elementwise=True,
        is_transcendental=True,
    ),
    Program(
        "haversine",
        haversine,
        uniform(*A_BAND, *A_BAND),
        haversine_by_numexpr,
        is_elementwise=True,
        is_transcendental=True,
    ),
    Program("softmax", softmax, uniform((-3.0, 3.0)), softmax_by_numexpr, is_transcendental=True),
    Program(
        "Mandelbrot step",
        mandelbrot,
        uniform((-2.0, 2.0), (-2.0, 2.0), (-2.0, 1.0), (-1.5, 1.5), (0.0, 9.0)),
        mandelbrot_by_numexpr,
    ),
    Program(
        "5-point stencil",
        stencil,
        lambda size: (image(size, 4), np.zeros_like(image(size, 4))),
        stencil_by_numexpr,
        by_jax=stencil_of_jax,
        loops=stencil_loops,
    ),
    Program("k-means step", kmeans, points, kmeans_by_numexpr, by_jax=kmeans_of_jax, loops=kmeans_loops),
    Program(
        "Gaussian filter", gaussian, lambda size: (image(size, 6),), gaussian_by_numexpr, loops=gaussian_loops
    ),
)
