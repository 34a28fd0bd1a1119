"""The bytecode rewriter as a tool of its own: list, assemble and instrument code objects.

    from tagalong import rewriter

    print(rewriter.disassemble(f))                       # complete: positions, exception ranges, inner code
    code = rewriter.assemble(rewriter.disassemble(f))    # and back

    seen = []
    f.__code__ = rewriter.instrument(f, before=seen.append)     # called with the index of each instruction

All functions here take a code object or a function. Of a function they use the code that is installed; for a traced
function that is not the code that `__code__` shows. Malformed code is refused with a `RewriteError`.
"""

from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType, MethodType

from tagalong import _core

__all__ = ["Hooks", "RewriteError", "assemble", "disassemble", "instrument", "round_trip", "stack_depths"]

Hooks = _core.rewriter_Hooks
RewriteError = _core.rewriter_RewriteError

Code = CodeType | FunctionType | MethodType


def _code(source: Code) -> CodeType:
    if isinstance(source, CodeType):
        return source
    function = getattr(source, "__func__", source)
    if isinstance(function, FunctionType):
        return _core.installed_code(function)
    code = getattr(source, "__code__", None)
    if not isinstance(code, CodeType):
        raise TypeError(f"a code object or a function is needed, not {type(source).__name__}")
    return code


def disassemble(source: Code) -> str:
    """Return the listing of a code object and of the code objects among its constants.

    The listing resembles that of `dis` and has everything that `assemble` needs to make the same code again.
    Raises `RewriteError` for malformed code.
    """
    return _core.rewriter_disassemble(_code(source))


def assemble(text: str, objects: Mapping[str, object] | None = None) -> CodeType:
    """Return the code object that a listing describes; the one with the smallest number if there are several.

    `objects` gives the constants that the listing calls `object 'REPR'`, by that text. Jumps may use any distinct
    numbers as labels, names and operators may stand for their numbers, positions may be left out. Raises `RewriteError`
    with the line of the text.
    """
    return _core.rewriter_assemble(text, objects)


def instrument(
    source: Code,
    before: Callable[[int], object] | None = None,
    after: Callable[[int], object] | None = None,
    *,
    hooks: Callable[[int], object] | None = None,
    where: Sequence[int] | None = None,
    inner: bool = False,
) -> CodeType:
    """Return code that calls `before(index)` and `after(index)` around the instructions of the original.

    `index` is that of the instruction in the original code, without caches and EXTENDED_ARG. `where` has the indices of
    the instructions to instrument; without it all are. A few instructions have no hook; the documentation of the
    rewriter lists them. `hooks` replaces `before` and `after`: it is put into the code itself and called with 2 * index
    in front of an instruction and 2 * index + 1 behind it. With `inner`, code objects among the constants are
    instrumented, too. Positions of the original instructions are kept, and a trace function sees the same events.
    Raises `RewriteError` for malformed code and for an index that does not exist.
    """
    if hooks is not None and (before is not None or after is not None):
        raise TypeError("give either hooks or before and after")
    code = _code(source)
    wanted_before, wanted_after = where, where
    if hooks is None:
        wanted_before = [] if before is None else where
        wanted_after = [] if after is None else where
        hooks = Hooks(before, after)
    return _instrument(code, hooks, wanted_before, wanted_after, inner)


def _instrument(
    code: CodeType,
    hooks: Callable[[int], object],
    before: Sequence[int] | None,
    after: Sequence[int] | None,
    inner: bool,
) -> CodeType:
    if inner:
        constants = tuple(
            _instrument(constant, hooks, before, after, inner) if isinstance(constant, CodeType) else constant
            for constant in code.co_consts
        )
        if any(new is not old for new, old in zip(constants, code.co_consts, strict=True)):
            code = code.replace(co_consts=constants)
    return _core.rewriter_instrument(code, hooks, before, after)[0]


def round_trip(source: Code) -> CodeType:
    """Decode the code and encode it again; the result has the same bytes in every table."""
    return _core.rewriter_round_trip(_code(source))


def stack_depths(source: Code) -> list[int]:
    """Return the number of values on the stack before each instruction, -1 for unreachable ones."""
    return _core.rewriter_stack_depths(_code(source))
