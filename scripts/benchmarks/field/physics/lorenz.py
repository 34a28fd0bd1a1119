"""Physics: clouds of points on Lorenz's attractor, tuples of arrays through Runge–Kutta."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # points

SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0


def lorenz(x, y, z):
    return SIGMA * (y - x), x * (RHO - z) - y, x * y - BETA * z


def step(x, y, z, dt):
    a = lorenz(x, y, z)
    b = lorenz(x + dt / 2 * a[0], y + dt / 2 * a[1], z + dt / 2 * a[2])
    c = lorenz(x + dt / 2 * b[0], y + dt / 2 * b[1], z + dt / 2 * b[2])
    d = lorenz(x + dt * c[0], y + dt * c[1], z + dt * c[2])
    new = []
    for value, k1, k2, k3, k4 in zip((x, y, z), a, b, c, d):
        new.append(value + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return new


def run(size, rounds):
    start = np.random.default_rng(65).standard_normal((3, size))
    for _ in range(rounds):
        x, y, z = start
        for _ in range(10):
            x, y, z = step(x, y, z, 0.01)
        radius = np.sqrt(x**2 + y**2 + (z - RHO) ** 2)
        left = (x < 0).mean()
    return x, y, z, radius.max(), left


def by_hand(njit):
    @njit
    def forward(start, steps, dt, out):
        for i in range(start.shape[1]):
            s = start[0, i], start[1, i], start[2, i]
            for _ in range(steps):
                x, y, z = s
                ax, ay, az = SIGMA * (y - x), x * (RHO - z) - y, x * y - BETA * z
                p, q, r = x + dt / 2 * ax, y + dt / 2 * ay, z + dt / 2 * az
                bx, by, bz = SIGMA * (q - p), p * (RHO - r) - q, p * q - BETA * r
                p, q, r = x + dt / 2 * bx, y + dt / 2 * by, z + dt / 2 * bz
                cx, cy, cz = SIGMA * (q - p), p * (RHO - r) - q, p * q - BETA * r
                p, q, r = x + dt * cx, y + dt * cy, z + dt * cz
                dx, dy, dz = SIGMA * (q - p), p * (RHO - r) - q, p * q - BETA * r
                s = (
                    x + dt / 6 * (ax + 2 * bx + 2 * cx + dx),
                    y + dt / 6 * (ay + 2 * by + 2 * cy + dy),
                    z + dt / 6 * (az + 2 * bz + 2 * cz + dz),
                )
            out[0, i], out[1, i], out[2, i] = s

    def by_loops(size, rounds):
        start = np.random.default_rng(65).standard_normal((3, size))
        for _ in range(rounds):
            out = np.empty((3, size))
            forward(start, 10, 0.01, out)
            x, y, z = out
            radius = np.sqrt(x**2 + y**2 + (z - RHO) ** 2)
            left = (x < 0).mean()
        return x, y, z, radius.max(), left

    return {"run": by_loops}


def by_numexpr(numexpr):
    evaluate = numexpr.evaluate

    def rate(x, y, z):
        return (
            evaluate("sigma * (y - x)", {"sigma": SIGMA, "x": x, "y": y}),
            evaluate("x * (rho - z) - y", {"rho": RHO, "x": x, "y": y, "z": z}),
            evaluate("x * y - beta * z", {"beta": BETA, "x": x, "y": y, "z": z}),
        )

    def moved(s, dt, k):
        return [evaluate("v + dt * w", {"v": v, "dt": dt, "w": w}) for v, w in zip(s, k)]

    def by_expressions(size, rounds):
        start = np.random.default_rng(65).standard_normal((3, size))
        dt = 0.01
        for _ in range(rounds):
            s = list(start)
            for _ in range(10):
                k1 = rate(*s)
                k2 = rate(*moved(s, dt / 2, k1))
                k3 = rate(*moved(s, dt / 2, k2))
                k4 = rate(*moved(s, dt, k3))
                s = [
                    evaluate(
                        "v + h * (a + 2 * b + 2 * c + d)",
                        {"v": v, "h": dt / 6, "a": a, "b": b, "c": c, "d": d},
                    )
                    for v, a, b, c, d in zip(s, k1, k2, k3, k4)
                ]
            x, y, z = s
            radius = evaluate("sqrt(x**2 + y**2 + (z - 28.0) ** 2)")
            left = (x < 0).mean()
        return x, y, z, radius.max(), left

    return {"run": by_expressions}
