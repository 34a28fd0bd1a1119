"""compare: eager execution against replay, on copies, bit for bit."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tagalong import _core
from tagalong._copies import copied
from tagalong._differences import differences
from tagalong._functions import bind_self, function_with_code, why_nothing_runs
from tagalong._recording import Recording, record
from tagalong._values import Tree, describe

_OURS = __file__.rpartition("/")[0]


def original_function(function: types.FunctionType) -> types.FunctionType:
    """A copy of `function` that runs the original code, with the same globals, cells and defaults."""
    return function_with_code(function, _core.original_code(function))


def traceback_lines(error: BaseException) -> tuple[tuple[str, int], ...]:
    """Function name and line of every entry of the traceback that is not in this package."""
    lines = []
    entry = error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if not code.co_filename.startswith(_OURS):
            lines.append((code.co_qualname, entry.tb_lineno))
        entry = entry.tb_next
    return tuple(lines)


_MOST_ENTRIES = 6


def _traceback_difference(one: Sequence[tuple[str, int]], two: Sequence[tuple[str, int]]) -> str:
    """Both tracebacks; of long ones only the entries around the first difference."""
    if max(len(one), len(two)) <= _MOST_ENTRIES:
        return f"traceback: {[*one]} != {[*two]}"
    same = next((place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
    first = min(len(one), len(two)) if same is None else same
    start = max(0, first - 1)
    shown = [f"{[*part[start : start + 3]]} of {len(part)} entries" for part in (one, two)]
    return f"traceback, from entry {start + 1} on: {shown[0]} != {shown[1]}"


@dataclass(frozen=True)
class Outcome:
    """What a caller can observe of one call: the result or the exception, and the arguments afterwards."""

    result: Any
    exception: BaseException | None
    tree: Tree

    @staticmethod
    def seen(
        result: Any, exception: BaseException | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Outcome:
        """An outcome from its parts, after the call."""
        lines = () if exception is None else traceback_lines(exception)
        return Outcome(result, exception, (*describe(result, exception, args, kwargs), lines))

    @staticmethod
    def of(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Outcome:
        """Calls and observes. GuardFailed is no outcome of the program: it propagates, as KeyboardInterrupt does."""
        try:
            result = call(*args, **kwargs)
        except _core.GuardFailed:
            raise
        except (Exception, SystemExit, GeneratorExit) as error:
            return Outcome.seen(None, error, args, kwargs)
        return Outcome.seen(result, None, args, kwargs)

    def differences(self, other: Outcome, name: str, other_name: str) -> list[str]:
        """One line for each place where the two differ."""
        found: list[str] = []
        for part, one, two in zip(
            ("result", "exception", "args", "kwargs"), self.tree, other.tree, strict=False
        ):
            found += differences(one, two, part)
        if self.tree[-1] != other.tree[-1]:
            found.append(_traceback_difference(self.tree[-1], other.tree[-1]))
        return [f"{line}   ({name} != {other_name})" for line in found]


_MOST_LINES = 20


@dataclass(frozen=True, repr=False)
class Comparison:
    """True when the replay did exactly what eager execution does; as text, what differs. `compare` makes it.

    `name` is the function's, `eager` and `replayed` are the outcomes of the runs (`result`, `exception`), `recording`
    is the `Recording` between them, and `differences` has a line for each place where a run differs from the eager one.
    Where the two cannot be compared, `reason` says why in a sentence, and the comparison is false.

        >>> comparison = tagalong.compare(lambda x: x + 1, 1)
        >>> bool(comparison), comparison.differences, comparison.replayed.result
        (True, (), 2)
    """

    name: str
    eager: Outcome | None
    replayed: Outcome | None
    recording: Recording | None
    differences: tuple[str, ...] = field(default=())
    reason: str | None = None

    def __bool__(self) -> bool:
        return not self.differences and self.reason is None

    def __str__(self) -> str:
        if self.reason is None and not self.differences:
            return f"{self.name}: eager and replay agree"
        found = "eager and replay differ" if self.reason is None else f"not compared: {self.reason}"
        lines = [f"{self.name}: {found}", *self.differences[:_MOST_LINES]]
        if len(self.differences) > _MOST_LINES:
            lines.append(f"… and {len(self.differences) - _MOST_LINES} more, in .differences")
        return "\n  ".join(lines)

    def __repr__(self) -> str:
        return f"<Comparison of {self}>"


def _names(
    function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[tuple[str, Any]]:
    """The arguments with the names of their parameters."""
    code = _core.original_code(function)
    named, rest = (
        code.co_varnames[: code.co_argcount],
        code.co_varnames[code.co_argcount + code.co_kwonlyargcount :],
    )
    names = [*named, *(f"{rest[0] if rest else 'args'}[{place}]" for place in range(len(args)))]
    return [*zip(names, args, strict=False), *kwargs.items()]


def _copies(function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Deep copies of the arguments. TypeError, with the name of the argument, where one cannot be copied."""
    try:
        return copied((args, kwargs))
    except Exception as error:
        for name, value in _names(function, args, kwargs):
            try:
                copied(value)
            except Exception as its:
                raise TypeError(
                    f"tagalong.compare: the argument {name} of {function.__qualname__} cannot be copied: "
                    f"{type(its).__name__}: {its}"
                ) from error
        raise


