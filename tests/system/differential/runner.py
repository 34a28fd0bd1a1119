"""Runs a program in a fresh namespace and records everything that a caller can see of each step."""

from __future__ import annotations

import ast
import builtins
import contextlib
import gc
import io
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from random import Random
from typing import Any, TypeGuard

from .observe import Describer, without_addresses
from .program import Program, Step

Trace = Callable[[Any], Any]
# The engine's initial options, of those that programs change.
LIMITS = {
    "nodes": 4000,
    "unroll": 64,
    "loops": 0,  # with loops, traces differ; most programs list the events without them
    "fusion": 0,
    "heat": 16,
    "executors": 200,
    "grow_after": 0,  # counts how often executors link to others
    "native_after": 1,  # for each loop that iterates at all
    "inline_depth": 8,
    "entries_per_anchor": 8,
    "retries": 4,
    "stress": 0,
    "retire_after": 0,  # functions that do not pay are compared, too
    "share": 100_000_000,  # no limit on the cost of recordings
}
Events = Callable[[], contextlib.AbstractContextManager[list[str]]]


@dataclass
class Seen:
    """What one call or statement showed, and the events meanwhile, which are checked separately."""

    text: str
    outcome: Any = None
    arguments: Any = None
    output: str = ""
    errors: str = ""
    warnings: list[Any] = field(default_factory=list)
    unraisable: list[str] = field(default_factory=list)
    names: Any = None
    events: tuple[str, ...] = ()
    expected: tuple[str, ...] | None = None

    def compared(self) -> dict[str, Any]:
        """The parts that must be equal in eager and traced runs."""
        return {k: v for k, v in vars(self).items() if k not in ("events", "expected")}


def run(
    program: Program,
    trace: Trace | None = None,
    events: Events | None = None,
    order: Random | None = None,
    code: types.CodeType | None = None,
) -> list[Seen]:
    """Runs all steps; eagerly without `trace`. `events` gives the context manager that lists the events.

    With `order` every function of the program is traced, not only the named ones, and the calls between two statements
    come in random order, some of them several times: other calls are recorded than those that a person thought of.
    Events are not expected. `code` is the compiled source, if the caller has it; it must not have run before.
    """
    code = code or compile(program.source, str(program.path), "exec")
    module = types.ModuleType("program")
    names = module.__dict__
    names["trace"] = trace or (lambda function: function)
    if trace:
        trace(_nothing)()  # frees graphs of functions of an earlier run, before this one begins
    with _untouched_builtins(), _no_collection(), _importable(module), _limited(program, trace is not None):
        exec(_traced_code(code) if trace and program.traces_all else code, names)
        if program.traces_all:
            functions = {}
        else:
            functions = (
                {name: eval(name, names) for name in program.traced} if order is None else _functions(names)
            )
        for expression, function in functions.items() if trace else ():
            assert trace(function) is function, f"trace({expression}) gave another object"
        performed = [(step, expected) for step in program.steps for expected in step.events or (None,)]
        if order is not None:
            performed = [(step, None) for step in _shuffled(program.steps, order)]
        seen = []
        for step, expected in performed:
            seen.append(_perform(program, step, names, events or contextlib.nullcontext, expected))
        end = Seen("globals after the run")
        end.names = Describer(str(program.path), {__file__}).namespace(names)
        with _captured(Seen("the namespace goes away")):
            names.clear()
        return [*seen, end]


def _nothing() -> None:
    pass


def _traced_code(code: types.CodeType) -> types.CodeType:
    from tagalong import _core

    return _core.wrap_module_code(code)


