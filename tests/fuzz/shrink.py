"""The smallest program that still shows what was found: delta debugging on the syntax tree."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from . import pool
from .assembly import Call, Generated
from .oracle import Limits, as_program, compiled, traced

Test = Callable[[Generated, Limits], bool]
_OPTIONAL = (
    *("orelse", "finalbody", "handlers", "cases", "decorator_list", "bases", "keywords", "args", "elts"),
    *("defaults", "kw_defaults", "items", "targets", "generators", "ifs", "names", "ops", "values"),
)
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


class Shrinker:
    """Keeps the smallest program so far for which the test holds."""

    def __init__(self, generated: Generated, limits: Limits, test: Test, seconds: float) -> None:
        self.best = generated
        self.limits = limits
        self._test = test
        self._until = time.monotonic() + seconds
        self._tried: set[tuple[object, ...]] = set()

    def over(self) -> bool:
        return time.monotonic() > self._until

    def attempt(self, generated: Generated, limits: Limits | None = None) -> bool:
        """Whether the changed program still shows the find; if so, it becomes the smallest one."""
        limits = self.limits if limits is None else limits
        key = (generated.source, generated.calls, limits)
        if key in self._tried or self.over():
            return False
        self._tried.add(key)
        try:
            compile(generated.source, "x", "exec")
        except (SyntaxError, ValueError):
            return False
        if not self._test(generated, limits):
            return False
        self.best, self.limits = generated, limits
        return True

    def attempt_tree(self, tree: ast.Module) -> bool:
        try:
            source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        except (ValueError, AttributeError, TypeError, IndexError):
            return False
        return self.attempt(replace(self.best, source=source))

    def run(self) -> None:
        """Tries all ways to shrink until none works."""
        for limits in ((), self.limits[:1], self.limits[1:]):
            if limits != self.limits:
                self.attempt(self.best, limits)
        while not self.over():
            before = (self.best, self.limits)
            self._calls()
            for change in (self._statements, self._hoist, self._parts, self._values):
                change()
            if (self.best, self.limits) == before:
                return

    def _calls(self) -> None:
        size = max(1, len(self.best.calls) // 2)
        while size:
            start = 0
            while start < len(self.best.calls):
                calls = self.best.calls[:start] + self.best.calls[start + size :]
                if not (calls and self.attempt(replace(self.best, calls=calls))):
                    start += size
            size //= 2
        for number, call in enumerate(self.best.calls):
            for times in range(1, call.times):
                calls = list(self.best.calls)
                calls[number] = replace(call, times=times)
                if self.attempt(replace(self.best, calls=tuple(calls))):
                    break

    def _lists(self) -> Iterator[int]:
        """Numbers of the statement lists of the tree; innermost last."""
        yield from range(len(_statement_lists(ast.parse(self.best.source))))

    def _statements(self) -> None:
        for number in self._lists():
            size = 16
            while size:
                start = 0
                while not self.over():
                    tree = ast.parse(self.best.source)
                    lists = _statement_lists(tree)
                    if number >= len(lists) or start >= len(lists[number][1]):
                        break
                    owner, statements = lists[number]
                    del statements[start : start + size]
                    if not statements and not isinstance(owner, ast.Module):
                        statements.append(ast.Pass())
                    if not self.attempt_tree(tree):
                        start += size
                size //= 2

    def _hoist(self) -> None:
        """Replaces a compound statement by its body."""
        position = 0
        while not self.over():
            tree = ast.parse(self.best.source)
            places = [
                (statements, index, inner)
                for _, statements in _statement_lists(tree)
                for index, node in enumerate(statements)
                for inner in _inner_lists(node)
            ]
            if position >= len(places):
                return
            statements, index, inner = places[position]
            statements[index : index + 1] = inner
            if not self.attempt_tree(tree):
                position += 1

    def _parts(self) -> None:
        """Removes optional parts: else, finally, handlers, decorators, bases, arguments."""
        position = 0
        while not self.over():
            tree = ast.parse(self.best.source)
            places: list[Callable[[], None]] = []
            for node in ast.walk(tree):
                places += _removals(node)
            if position >= len(places):
                return
            places[position]()
            if not self.attempt_tree(tree):
                position += 1

    def _values(self) -> None:
        """Replaces an expression by a constant or a part of itself."""
        position = 0
        while not self.over():
            tree = ast.parse(self.best.source)
            places = list(_simpler(tree))
            if position >= len(places):
                return
            places[position]()
            if not self.attempt_tree(tree):
                position += 1


def _statement_lists(tree: ast.AST) -> list[tuple[ast.AST, list]]:
    return [
        (node, getattr(node, name))
        for node in ast.walk(tree)
        for name in _BODIES
        if isinstance(getattr(node, name, None), list) and name not in ("handlers", "cases")
        if getattr(node, name)
    ]


def _inner_lists(node: ast.AST) -> Iterator[list]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return
    for name in ("body", "orelse", "finalbody"):
        inner = getattr(node, name, None)
        if isinstance(inner, list) and inner:
            yield inner
    for handler in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
        yield handler.body


def _removals(node: ast.AST) -> list[Callable[[], None]]:
    found: list[Callable[[], None]] = []
    for name in _OPTIONAL:
        value = getattr(node, name, None)
        if isinstance(value, list) and value:
            if name in ("orelse", "finalbody"):
                found.append(value.clear)
            else:
                found += [lambda v=value, i=i: v.pop(i) for i in range(len(value))]
    for name in ("returns", "annotation", "vararg", "kwarg", "cause", "name"):
        if getattr(node, name, None) is not None and not isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(lambda n=name: setattr(node, n, None))
    return found


def _size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def _simpler(tree: ast.Module) -> Iterator[Callable[[], None]]:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            values = value if isinstance(value, list) else [value]
            for index, node in enumerate(values):
                if not isinstance(node, ast.expr) or not isinstance(
                    getattr(node, "ctx", ast.Load()), ast.Load
                ):
                    continue

                def put(new: ast.AST, name: str = name, value: object = value, index: int = index) -> None:
                    if isinstance(value, list):
                        value[index] = new
                    else:
                        setattr(parent, name, new)

                size = _size(node)
                if not (isinstance(node, ast.Constant) and node.value in (0, 1, None)):
                    for constant in (1, 0, None):
                        if size > 1 or not isinstance(node, ast.Constant):
                            yield lambda put=put, constant=constant: put(ast.Constant(constant))
                for inner in ast.iter_child_nodes(node):
                    if isinstance(inner, ast.expr) and size > 1:
                        yield lambda put=put, inner=inner: put(inner)


def shrunk(
    generated: Generated, result: pool.Result, seconds: float
) -> tuple[Generated, Limits, pool.Result]:
    """The smallest program found in this time, and its verdict."""
    status = result.status
    last = result

    def test(candidate: Generated, limits: Limits) -> bool:
        nonlocal last
        outcome = pool.outcome_of(candidate, limits)
        if outcome.status != status or "phase eager" in outcome.text:
            return False
        last = outcome
        return True

    shrinker = Shrinker(generated, result.limits, test, seconds)
    try:
        tree = ast.parse(generated.source)
        if not shrinker.attempt_tree(tree):
            return generated, result.limits, result
        shrinker.run()
    except RecursionError:
        pass
    return shrinker.best, shrinker.limits, last


def paste_ready(generated: Generated, limits: Limits, result: pool.Result) -> str:
    """A section for a topic file of the differential suite, with the events of the program."""
    lines = [f"# program: fuzz_{generated.seed}", "# trace: all"]
    if limits:
        lines.append("# limits: " + ", ".join(f"{name}={value}" for name, value in limits))
    steps = _events(generated, limits) if result.status == "differs" else None
    number = 0
    for call in generated.calls:
        if call.is_statement:
            lines.append(f"# do {call.text}")
            number += 1
            continue
        events = []
        for _ in range(call.times):
            events.append(" ".join(steps[number]) or "none" if steps else "none")
            number += 1
        lines.append(f"# {call.text} => {', '.join(events)}")
    said = "".join(f"\n#! {line}" for line in result.text.splitlines()[:14])
    return "\n".join(lines) + "\n" + generated.source.strip("\n") + "\n" + said


def _events(generated: Generated, limits: Limits) -> list[tuple[str, ...]]:
    """The events of each step, for a program that does not crash."""
    try:
        program = as_program(generated, limits)
        return [seen.events for seen in traced(program, compiled(program))]
    except Exception:
        return [()] * sum(call.times for call in generated.calls)


__all__ = ["Call", "paste_ready", "shrunk"]
