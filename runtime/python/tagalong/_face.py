"""What a user calls: trace, record, replay, stats, explain."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import AsyncGeneratorType, CodeType, CoroutineType, FunctionType, GeneratorType, MethodType
from typing import Any, Literal, TypeVar, overload

from tagalong import _core
from tagalong.options import OptionError, given_limits

# What is to be found out about NumPy once per process is found out here rather than in somebody's first call.
_core._meet_numpy()

F = TypeVar("F", bound=Callable[..., Any] | staticmethod | classmethod)  # type: ignore[type-arg]


def _instead(verb: str, thing: object) -> str:
    """What to give in the place of `thing`, which is no Python function; nothing where that is not known."""
    if isinstance(thing, (staticmethod, classmethod, MethodType)):
        return _instead(verb, thing.__func__)
    if isinstance(thing, type):
        found = [name for name, member in vars(thing).items() if isinstance(member, FunctionType)]
        own = f", for example {thing.__name__}.{found[0]}" if found else ""
        return f"; {verb} its methods one by one{own}"
    if isinstance(thing, functools.partial):
        return f"; {verb} the function in it, its attribute func"
    if isinstance(thing, property):
        return f"; {verb} its getter, its attribute fget, or put the decorator below @property"
    if isinstance(thing, (functools.cached_property, functools.partialmethod)):
        return f"; {verb} the function in it, its attribute func"
    if isinstance(thing, (GeneratorType, CoroutineType, AsyncGeneratorType)):
        return f"; {verb} the function that makes it"
    if isinstance(inspect.getattr_static(thing, "__wrapped__", None), FunctionType):
        return f"; {verb} the function in it, its attribute __wrapped__"
    if isinstance(thing, CodeType):
        return f"; {verb} the function that has it"
    if isinstance(inspect.getattr_static(type(thing), "__call__", None), FunctionType):
        return f"; {verb} {type(thing).__name__}.__call__"
    if callable(thing):
        return "; it is written in C, so there is no bytecode to record"
    return ""


def _refuse(what: str, thing: object) -> TypeError:
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    shown = f" {name!r}" if isinstance(name, str) else ""
    kind = f"the class {name!r}" if isinstance(thing, type) else f"{type(thing).__name__}{shown}"
    instead = _instead("trace" if what in ("trace", "untrace") else "give", thing)
    return TypeError(f"tagalong.{what}: expected a Python function, got {kind}{instead}")


def python_function(what: str, thing: object) -> FunctionType:
    """The Python function inside `thing` (a function, a bound method, a staticmethod or classmethod object).

    Raises TypeError, in the name of the public function `what`, for everything else.
    """
    inner = thing.__func__ if isinstance(thing, (staticmethod, classmethod, MethodType)) else thing
    if not isinstance(inner, FunctionType):
        raise _refuse(what, thing)
    return inner


def function_with_code(function: FunctionType, code: CodeType) -> FunctionType:
    """A function like `function` that runs `code`, with the same globals, cells and defaults."""
    twin = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__ = function.__qualname__
    twin.__module__ = function.__module__
    return twin


def bind_self(what: str, thing: object, args: tuple[Any, ...]) -> tuple[FunctionType, tuple[Any, ...]]:
    """The function inside `thing` and the arguments to call it with: a bound method brings its object along."""
    function = python_function(what, thing)
    return (function, (thing.__self__, *args)) if isinstance(thing, MethodType) else (function, args)


@overload
def trace(
    f: F,
    /,
    *,
    retire: bool = False,
    limits: Mapping[str, int] | None = None,
    fusion: bool | None = None,
    loops: bool | None = None,
) -> F: ...
@overload
def trace(
    *,
    retire: bool = False,
    limits: Mapping[str, int] | None = None,
    fusion: bool | None = None,
    loops: bool | None = None,
) -> Callable[[F], F]: ...
def trace(
    f: Any = None,
    /,
    *,
    retire: bool = False,
    limits: Mapping[str, int] | None = None,
    fusion: bool | None = None,
    loops: bool | None = None,
    regions: bool | None = None,
) -> Any:
    """Traces a function: its first call is recorded, later calls are replayed while the guards hold, always.

    - `f`: a Python function, a bound method, a staticmethod or classmethod object. Without it the call returns a
      decorator.
    - `retire`: True gives the function up where its replays do not pay, as under `TAGALONG=1`.
    - `limits`: a dict of names of `tagalong.options.LIMITS` (all but `share`) and numbers, for this function instead of
      what the process has. `retire_after` needs `retire=True`.
    - `fusion`, `loops`: True or False for this function, None as the process has it. `regions` is the old name of
      `fusion`, and warns.

    Returns `f`, which is changed in place: `@tagalong.trace`, `@tagalong.trace()` and `tagalong.trace(module.function)`
    all do. All functions that are made of the same code share the settings, and tracing one of them again replaces
    them. Raises TypeError for anything that is not a Python function, and `OptionError` for a value that is not
    allowed.

        >>> @tagalong.trace
        ... def norm(x, y):
        ...     return (x * x + y * y) ** 0.5
        >>> norm(3.0, 4.0), norm(6.0, 8.0)
        (5.0, 10.0)
        >>> tagalong.stats(norm).hits
        1
    """
    if regions is not None:
        warnings.warn(
            "tagalong.trace: regions is called fusion now; the old name goes with the next release",
            FutureWarning,
            stacklevel=2,
        )
        fusion = regions if fusion is None else fusion
    switches = {"fusion": fusion, "loops": loops}
    for name, value in {"retire": retire, **switches}.items():
        if not isinstance(value, bool) and (value is not None or name == "retire"):
            as_process = "" if name == "retire" else ", None (as the process has it)"
            raise OptionError(
                f"tagalong.trace: {name}={value!r} is not allowed; allowed: True, False{as_process}"
            )
    settings = given_limits({} if limits is None else limits, "tagalong.trace: limits")
    if "retire_after" in settings and not retire:
        raise OptionError(
            "tagalong.trace: limits: 'retire_after' says when a function is given up: give retire=True, too"
        )
    settings |= {name: int(value) for name, value in switches.items() if value is not None}

    def traced(function: Any) -> Any:
        _core.trace(python_function("trace", function), retire, settings)
        return function

    return traced if f is None else traced(f)


def untrace(f: F, /) -> F:
    """Gives a traced function its original code back and forgets its recordings.

    - `f`: what `trace` takes; it need not be traced.

    Returns `f`. Calls that are under way go on. Raises TypeError for anything that is not a Python function.

        >>> f = tagalong.trace(lambda x: x + 1)
        >>> tagalong.untrace(f) is f, tagalong.explain(f)
        (True, 'not traced\\n')
    """
    _core.untrace(python_function("untrace", f))
    return f


_SUSPENDING = (
    (
        inspect.CO_ASYNC_GENERATOR,
        "an asynchronous generator function",
        "generator",
        "[x async for x in {}(…)]",
    ),
    (inspect.CO_COROUTINE, "a coroutine function", "coroutine", "asyncio.run({}(…))"),
    (inspect.CO_GENERATOR, "a generator function", "generator", "list({}(…))"),
)


def why_nothing_runs(function: FunctionType) -> str | None:
    """A sentence about a function of which a call runs nothing: it only makes a generator or a coroutine."""
    for flag, kind, made, example in _SUSPENDING:
        if _core.original_code(function).co_flags & flag:
            name = function.__qualname__
            return (
                f"{name} is {kind}, so a call only makes the {made} and runs nothing of it; "
                f"give a function that runs it to its end, as {example.format(function.__name__)} does"
            )
    return None


class Recording:
    """One recorded run of a function; `record` makes it.

    The three code objects are `original_code`, `recording_code` and `replay_code`; `listing` prints them. `graph` is
    the recorded graph as text and `guards` its conditions, one text each. `stop_reason` says why the recording ended
    before the function did, and is None where it did not.

        >>> recording = tagalong.record(lambda x: 2 * x, 4)
        >>> recording.result, recording.stop_reason, len(recording.guards) > 0
        (8, None, True)
        >>> recording.replay(21)
        42
    """

    def __init__(self, function: FunctionType, core: _core.RecordingCore) -> None:
        self._function = function
        self._core = core

    @property
    def function(self) -> FunctionType:
        """The function that was recorded."""
        return self._function

    @property
    def result(self) -> Any:
        """What the recorded run returned. Where it raised, reading this raises that exception."""
        if self._core.exception is not None:
            raise self._core.exception
        return self._core.result

    @property
    def exception(self) -> BaseException | None:
        """What the recorded run raised, or None."""
        return self._core.exception

    @property
    def stop_reason(self) -> str | None:
        """Why the recording ended before the function did, or None; "suspends" where a call runs nothing at all."""
        return "suspends" if why_nothing_runs(self._function) else self._core.stop_reason

    @property
    def original_code(self) -> CodeType:
        """The code object as compiled: the first."""
        return self._core.original_code

    @property
    def recording_code(self) -> CodeType:
        """The original instructions plus hooks: the second."""
        return self._core.recording_code

    @property
    def replay_code(self) -> CodeType:
        """The original instructions plus the entry stub that runs the graph: the third."""
        return self._core.replay_code

    @property
    def graph(self) -> str:
        """The graph, one node a line."""
        return self._core.graph_text

    @property
    def guards(self) -> list[str]:
        """The conditions under which the graph may be replayed."""
        return list(self._core.guards_text)

    def listing(self, which: Literal["original", "recording", "replay"] = "original") -> str:
        """One of the three code objects as text, in the style of `dis`.

        - `which`: "original", "recording" or "replay". Raises ValueError for anything else.
        """
        if which not in ("original", "recording", "replay"):
            raise ValueError(f"listing: {which!r} is not allowed; allowed: 'original', 'recording', 'replay'")
        return list_code(getattr(self, f"{which}_code"))

    def explain(self) -> str:
        """What was recorded and why it ended where it did, with source lines and values."""
        nothing = why_nothing_runs(self._function)
        return self._core.explain() if nothing is None else f"nothing is recorded: {nothing}\n"

    def replay(self, /, *args: Any, **kwargs: Any) -> Any:
        """Replays the graph for other arguments, and returns what the function returns for them.

        - `args`, `kwargs`: the arguments of the function; of a bound method, without its object.

        Raises `GuardFailed` (attributes `guard` and `value`) where a guard does not hold for them, RuntimeError where
        nothing is recorded, and whatever the function itself raises.
        """
        nothing = why_nothing_runs(self._function)
        if nothing is not None:
            raise RuntimeError(f"nothing to replay: {nothing}")
        return self._core.replay(args, kwargs)

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError(
            "a Recording cannot be pickled: it belongs to the code and the objects of this process; "
            "its `result`, `graph` and `guards` can be"
        )

    def __copy__(self) -> Recording:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin

    def __repr__(self) -> str:
        nothing = why_nothing_runs(self._function)
        if nothing is not None:
            return f"<Recording of {self._function.__qualname__}: nothing is recorded: {nothing}>"
        ended = "" if self.stop_reason is None else f", stopped: {self.stop_reason}"
        raised = "" if self.exception is None else f", raised {type(self.exception).__name__}"
        lines = sum(1 for line in self.graph.splitlines() if line.strip())
        counts = f"{lines} lines of graph, {len(self.guards)} guards"
        return f"<Recording of {self._function.__qualname__}: {counts}{raised}{ended}>"


class _BoundRecording(Recording):
    """A recording of a bound method: replays with the object it was recorded with."""

    def __init__(self, function: FunctionType, core: _core.RecordingCore, bound: object) -> None:
        super().__init__(function, core)
        self._bound = bound

    def replay(self, /, *args: Any, **kwargs: Any) -> Any:
        return super().replay(self._bound, *args, **kwargs)


def list_code(code: CodeType) -> str:
    """A code object as text, in the style of `dis`."""
    import dis
    import io

    text = io.StringIO()
    dis.dis(code, file=text, depth=0)
    return text.getvalue()


def record(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Recording:
    """Runs `f(*args, **kwargs)` once, exactly as written, and returns its recording.

    - `f`: a Python function or a bound method; it need not be traced, and does not become so.
    - `args`, `kwargs`: the arguments of the call.

    Returns a `Recording`. It keeps an exception of the run: `Recording.exception` has it and `Recording.result` raises
    it. Raises TypeError when `f` is not a Python function or does not accept these arguments.

        >>> recording = tagalong.record(lambda x, y: x * y, 6, 7)
        >>> recording.result
        42
        >>> print(recording.guards[0])  # doctest: +ELLIPSIS
        guard...
    """
    function, arguments = bind_self("record", f, args)
    core = _core.record(function, arguments, kwargs)
    if isinstance(core.exception, TypeError) and core.exception.__traceback__ is None:
        raise core.exception  # the call itself: nothing of the function has run
    if isinstance(f, MethodType):
        return _BoundRecording(function, core, f.__self__)
    return Recording(function, core)


def replay(recording: Recording, /, *args: Any, **kwargs: Any) -> Any:
    """Replays a recording for other arguments: the same as `recording.replay(*args, **kwargs)`.

    - `recording`: what `record` returned.
    - `args`, `kwargs`: the arguments of the function.

    Returns what the function returns. Raises `GuardFailed` where a guard does not hold for these arguments,
    RuntimeError where nothing is recorded, TypeError where `recording` is no `Recording`, and whatever the function
    itself raises.

        >>> recording = tagalong.record(lambda x: x + 1, 1)
        >>> tagalong.replay(recording, 41)
        42
        >>> tagalong.replay(recording, "text")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        tagalong.GuardFailed: guard...
    """
    if not isinstance(recording, Recording):
        raise TypeError(f"tagalong.replay: expected a Recording, got {type(recording).__name__}")
    return recording.replay(*args, **kwargs)


@dataclass(frozen=True)
class Stats:
    """What happened to one function, or to all of the process, so far; all are counts. `stats` makes it.

    >>> f = tagalong.trace(lambda x: x + 1)
    >>> [f(number) for number in (1, 2, 3)], tagalong.stats(f).records, tagalong.stats(f).hits
    ([2, 3, 4], 1, 2)
    """

    records: int = 0
    """recordings that gave a graph"""
    hits: int = 0
    """calls that were replayed"""
    misses: int = 0
    """calls whose guards held for no graph"""
    exits: int = 0
    """replays that landed back in the original instructions"""
    bridges: int = 0
    """graphs recorded from such a landing"""
    invalidations: int = 0
    """graphs taken out because something they relied on was changed"""
    retired: int = 0
    """graphs given up because they did not pay"""
    stops: dict[str, int] = field(default_factory=dict)
    """recordings that were given up, by reason"""
    limits: dict[str, int] = field(default_factory=dict)
    """how often something was stopped or begun because a limit (`tagalong.options.LIMITS`) was reached, by its name"""
    specialized: tuple[int, ...] = ()
    """of a function: calls that each specialisation made by hand has answered, in the order of `get_specialized`"""


def stats(f: Callable[..., Any] | CodeType | None = None, /) -> Stats:
    """The counts of a function, or those of the whole process without one.

    - `f`: a Python function or a code object. Functions that are made of the same code share their counts; those of the
      process contain functions that have been freed, too.

    Returns a `Stats`, which does not change any more. Raises TypeError when `f` is neither a Python function nor a code
    object.

        >>> f = tagalong.trace(lambda x: x + 1)
        >>> f(1), f(2), f("text")
        Traceback (most recent call last):
        TypeError: can only concatenate str (not "int") to str
        >>> tagalong.stats(f).hits, tagalong.stats(f).misses
        (1, 1)
    """
    if f is None or isinstance(f, CodeType):
        return Stats(**_core.stats(f))
    function = python_function("stats", f)
    return Stats(**_core.stats(function), specialized=tuple(_core.uses_of_specialized(function)))


def explain(f: Callable[..., Any] | CodeType | None = None, /) -> str:
    """Why a function recorded, hit, missed, left or gave up, with source lines and values; without one, all of them.

    - `f`: a Python function or a code object.

    Returns a text of several lines. Without a function it begins with how many calls ran as written although their
    functions are traced, and why, and ends with how many functions are not listed, since they have been freed. Of a
    function the specialisations that were made by hand come first, in the order in which a call asks them, and how
    many calls each of them has answered. Raises TypeError when `f` is neither a Python function nor a code object.

        >>> f = tagalong.trace(lambda x: x + 1)
        >>> f(1), f(2)
        (2, 3)
        >>> print(tagalong.explain(f))  # doctest: +ELLIPSIS
        <lambda> (...)
          1 recorded, 1 hits, 0 misses, 0 exits, 0 bridges, 1 graphs
        ...
    """
    if f is None:
        return "".join(f"{sentence}\n" for sentence in _core.left_out_texts()) + _core.explain(None)
    if isinstance(f, CodeType):
        return _core.explain(f)
    function = python_function("explain", f)
    lines = [
        f"specialised as {code!r} under {', '.join(type(guard).__name__ for guard in guards)}, used {uses} times\n"
        for (code, guards), uses in zip(
            _core.get_specialized(function), _core.uses_of_specialized(function), strict=False
        )
    ]
    return "".join(lines) + _core.explain(function)
