"""Random programs over arrays of any dtypes and layouts, and operands for them."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from arrays_support import misaligned, sample, ufuncs

CODES = "?bBhHiIlLqQfd"
OTHER_CODES = "edfFDg"  # most operations on these are executed one by one
UNARY = (
    "negative",
    "positive",
    "abs",
    "sqrt",
    "exp",
    "log",
    "sin",
    "tanh",
    "floor",
    "rint",
    "square",
    "sign",
)
UNARY += (
    "isnan",
    "isfinite",
    "signbit",
    "logical_not",
    "reciprocal",
    "invert",
    "cbrt",
    "trunc",
    "expm1",
    "arctan",
    "arcsin",
    "cos",
)
BINARY = (
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
)
BINARY += (
    "hypot",
    "arctan2",
    "copysign",
    "logical_and",
    "logical_or",
    "greater",
    "less_equal",
    "equal",
    "power",
)
BINARY += (
    "bitwise_and",
    "bitwise_or",
    "left_shift",
    "fmod",
    "nextafter",
    "heaviside",
    "logaddexp",
    "fmin",
    "fmax",
)
# Every ufunc of NumPy is used occasionally.
OTHERS = {nin: tuple(f.__name__ for f in ufuncs() if f.nin == nin) for nin in (1, 2)}
OPERATORS = ("+", "-", "*", "/", "+", "-", "*", "//", "%", "<", "<=", "==", ">", "&", "|", "^")


# Eager execution computes into a large operand that has no other owner.
HELD = ("[{}][0]", "(h := [{}])[0]", "(h := {{1: {}}})[1]", "(lambda q: q)({})", "next(iter([{}]))")
# Parts and views of an array, and functions written in Python over parts: the array, a shift and an axis.
MOVED = (
    "np.roll({}, {}, {})",
    "np.roll({}, {}, axis={})",
    "np.roll(np.roll({}, {}, 0), 1, {})",
    "np.roll({}, {})",
)
MOVED += ("np.diff({0})", "np.diff({0}, axis={2})", "np.flip({0}, {2})", "({0}).swapaxes(0, {2})", "({0}).T")
MOVED += ("({0}).reshape(-1)", "({0}).ravel()", "({0}).transpose()", "({0}).squeeze()")


class Program:
    """A random function of 2 to 12 operations on arrays `a`, `b`, `c`, a number `s` and an int `n`; in a loop, if so
    wished, with arithmetic on numbers between them.
    """

    def __init__(self, random: Random, rounds: int = 0) -> None:
        self.random = random
        self.rounds = rounds
        self.names = ["a", "b", "c"]
        self.scalars: list[str] = ["t", "i"] if rounds else []
        self.results: list[str] = []  # results that are not used as operands
        self.lines: list[str] = []
        count = random.randint(2, 12)
        while count > 0:
            count -= self.statement()
        made = [name for name in (*self.names, *self.scalars, *self.results) if name not in "abci"] or ["a"]
        kept = self.kept(made)
        indent = "        " if rounds else "    "
        head = f"    t = 0.5\n    for i in range({rounds}):\n" if rounds else ""
        body = "\n".join(f"{indent}{line}" for line in self.lines)
        self.source = f"def f(a, b, c, s, n):\n{head}{body}\n    return {', '.join(kept)}\n"

    def kept(self, made: list[str]) -> list[str]:
        """Names of the values that the program returns."""
        return self.random.sample(made, min(len(made), self.random.randint(1, 3)))

    def operand(self) -> str:
        kind = self.random.random()
        if kind < 0.12:
            return self.random.choice(("2", "s", "1.5", "0.25", "1", "True", *self.scalars))
        if kind < 0.2:
            return f"{self.random.choice('abc')}[{self.index()}]"
        return self.random.choice(self.names[-5:])

    def index(self) -> str:
        return self.random.choice(
            ("1:-1", ":-2", "2:", "n:", ":", "::-1", "1:-1, :", "..., 0", "0", "None", ":, None", "None, 1:")
        )

    def dtype(self) -> str:
        names = (
            "float16",
            "float32",
            "float64",
            "float64",
            "int8",
            "uint8",
            "int32",
            "int64",
            "uint64",
            "bool_",
        )
        return self.random.choice((*(f"np.{name}" for name in names), "float", "bool", "int", "a.dtype"))

    def of(self, nin: int, usual: tuple[str, ...]) -> tuple[str, ...]:
        return OTHERS[nin] if self.random.random() < 0.15 else usual

    def expression(self, depth: int) -> tuple[str, int]:
        if depth == 0:
            return self.operand(), 0
        kind = self.random.random()
        left, first = self.expression(depth - 1)
        if kind < 0.04:
            shift = self.random.choice(("1", "-1", "2", "n", "-n", *self.scalars))
            moved = self.random.choice(MOVED).format(left, shift, self.random.choice(("0", "0", "-1", "1")))
            return moved, first + 1
        if kind < 0.06:
            rounded = self.random.choice(
                ("np.round({})", "np.around({}, 2)", "({}).round(1)", "np.round({}, -1)")
            )
            return rounded.format(left), first + 1
        if kind < 0.25:
            return f"np.{self.random.choice(self.of(1, UNARY))}({left})", first + 1
        right, second = self.expression(self.random.randint(0, depth - 1))
        if kind < 0.4:
            return f"np.{self.random.choice(self.of(2, BINARY))}({left}, {right})", first + second + 1
        if kind < 0.42:
            parts = (f"({left}).real", f"({left}).imag", f"np.real({left})")
            return self.random.choice(
                (f"(-{left})", f"abs({left})", f"sum([{left}, {right}])", *parts)
            ), first + 1
        if kind < 0.44:
            return f"({left} + {right}).astype({self.dtype()})", first + second + 2
        if kind < 0.47:
            mask = f"({left} {self.random.choice(('<', '>=', '!='))} {self.operand()})"
            return f"np.where({mask}, {self.operand()}, {right})", second + first + 2
        if kind < 0.49:
            low, high = self.random.choice(
                (("0", "2"), ("-1.5", "1.5"), ("s", "5"), ("a", "b"), ("None", "1"))
            )
            return f"np.clip({left}, {low}, {high})", first + 1
        if kind < 0.5:
            return f"({left} ** {self.random.choice(('2', '3', '0.5', '-1'))})", first + 1
        if first > 0 and self.random.random() < 0.06:
            left = self.random.choice(HELD).format(left)
        return f"({left} {self.random.choice(OPERATORS)} {right})", first + second + 1

    def reduction(self, value: str) -> None:
        name = f"v{len(self.lines)}"
        if self.random.random() < 0.3:
            value = self.random.choice(self.names[-5:])
        if self.random.random() < 0.2:
            place = f"np.{self.random.choice(('argmax', 'argmin'))}({value}"
            axis = self.random.choice(("-1", "-1", "0", "1", "None", "(0,)", "n"))
            self.lines.append(f"{name} = {place}{self.random.choice((f', axis={axis}', f', {axis}', ''))})")
            self.results.append(name)
            return
        reduction = self.random.choice(("sum", "max", "min", "mean", "prod", "any", "all", "var", "std"))
        form = self.random.choice((f"np.{reduction}({value}", f"({value}).{reduction}("))
        comma = ", " if form.startswith("np") else ""
        if self.random.random() < 0.3:
            self.lines.append(f"{name} = {form})")
            self.scalars.append(name)
            return
        axis = self.random.choice(("-1", "-1", "0", "1", "None", "(0, 1)", "(0,)", "(-1, 0)", "n"))
        named = self.random.choice(("axis=", "axis=", ""))
        if self.random.random() < 0.5:
            self.lines.append(f"{name} = {form}{comma}{named}{axis}, keepdims=True)")
            self.names.append(name)
        else:
            self.lines.append(f"{name} = {form}{comma}{named}{axis})")
            self.results.append(name)

    def pattern(self, value: str) -> int:
        """Adds a reduction along an axis, and operations on its result."""
        name = f"v{len(self.lines)}"
        axis = self.random.choice(("-1", "-1", "-1", "0", "(0, 1)", "1"))
        reduction = self.random.choice(("sum", "max", "mean", "min", "std"))
        self.lines.append(f"{name} = {value}")
        end = self.random.choice(
            (
                f"{name} = {name} / {name}.{reduction}(axis={axis}, keepdims=True)",
                f"{name} -= np.{reduction}({name}, axis={axis}, keepdims=True)",
                f"{name} = np.sqrt(({name} * {name}).{reduction}(axis={axis}, keepdims=True)) + {name}",
                f"{name} = np.exp({name} - {name}.{reduction}({axis}, keepdims=True)) * 0.5",
                f"{name}_ = abs(({name} * 2).{reduction}({axis}) - 1.5)",
            )
        )
        self.lines.append(end)
        if end.startswith(f"{name}_"):
            self.results.append(f"{name}_")
        self.names.append(name)
        return 3

    def reductions_in_passes(self, value: str) -> int:
        """Adds reductions of all elements, once or several times, each followed by operations on the result."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        self.names.append(name)
        rounds = self.random.choice((1, 1, 2, 3))
        for _ in range(rounds):
            reduction = self.random.choice(("sum", "max", "mean", "min", "sum", "prod", "any", "std"))
            total = self.random.choice((f"np.{reduction}({name})", f"{name}.{reduction}()"))
            other = self.random.choice(self.names[-4:])
            if self.random.random() < 0.3:
                self.lines.append(f"{name}_ = {total}")
                self.scalars.append(f"{name}_")
                total = f"{name}_"
            last, name = name, f"v{len(self.lines)}"
            self.lines.append(
                self.random.choice(
                    (
                        f"{name} = {last} / {total}",
                        f"{name} = {last} - {total}",
                        f"{name} = np.exp({last} - {total})",
                        f"{name} = ({last} - {total}) * 0.5 + {other}",
                        f"{name} = np.where({last} < {total}, {last}, {other})",
                        f"{name} = np.maximum({other} * 2, {total}) / {last}",
                        f"{name} = {last}; {name} /= {total}",
                    )
                )
            )
            self.names.append(name)
            if self.random.random() < 0.3:
                other = self.random.choice(self.names[-5:-1])
                self.lines.append(f"{name}o = {other} * 2 - {self.random.choice((name, other, 'c'))}")
                self.names.append(f"{name}o")
        return 1 + 2 * rounds

    def statement(self) -> int:
        kind = self.random.random()
        value, count = self.expression(self.random.randint(1, 3))
        if self.rounds and self.random.random() < 0.3:
            self.lines.append(
                self.random.choice(
                    (
                        "t = t * 0.5 + i",
                        "t = i * 2 - t",
                        "t = t / 3",
                        "t = i // 2",
                        "t = -t",
                        "t += 1",
                        f"{self.random.choice('abc')} = {value}",
                    )
                )
            )
        elif kind < 0.07:
            self.reduction(value)
        elif kind < 0.1:
            count += self.pattern(value)
        elif kind < 0.15:
            count += self.reductions_in_passes(value)
        elif kind < 0.18:
            function = self.random.choice(("add", "multiply", "subtract", "maximum"))
            out = self.random.choice(self.names)
            keyword = self.random.choice(("out=", ""))
            mask = (
                f"{self.random.choice(self.names)} {self.random.choice(('<', '!=', '>='))} {self.operand()}"
            )
            where = self.random.choice(("", f", where={mask}"))
            self.lines.append(f"np.{function}({value}, {self.operand()}, {keyword}{out}{where})")
        elif kind < 0.24:
            symbol = self.random.choice("+-*")
            self.lines.append(f"{self.random.choice(self.names)} {symbol}= {value}")
        elif kind < 0.31:
            self.lines.append(f"{self.random.choice('abc')}[{self.index()}] = {value}")
        else:
            name = f"v{len(self.lines)}"
            self.lines.append(f"{name} = {value}")
            self.names.append(name)
        return max(count, 1)


