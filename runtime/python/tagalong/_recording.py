"""One recording by hand: record, replay, Recording."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any, Literal

from tagalong import _core
from tagalong._functions import bind_self, why_nothing_runs


class Recording:
    """One recorded run of a function; `record` makes it.

    The three code objects are `original_code`, `recording_code` and `replay_code`; `listing` prints them. `graph` is
    the recorded graph as text and `guards` its conditions, one text each. `stop_reason` says why the recording ended
    before the function did; it is None if it did not.

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
        """What the recorded run returned. If it raised, reading this raises that exception."""
        if self._core.exception is not None:
            raise self._core.exception
        return self._core.result

    @property
    def exception(self) -> BaseException | None:
        """What the recorded run raised, or None."""
        return self._core.exception

    @property
    def stop_reason(self) -> str | None:
        """Why the recording ended before the function did, or None; "suspends" if a call runs nothing at all."""
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
        """What was recorded, and why the recording ended, with source lines and values."""
        nothing = why_nothing_runs(self._function)
        return self._core.explain() if nothing is None else f"nothing is recorded: {nothing}\n"

    def replay(self, /, *args: Any, **kwargs: Any) -> Any:
        """Replays the graph for other arguments, and returns what the function returns for them.

        - `args`, `kwargs`: the arguments of the function; of a bound method, without its object.

        Raises `GuardFailed` (attributes `guard` and `value`) if a guard does not hold for them, RuntimeError if
        nothing was recorded, and what the function itself raises.
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
        copy = object.__new__(type(self))
        vars(copy).update(vars(self))
        return copy

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

    - `f`: a Python function or a bound method; it need not be traced, and is not traced afterwards.
    - `args`, `kwargs`: the arguments of the call.

    Returns a `Recording`. It keeps an exception of the run: `Recording.exception` has it and `Recording.result` raises
    it. Raises TypeError if `f` is no Python function or does not accept these arguments.

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

    Returns what the function returns. Raises `GuardFailed` if a guard does not hold for these arguments, RuntimeError
    if nothing was recorded, TypeError if `recording` is no `Recording`, and what the function itself raises.

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
