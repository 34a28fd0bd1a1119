"""trace and untrace."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from tagalong import _core
from tagalong._functions import python_function
from tagalong.options import OptionError, given_limits

F = TypeVar("F", bound=Callable[..., Any] | staticmethod | classmethod)  # type: ignore[type-arg]


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
    """Traces a function: its first call is recorded, later calls are replayed while the guards hold.

    - `f`: a Python function, a bound method, a staticmethod or classmethod object. Without it the call returns a
      decorator.
    - `retire`: True retires the function if its replays do not pay, as `TAGALONG=1` does. Otherwise it is replayed
      always.
    - `limits`: a dict of names of `tagalong.options.LIMITS` (all but `share`) and numbers, for this function instead of
      the limits of the process. `retire_after` needs `retire=True`.
    - `fusion`, `loops`: True or False for this function, None for the setting of the process. `regions` is the old name
      of `fusion`, and warns.

    Returns `f`, which is changed in place; so `@tagalong.trace`, `@tagalong.trace()` and
    `tagalong.trace(module.function)` do the same. All functions of the same code share the settings; tracing one of
    them again replaces the settings. Raises TypeError if `f` is no Python function, and `OptionError` for a value that
    is not allowed.

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

    - `f`: as in `trace`; it need not be traced.

    Returns `f`. Calls under way continue. Raises TypeError if `f` is no Python function.

        >>> f = tagalong.trace(lambda x: x + 1)
        >>> tagalong.untrace(f) is f, tagalong.explain(f)
        (True, 'not traced\\n')
    """
    _core.untrace(python_function("untrace", f))
    return f
