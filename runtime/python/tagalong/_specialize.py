"""Specialised functions: specialize, get_specialized, remove_specialized, get_include."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType
from typing import Any

from tagalong import _core
from tagalong._functions import python_function

Specialized = CodeType | Callable[..., Any] | _core.RecordedGraph


def specialize(
    func: Callable[..., Any], code: CodeType | Callable[..., Any], guards: Iterable[_core.guards_Guard]
) -> int:
    """Adds code that runs instead of the function's own in calls for which all guards hold (PEP 510).

    - `func`: a Python function; it need not be traced.
    - `code`: a code object or a callable. Code must have the parameters, cell variables and free variables of the
      function, and gets its name and first line; it runs with the function's globals and closure. Of a Python function
      the code is used; it must have the same default values. Any other callable is called with the arguments, bound to
      the function's parameters.
    - `guards`: at least one guard, of `tagalong.guards` or of your own.

    The specialisations of a function are asked in the order in which they were added, each guard in the order of
    `guards` (`tagalong.guards`), at the beginning of every call; the first whose guards all hold is used. If there is
    none, the graphs of a traced function are tried, then the original code runs. While sys.settrace or sys.setprofile
    is in use, the original code runs. A specialisation is chosen for a whole call: a change during the call only
    affects what the call reads afterwards, and later calls. `guard.check(args, kwargs)` asks a guard in between.

    Returns 0, or 1 if a guard will never hold and nothing was added. Raises TypeError if `func` is no Python function,
    `code` no code or an item of `guards` no guard, ValueError for code that does not fit and without guards, and what a
    guard's `init` raises. Assigning `func.__code__` removes all specialisations.

        >>> def f():
        ...     return chr(65)
        >>> tagalong.specialize(f, lambda: "A", [tagalong.guards.Builtins("chr")])
        0
        >>> f(), tagalong.stats(f).specialized
        ('A', (1,))
    """
    return _core.specialize(python_function("specialize", func), code, guards)


def get_specialized(func: Callable[..., Any]) -> list[tuple[Specialized, list[_core.guards_Guard]]]:
    """The specialisations of a function as (code, guards), in the order in which a call asks them.

    - `func`: a Python function.

    Returns a new list. Those that were added come first, then, of a traced function, its recorded graphs
    (`RecordedGraph`, with guards of the type `tagalong.guards.Recorded`). Raises TypeError if `func` is no Python
    function.

        >>> f = tagalong.trace(lambda x: x + 1)
        >>> f(1)
        2
        >>> [(type(code).__name__, len(guards) > 0) for code, guards in tagalong.get_specialized(f)]
        [('RecordedGraph', True)]
    """
    return _core.get_specialized(python_function("get_specialized", func))


def remove_specialized(func: Callable[..., Any], index: int | None = None) -> None:
    """Removes a specialisation by its place in `get_specialized`, or all of them, recorded graphs included.

    - `func`: a Python function.
    - `index`: the place; negative ones count from the end. Without it all are removed.

    A traced function stays traced, so its next call is recorded again. Calls under way continue. Raises IndexError if
    there is no such specialisation, TypeError if `func` is no Python function.

        >>> def f(x):
        ...     return x + 1
        >>> tagalong.specialize(f, lambda x: "one", [tagalong.guards.Value(0, 1)])
        0
        >>> f(1), tagalong.remove_specialized(f, 0), f(1)
        ('one', None, 2)
    """
    function = python_function("remove_specialized", func)
    if index is not None and index < 0:
        index += len(_core.get_specialized(function))
        if index < 0:
            raise IndexError("the function has no such specialisation")
    _core.remove_specialized(function, -1 if index is None else index)


def get_include() -> str:
    """The folder that a C compiler searches for `tagalong/tagalong.h`, the interface for guards written in C.

    Returns its name.

        >>> tagalong.get_include()  # doctest: +ELLIPSIS
        '...include'
    """
    installed = Path(__file__).parent / "include"
    if installed.is_dir():
        return str(installed)
    return str(Path(__file__).resolve().parents[2] / "include")  # the source tree