class Passes(Program):
    """Programs of plain arithmetic and reductions of all elements; only the last result is returned."""

    def statement(self) -> int:
        value = self.random.choice(
            (
                "a * 0.5 + 1",
                "a - b",
                "np.abs(a) + 0.25",
                "(a + b) * c",
                "a",
                "np.sqrt(b * b)",
                "np.exp(-a * a)",
            )
        )
        count = self.reductions_in_passes(
            value if len(self.names) < 4 or self.random.random() < 0.3 else self.names[-1]
        )
        return count

    def kept(self, made: list[str]) -> list[str]:
        return made[-1:] if self.random.random() < 0.8 else super().kept(made)


class Parts(Program):
    """Programs of plain operations on neighbouring parts of earlier results, as in filters."""

    def statement(self) -> int:
        value = self.random.choice(
            (
                "a * 0.5 + b",
                "a - b",
                "(a + b) * c",
                "np.abs(a) + s",
                "np.sqrt(b * b) - a",
                "a",
                "np.exp(-a * a)",
            )
        )
        name = self.name(value)
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            name = self.name(self.filtered(name, self.random.choice((0,) * 9 + (1, 1, 2))))
        self.results.append(name)
        return 6

    def name(self, value: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        return name

    def filtered(self, name: str, axis: int) -> str:
        width = self.random.choice((1, 1, 1, 2, 2, 3))

        def part(of: str, start: int) -> str:
            begin = self.random.choice((str(start), "n" if start == 1 else str(start))) if start else ""
            stop = str(start - width) if start < width else self.random.choice(("", "", "None", "9999"))
            kind = self.random.random()
            step = self.random.choice((":1", ":2", ":-1")) if kind > 0.97 else ""
            index = f"{begin}:{stop}{step}"
            if axis == 0 and kind < 0.03:
                index = self.random.choice((f"{index}, None", f"None, {index}", f"{index}, 0", "0", "-1:"))
            return f"{of}[{':, ' * axis}{index}]"

        first, last = part(name, 0), part(name, width)
        middle = part(name, self.random.randint(0, width))
        other = part(self.random.choice((name, name, "a", "b")), self.random.randint(0, width))
        return self.random.choice(
            (
                f"{last} - {first}",
                f"({first} + {last}) * 0.5 + {middle}",
                f"0.25 * ({first} + {last}) + 0.5 * {middle} - {other}",
                f"np.maximum({first}, {last}) * s",
                f"({first} < {last}) * {middle}",
                f"np.sqrt({first} * {first} + {last} * {last})",
                f"np.sum({last} - {first})",
                f"(({last} - {first}) * {middle}).max(axis=0)",
                f"{last} / {first} + {other}",
                f"np.sin({first}) + {last}",
            )
        )

    def kept(self, made: list[str]) -> list[str]:
        return self.results[-1:] if self.random.random() < 0.7 else super().kept(made)


class Targets(Program):
    """Programs of plain operations whose results are assigned to parts of existing arrays."""

    # The assigned array, and parts of the same shape.
    PARTS = (
        ("...", ("...", ":")),
        (":", (":", "...")),
        ("::-1", ("::-1", ":")),
        ("1:-1", ("1:-1", "2:", ":-2")),
        ("..., 1:-1", ("..., 1:-1", "..., 2:", "..., :-2")),
        ("1:-1, ..., 1:-1", ("1:-1, ..., 1:-1", "2:, ..., 1:-1", ":-2, ..., 1:-1", "1:-1, ..., 2:")),
        ("::2", ("::2",)),
        ("None, n:", ("None, n:", "None, :-n")),
        ("..., 0", ("..., 0", "..., -1", "..., n")),
    )

    def statement(self) -> int:
        target, sources = self.random.choice(self.PARTS)

        def part() -> str:
            source = self.random.choice("aaabbb" + ("c" if self.random.random() < 0.1 else ""))
            return f"{source}[{self.random.choice(sources)}]"

        one, two, three = part(), part(), part()
        value = self.random.choice(
            (
                f"{one} * 0.5 + {two}",
                f"({one} + {two}) * {three} - s",
                f"0.25 * ({one} + {two}) + 0.5 * {three}",
                f"{one} / {two}",
                f"np.sqrt({one}) + {two} / 3",
                f"np.abs({one} - {two})",
                f"np.exp({one} * {one}) - {three}",
                # For a negative number NumPy 1.26 gives a NaN of either sign, depending on where the result lies in
                # memory.
                f"np.log(np.abs({one})) * {two}",
                f"np.where({one} < {two}, {one}, {three})",
                f"np.maximum({one}, {two}) * 2.0",
                f"np.sin({one}) + {two}",
                f"({one} - {two}) ** 2",
            )
        )
        where = self.random.choice(("c", "c", "c", "b"))
        self.lines.append(f"{where}[{target}] = {value}")
        return 4

    def kept(self, made: list[str]) -> list[str]:
        return ["c"]


class Operands:
    """Arrays of one broadcast shape, made anew in each call with equal contents."""

    SHAPES = (
        (5,),
        (40,),
        (3, 4),
        (2, 3, 4),
        (2, 1, 4),
        (3, 4, 1),
        (1, 7),
        (7, 1),
        (33, 40),
        (1025,),
        (3000,),
        (70, 520),
        (7, 10, 520),
        (3, 1100),
        (260, 5),
        (4, 1, 600),
        (0,),
        (2, 0),
    )

    TALL = ((40,), (3000,), (33, 40), (70, 52), (17, 5, 12), (260, 5), (12, 1), (9, 600))

    def __init__(
        self, random: Random, code: str | None = None, *, plain: bool = False, tall: bool = False
    ) -> None:
        self.shape = random.choice(self.TALL if tall else self.SHAPES)
        self.kind = "ordinary" if tall else random.choice(("ordinary", "ordinary", "extreme", "bits"))
        # Most programs have one dtype, C order and no broadcasting, so that much is fused.
        self.codes = [code or random.choice("ddf" + CODES) for _ in range(3)]
        if code is None and (family := random.random()) < 0.2:
            self.codes = [random.choice(OTHER_CODES if family < 0.05 else "FDDDdee") for _ in range(3)]
        if random.random() < 0.6:
            self.codes = self.codes[:1] * 3
        self.layouts = [random.choice(("C", "C", "F", "any", "any", "wide")) for _ in range(3)]
        if random.random() < 0.5:
            self.layouts = self.layouts[:1] * 3
        self.shapes = [self.broadcast(random) if random.random() < 0.2 else self.shape for _ in range(3)]
        if plain:  # as in most programs
            self.codes = [random.choice("ddddddDF")] * 3
            self.layouts, self.shapes = ["C"] * 3, [self.shape] * 3
        self.number = random.choice((2, 3.5, -1, True, np.float64(0.5), np.float32(2), np.int8(3)))
        self.made = [
            self.memory(random, code, layout, shape, self.kind)
            for code, layout, shape in zip(self.codes, self.layouts, self.shapes, strict=True)
        ]
        self.special = random.choice(
            ("", "", "", "", "", "same", "overlap", "read-only", "unaligned", "swapped", "0-d")
        )

    def broadcast(self, random: Random) -> tuple[int, ...]:
        shape = tuple(1 if random.random() < 0.4 else extent for extent in self.shape)
        return shape[random.choice((0, 0, len(shape) - 1)) :]

    def __call__(self) -> list[Any]:
        arrays = [
            memory.copy().transpose(back)[index] if back else memory.copy()
            for memory, back, index in self.made
        ]
        if self.special == "same":
            arrays[1] = arrays[0]
        elif self.special == "overlap" and arrays[0].shape[:1] > (2,):
            arrays[1] = arrays[0][1:]
            arrays[0] = arrays[0][:-1]
            arrays[2] = arrays[2][-arrays[0].shape[0] :] if arrays[2].ndim == arrays[0].ndim else arrays[2]
        elif self.special == "read-only":
            arrays[2].flags.writeable = False
        elif self.special == "unaligned":
            arrays[1] = misaligned(arrays[1])
        elif self.special == "swapped":
            arrays[1] = arrays[1].astype(arrays[1].dtype.newbyteorder())
        elif self.special == "0-d":
            arrays[2] = np.array(1.5 if self.codes[0] in "fd" else 3).astype(self.codes[0])
        return [*arrays, self.number, 1]

    @staticmethod
    def memory(random: Random, code: str, layout: str, shape: tuple[int, ...], kind: str) -> tuple[Any, ...]:
        """An array of new memory, how to transpose that, and what to take of it."""
        order = list(range(len(shape)))
        if layout in ("any", "wide"):
            random.shuffle(order)
        elif layout == "F":
            order.reverse()
        wide = [random.choice((1, 1, 2)) if layout == "wide" else 1 for _ in shape]
        memory = sample(code, tuple(shape[axis] * wide[axis] for axis in order), kind)
        steps = [random.choice((1, 1, -1)) if layout in ("any", "wide") else 1 for _ in shape]
        index = tuple(slice(None, None, w * s) for w, s in zip(wide, steps, strict=True))
        return memory, tuple(np.argsort(order)), index
