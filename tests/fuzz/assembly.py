"""From a seed to a program: source, and the calls to make."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from . import arrays, disturbances, exceptions, expressions, statements  # noqa: F401  (they fill the tables)
from .classes import begin_classes, define_class
from .definitions import Signature, top_function
from .engine import Generator
from .prelude import prelude_for
from .suspended import define_coroutine, define_generator

FEATURES = (
    "arrays",
    "async",
    "classes",
    "disturb",
    "exceptions",
    "frames",
    "generators",
    "identity",
    "lifetimes",
)


@dataclass(frozen=True)
class Call:
    """One step: an expression and how often it is evaluated; or a statement."""

    text: str
    times: int
    is_statement: bool = False


@dataclass(frozen=True)
class Generated:
    """A program as text."""

    seed: int
    source: str
    calls: tuple[Call, ...]


def generate(seed: int, size: int = 30, off: frozenset[str] = frozenset()) -> Generated:
    """The program of this seed."""
    choice = Random(seed * 31 + 7)
    theme = {f for f in FEATURES if choice.random() < 0.25 and f not in ("exceptions",)}
    g = Generator(seed, size, off | frozenset(theme))
    for kind in ("int", "int", "float", "ints", "map", "arr", "any1"):
        if g.chance(0.6):
            name = g.fresh(kind)
            g.emit(f"{name} = {g.literal('int' if kind == 'any1' else kind)}")
            g.declare(name, kind)
    if "classes" not in g.off:
        begin_classes(g)
        for _ in range(g.random.randrange(3)):
            define_class(g)
    if "generators" not in g.off:
        for _ in range(g.random.randrange(2)):
            define_generator(g)
    if "async" not in g.off and g.chance(0.4):
        for _ in range(1 + g.random.randrange(2)):
            define_coroutine(g)
    functions = 1 + g.random.randrange(3)
    signatures = []
    for number in range(functions):
        g.left = size // functions
        signature, _ = top_function(g, f"f{number}", 2 + g.random.randrange(size // 5))
        signatures.append((f"f{number}", signature))
    calls = _calls(g, signatures)
    source = "\n".join(g.lines)
    text = source + "".join(call.text for call in calls)
    return Generated(seed, prelude_for(text, log=True) + source + "\n", tuple(calls))


# Arguments of other types than those for which the function was written. If the function adds a value to itself, the
# value is empty: it would double in each round of a loop.
OTHERS = {
    "int": ("2.5", "True", "2**70", "-1", "0", "''", "None", "np.int64(4)"),
    "float": ("3", "float('nan')", "-0.0", "np.float64(2.0)", "False", "''"),
    "ints": ("[1.5, 2.5]", "(1, 2)", "[]", "'ab'", "[[1], [2]]", "range(3)", "[True, None]"),
    "str": ("b'x'", "''", "5"),
    "bool": ("0", "[]", "1.0"),
    "pair": ("(1.5, 2)", "[1, 2]", "()", "(1, 2, 3)"),
    "map": ("{}", "{1: 2}", "{'a': 1.5}", "None"),
    "arr": ("np.arange(4)", "2.0", "np.ones((2, 4))", "np.arange(3.0)", "np.ones(4, 'f4')", "[]"),
    "mat": ("np.ones((3, 4), int)", "np.ones(4)", "np.ones((4, 3))", "1.0"),
    "fn": ("int", "len", "(lambda q: 'r')"),
    "any": ("1", "'s'", "[1]", "1.5"),
}


def _calls(g: Generator, signatures: list[tuple[str, Signature]]) -> list[Call]:
    random = g.random
    calls: list[Call] = []
    names = [name for name, _ in signatures]
    for name, signature in signatures[::-1]:
        rounds = 4 if name == names[-1] else 2
        for number in range(rounds):
            form = random.choice(signature.calls)
            if number and random.random() < 0.12 and g.module.variables:
                target = random.choice(list(g.module.variables))
                kind = g.module.variables[target]
                value = g.literal(kind if kind != "any1" else "ints")
                calls.append(Call(f"{target} = {value}", 1, is_statement=True))
            calls.append(
                Call(f"{name}({_filled(g, form, wild=0.0 if number == 0 else 0.3)})", 2 + (number == 0))
            )
    return calls


def _filled(g: Generator, form: str, wild: float) -> str:
    from .engine import _parsed

    parts = []
    for what, text in _parsed(form):
        if what == "text":
            parts.append(text)
        elif g.random.random() < wild and text in OTHERS:
            parts.append(g.random.choice(OTHERS[text]))
        else:
            parts.append(g.literal(text if text != "any" else g.pick("int", "float", "str", "ints")))
    return "".join(parts)
