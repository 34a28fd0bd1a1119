"""Random programs with numbers, attributes and items between their array operations, as in ordinary programs.

Most of them only read, so that they may be part of a fusion group. Some run code of the program, raise, or read
elements that an operation of the group has written.
"""

from __future__ import annotations

from random import Random

from array_programs import Program

HELPERS = """\
import math

class Model:
    gravity = 9.81
    __slots__ = ("rate", "inner", "weights", "__dict__")

    def __init__(self, x):
        self.rate = 0.25
        self.inner = Plain()
        self.weights = x

    def __repr__(self):
        return "Model"

    def decay(self, t):
        return math.exp(-self.rate * t)

    @property
    def half(self):
        return self.rate / 2

class Plain:
    def __init__(self):
        self.count = 3
        self.scale = np.float64(1.5)
        self.single = np.float32(0.3)
        self.table = {"dt": 0.125, "steps": 4}
        self.sizes = [0.5, 2, True]

class Asking:
    calls = 0

    def __getattr__(self, name):
        Asking.calls += 1
        return Asking.calls

class Odd(dict):
    def __missing__(self, key):
        self[key] = len(self)
        return 0.5

limit = 1.75
"""

NUMBERS = (
    "m.rate",
    "m.gravity",
    "Model.gravity",
    "m.inner.count",
    "m.inner.scale",
    "m.inner.table['dt']",
    "m.inner.sizes[1]",
    "m.inner.sizes[n - 3]",
    "m.decay(s)",
    "m.half",
    "p['dt']",
    "p['steps'] * p['dt']",
    "limit",
    "s ** 2",
    "n ** 2",
    "2 ** n",
    "(s + n) / 3",
    "n // 2 + n % 2",
    "-s",
    "math.sqrt(abs(s))",
    "math.cos(n)",
    "math.pi",
    "np.pi",
    "np.sqrt(2.0)",
    "np.exp(-s)",
    "abs(n)",
    "min(s, n)",
    "max(n, 1, s)",
    "float(n)",
    "int(s)",
    "round(s)",
    "len(a)",
    "len(p)",
    "a.shape[0]",
    "a.shape[-1]",
    "b.size",
    "c.ndim",
    "(1.0 if s > 0 else 2.0)",
    "(s if n else 0.5)",
    "(n > 1)",
    "m.inner.scale * m.inner.scale",
    "m.inner.scale ** 2",
    "m.inner.scale / n",
    "m.inner.single",
    "m.inner.single * 2 + m.inner.single",
    "m.inner.single / n - s",
    "(m.inner.single * m.inner.single < s)",
    "np.float64(n)",
    "a.reshape(-1)[0]",
    "float(b.reshape(-1)[1])",
    "k()",
    # These run code of the program, raise for some operands, or change something.
    "asking.value",
    "odd['x']",
    "p.get('dt', 1)",
    "q.pop()",
    "1 / (n - 3)",
    "p['none']",
    "m.nothing",
    "m.inner.sizes[n]",
    "math.sqrt(s)",
    "math.log(n)",
    "1e308 * m.inner.scale * 10",
    "m.inner.scale / 0",
    "m.inner.single * 1e30 * 1e30",
    "m.inner.single * 1e-30 * 1e-30",
    "m.inner.single / (n - 3)",
)
USUAL = NUMBERS.index("asking.value")
ARRAYS = ("m.weights", "w[0]", "d['x']", "m.weights.T.T")
# Statements that change what others read. {e}: an expression; {n}: a number.
CHANGES = (
    "m.rate = {n}",
    "p['dt'] = {n}",
    "m.inner.sizes[1] = {n}",
    "m.weights = {e}",
    "m.weights += {n}",
    "a[0] = {n}",
    "b[...] = {e}",
    "w[0] = {e}",
    "d['x'] = d['x'] * {n}",
    "m.weights[1:] = m.weights[:-1] * {n}",
    "u = m.rate; m.rate = u + 1",
)


class Scalars(Program):
    """The functions of `Program`, whose operands are also numbers that objects hold or that are computed."""

    def __init__(self, random: Random, rounds: int = 0) -> None:
        super().__init__(random, rounds)
        body = self.source.partition("\n")[2]
        self.names, self.scalars = (
            ["a", "b", "c"],
            [],
        )  # others may not be bound where a statement is inserted
        indent = "        " if rounds else "    "
        for _ in range(random.randint(0, 2)):
            change = random.choice(CHANGES).format(n=self.number(), e=self.expression(1)[0])
            lines = body.splitlines()
            places = [
                place for place, line in enumerate(lines) if line.startswith(indent) and "return" not in line
            ]
            lines.insert(random.choice(places), indent + change)
            body = "\n".join(lines) + "\n"
        self.source = (
            f"{HELPERS}\n"
            "def f(a, b, c, s, n):\n"
            "    m, p, q, asking, odd = Model(a), {'dt': 0.5, 'steps': 3}, [1.0, 2.0, 0.5], Asking(), Odd()\n"
            "    w, d = [b], {'x': c}\n"
            "    v = s\n"
            "    k = lambda: v\n"
            "    Asking.calls = 0\n"
            f"{body}"
        )

    def number(self) -> str:
        return self.random.choice(NUMBERS if self.random.random() < 0.1 else NUMBERS[:USUAL])

    def operand(self) -> str:
        kind = self.random.random()
        if kind < 0.3:
            return self.number()
        if kind < 0.37:
            return self.random.choice(ARRAYS)
        return super().operand()