@contextlib.contextmanager
def _limited(program: Program, traced: bool) -> Iterator[None]:
    """Sets the program's options, and restores the engine's."""
    if not traced:
        yield
        return
    from tagalong import _core

    before = _core.options()
    always = (
        (name, LIMITS[name]) for name in ("retire_after", "share", "grow_after", "native_after", "loops")
    )
    # Measured values differ from run to run.
    for name, value in (("measuring", 0), *always, *program.limits):
        _core.set_option(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            _core.set_option(name, value)


def _shuffled(steps: tuple[Step, ...], order: Random) -> Iterator[Step]:
    for is_statement, group in groupby(steps, lambda step: step.events is None):
        if is_statement:
            yield from group
        else:
            calls = list(group)
            yield from order.choices(calls, k=2 * len(calls) + 2)


def _functions(names: dict[str, Any]) -> dict[str, types.FunctionType]:
    """The functions that the program has defined, and the methods of its classes."""
    found = {}
    for name, value in names.items():
        members = vars(value).items() if isinstance(value, type) else ()
        for label, member in [(name, value), *((f"{name}.{key}", member) for key, member in members)]:
            if isinstance(member, types.FunctionType) and member.__globals__ is names:
                found[label] = member
    return found


def _perform(program: Program, step: Step, names: dict[str, Any], events: Any, expected: Any) -> Seen:
    seen = Seen(f"line {step.line}: {step.text}", expected=expected)
    describer = Describer(str(program.path), {__file__})
    with _captured(seen):
        call, arguments = _prepare(step, str(program.path), names)
        with events() as collected:
            try:
                outcome, failed = call(), False
            except BaseException as error:
                outcome, failed = error, True
        seen.events = tuple(collected or ())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen.arguments = [describer.describe(argument) for argument in arguments]
            seen.outcome = ("raised" if failed else "returned", describer.describe(outcome))
        if failed:
            outcome.__traceback__ = None
        # Objects that only these variables hold are finalised while output is captured.
        del call, arguments, outcome, describer
    return seen


def _prepare(step: Step, filename: str, names: dict[str, Any]) -> tuple[Callable[[], Any], list[Any]]:
    """The thunk that performs the step, and for a call its arguments, which are made before events are counted."""
    if step.events is None:
        statement = compile(step.text, f"{filename}:{step.line}", "exec")
        return (lambda: exec(statement, names)), []
    tree = ast.parse(step.text, mode="eval").body
    if not _is_plain_call(tree):
        expression = compile(step.text, f"{filename}:{step.line}", "eval")
        return (lambda: eval(expression, names)), []

    def value(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), f"{filename}:{step.line}", "eval"), names)

    function, args = value(tree.func), [value(a) for a in tree.args]
    kwargs = {str(k.arg): value(k.value) for k in tree.keywords}
    return (lambda: function(*args, **kwargs)), [*args, *kwargs.values()]


def _is_plain_call(tree: ast.expr) -> TypeGuard[ast.Call]:
    """A call whose callable and arguments can be evaluated one by one in front of it."""
    if not isinstance(tree, ast.Call) or any(isinstance(node, ast.Call) for node in ast.walk(tree.func)):
        return False
    return all(k.arg for k in tree.keywords) and not any(isinstance(a, ast.Starred) for a in tree.args)


@contextlib.contextmanager
def _captured(seen: Seen) -> Iterator[None]:
    output, errors = io.StringIO(), io.StringIO()
    hook = sys.unraisablehook

    def unraisable(what: Any) -> None:
        seen.unraisable.append(f"{what.exc_type.__name__}: {what.exc_value}")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sys.unraisablehook = unraisable
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
                yield
        finally:
            sys.unraisablehook = hook
    seen.output, seen.errors = without_addresses(output.getvalue()), without_addresses(errors.getvalue())
    seen.warnings = [(w.category.__name__, str(w.message), w.filename, w.lineno) for w in caught]


@contextlib.contextmanager
def _untouched_builtins() -> Iterator[None]:
    shown = builtins.__dict__.copy()
    try:
        yield
    finally:
        for name in builtins.__dict__.keys() - shown.keys():
            del builtins.__dict__[name]
        for name, value in shown.items():
            if builtins.__dict__.get(name) is not value:
                builtins.__dict__[name] = value


@contextlib.contextmanager
def _importable(module: types.ModuleType) -> Iterator[None]:
    sys.modules["program"] = module  # where dataclasses, pickle and similar modules look
    try:
        yield
    finally:
        del sys.modules["program"]


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Disables the garbage collector, so that finalisers run at the same moment in every run."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def differences(eager: list[Seen], traced: list[Seen]) -> list[str]:
    """One paragraph for each part of a step that differs from the eager run, and for each unexpected event."""
    found = []
    for left, right in zip(eager, traced, strict=True):
        for part, value in left.compared().items():
            other = right.compared()[part]
            if value != other:
                found.append(f"{left.text}\n  {part} differs\n{_first_difference(value, other)}")
        expected = right.expected if right.expected is not None else ()
        if right.events != expected and right.expected is not None:
            found.append(f"{left.text}\n  events: {' '.join(right.events)}\n  expected: {' '.join(expected)}")
    return found


def _first_difference(left: Any, right: Any, path: str = "") -> str:
    if isinstance(left, tuple | list) and type(left) is type(right) and len(left) == len(right):
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            if a != b:
                return _first_difference(a, b, f"{path}[{i}]")
    return f"    at {path or 'top'}\n    eager:  {left!r}\n    traced: {right!r}"