# Levels of recursion between `compare` and the function. All runs are made equally deep, so that unbounded recursion
# ends at the same level.
# From CPython 3.12 on the limit counts frames alone, not C code.
_EAGER, _RECORDED, _REPLAYED = (2, 2, 4) if sys.version_info < (3, 12) else (2, 1, 3)


def _deeper(levels: int, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return call(*args, **kwargs) if levels == 1 else _deeper(levels - 1, call, *args, **kwargs)


def _eager(function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Outcome:
    call = functools.partial(_deeper, _REPLAYED - _EAGER, original_function(function))
    return Outcome.of(call, args, kwargs)


def _why_it_varies(name: str, one: Outcome, two: Outcome) -> str | None:
    """A sentence about a function that gives different results in two eager runs."""
    found = one.differences(two, "eager", "eager again")
    if not found:
        return None
    return (
        f"{name} gives different results from call to call even without tagalong "
        f"({found[0].rpartition('   (')[0]}); make it repeatable, and compare again: seed random generators, "
        "give times and counters as arguments"
    )


def compare(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Comparison:
    """Runs `f` eagerly, records it, and replays the recording, each on its own deep copies of the arguments.

    - `f`: a Python function or a bound method; it need not be traced.
    - `args`, `kwargs`: the arguments of the call. They are not changed.

    Result, exception (type, arguments, cause, context and traceback lines) and the arguments afterwards are compared
    bit for bit: for arrays bytes, dtype, shape, strides, flags and shared memory. Whatever else the function changes
    (globals, files) is changed three times. Where something differs, a second eager run shows whether the function
    gives different results from call to call by itself.

    Returns a `Comparison`, which is true where all agree and prints what differs. Generators and coroutines are not
    compared, nor are calls that fail before the function begins; `Comparison.reason` says so. Raises TypeError when
    `f` is not a Python function, and when an argument cannot be copied.

        >>> def hypotenuse(x, y):
        ...     return (x * x + y * y) ** 0.5
        >>> print(tagalong.compare(hypotenuse, 3.0, 4.0))
        hypotenuse: eager and replay agree
        >>> assert tagalong.compare(hypotenuse, 1, 2)
    """
    function, arguments = bind_self("compare", f, args)
    name = function.__qualname__
    if (nothing := why_nothing_runs(function)) is not None:
        return Comparison(name, None, None, None, reason=nothing)
    eager_args, eager_kwargs = _copies(function, arguments, kwargs)
    eager = _eager(function, eager_args, eager_kwargs)
    if isinstance(eager.exception, TypeError) and not eager.tree[-1]:
        why = f"the call fails before the function begins: TypeError: {eager.exception}"
        return Comparison(name, eager, None, None, reason=why)

    record_args, record_kwargs = copied((arguments, kwargs))
    recording = _deeper(_REPLAYED - _RECORDED, record, function, *record_args, **record_kwargs)
    kept = None if recording.exception is not None else recording.result
    recorded = Outcome.seen(kept, recording.exception, record_args, record_kwargs)
    found = eager.differences(recorded, "eager", "recording")
    replayed = None
    if recording.graph:
        replay_args, replay_kwargs = copied((arguments, kwargs))
        try:
            replayed = Outcome.of(recording.replay, replay_args, replay_kwargs)
            found += eager.differences(replayed, "eager", "replay")
        except _core.GuardFailed as error:
            found.append(f"replay: a guard does not hold for the very arguments of the recording: {error}")
    reason = None
    if found:
        reason = _why_it_varies(name, eager, _eager(function, *copied((arguments, kwargs))))
    elif not recording.graph:
        reason = f"nothing was recorded ({recording.stop_reason}), so there is nothing to replay"
    return Comparison(name, eager, replayed, recording, tuple(found), reason)
