"""How much of a program's time is element-wise work: its operators and ufuncs on arrays are timed where they stand.

The program is compiled from a changed syntax tree, in which each operator and each call of an attribute goes through a
clock. What gives an array and is element-wise counts: operators but `@`, ufuncs, `where`, `clip`, `round`, `astype`.
Reductions, products of matrices, copies by slices and indices do not count.
"""

from __future__ import annotations

import ast
import operator
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.interpreters import load

CLOCK = "__clock__"
FUNCTIONS = {np.where, np.clip, np.round, np.angle, np.isclose, np.nan_to_num}
METHODS = {"astype", "clip", "round", "conj", "conjugate"}
BINARY = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "truediv",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "LShift": "lshift",
    "RShift": "rshift",
    "BitAnd": "and",
    "BitOr": "or",
    "BitXor": "xor",
}
COMPARE = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}
UNARY = {"USub": "neg", "Invert": "invert", "UAdd": "pos"}


class Times(NamedTuple):
    wall: float
    processor: float


def times(work: Callable[[], Any]) -> Times:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Times(time.perf_counter() - wall, time.process_time() - processor)


class Clock:
    """Adds up the time of what it calls."""

    def __init__(self) -> None:
        self.taken, self.calls = 0.0, 0  # of what has given arrays

    def reset(self) -> None:
        self.taken, self.calls = 0.0, 0

    def time(self, function: Any, arguments: Any, words: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments, **words)
        taken = time.perf_counter() - start
        if isinstance(result, np.ndarray):
            self.taken += taken
            self.calls += 1
        return result

    def operate(self, name: str, *operands: Any) -> Any:
        return self.time(getattr(operator, name), operands, {})

    def call(self, function: Any, *arguments: Any, **words: Any) -> Any:
        if is_elementwise(function):
            return self.time(function, arguments, words)
        return function(*arguments, **words)

    def augment_item(self, name: str, container: Any, key: Any, value: Any) -> None:
        container[key] = self.operate(name, container[key], value)

    def augment_attribute(self, name: str, thing: Any, attribute: str, value: Any) -> None:
        setattr(thing, attribute, self.operate(name, getattr(thing, attribute), value))


def is_elementwise(function: Any) -> bool:
    if isinstance(function, np.ufunc):
        return function.signature is None
    if getattr(function, "__name__", None) in METHODS:
        return isinstance(getattr(function, "__self__", None), np.ndarray)
    try:
        return function in FUNCTIONS
    except TypeError:
        return False


class Clocked(ast.NodeTransformer):
    """Sends operators and calls of attributes through the clock."""

    def _call(self, name: str, *arguments: ast.expr) -> ast.Call:
        clock = ast.Attribute(ast.Name(CLOCK, ast.Load()), name, ast.Load())
        return ast.Call(clock, list(arguments), [])

    def _operate(self, name: str, *operands: ast.expr) -> ast.Call:
        return self._call("operate", ast.Constant(f"__{name}__"), *operands)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = BINARY.get(type(node.op).__name__)
        return node if name is None else self._operate(name, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        name = UNARY.get(type(node.op).__name__)
        return node if name is None else self._operate(name, node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        name = COMPARE.get(type(node.ops[0]).__name__)
        if len(node.ops) > 1 or name is None:
            return node
        return self._operate(name, node.left, node.comparators[0])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute):
            return node  # super() has to stay as it is
        found = self._call("call", node.func, *node.args)
        found.keywords = node.keywords
        return found

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        name = BINARY.get(type(node.op).__name__)
        target = node.target
        if name is None:
            return node
        in_place = ast.Constant(f"__i{name}__")
        if isinstance(target, ast.Name):
            old = ast.Name(target.id, ast.Load())
            return ast.Assign([target], self._operate(f"i{name}", old, node.value))
        target.value.ctx = ast.Load()  # type: ignore[attr-defined]
        if isinstance(target, ast.Attribute):
            attribute = ast.Constant(target.attr)
            return ast.Expr(self._call("augment_attribute", in_place, target.value, attribute, node.value))
        return ast.Expr(
            self._call("augment_item", in_place, target.value, as_value(target.slice), node.value)
        )


def as_value(key: ast.expr) -> ast.expr:
    """An index as an expression: slices are calls of `slice`."""
    if isinstance(key, ast.Slice):
        parts = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
        return ast.Call(ast.Name("slice", ast.Load()), parts, [])
    if isinstance(key, ast.Tuple):
        return ast.Tuple([as_value(item) for item in key.elts], ast.Load())
    return key


def clocked(path: Path, clock: Clock) -> ModuleType:
    tree = ast.fix_missing_locations(Clocked().visit(ast.parse(path.read_text())))
    module = ModuleType(path.stem)
    vars(module)[CLOCK] = clock
    exec(compile(tree, str(path), "exec"), vars(module))
    return module


def elementwise(clock: Clock, work: Callable[[], Any]) -> float:
    """Processor time in what gives arrays: the clock's share of the time that the process had the processor."""
    clock.reset()
    mine = times(work)
    return clock.taken * mine.processor / mine.wall


def cost_of(clock: Clock) -> float:
    """What the clock itself takes in one call, between its two looks at the time."""
    arrays, calls = [np.empty(0)], 20_000
    return (
        elementwise(clock, lambda: [clock.time(arrays.__getitem__, (0,), {}) for _ in range(calls)]) / calls
    )


def share_of(path: Path, size: int, rounds: int) -> float:
    """The share of element-wise work in the processor time of a plain run, between 0 and 1."""
    clock = Clock()
    plain, program = load(path, False), clocked(path, clock)
    cost = cost_of(clock)
    shares = []
    for _ in range(5):
        whole = times(lambda: plain.run(size, rounds)).processor
        mine = elementwise(clock, lambda: program.run(size, rounds)) - clock.calls * cost
        shares.append(min(max(mine / whole, 0.0), 1.0))
    return sorted(shares)[2]
