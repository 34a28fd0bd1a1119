"""What the rewriter's tests share: code objects of the standard library, and comparing code objects."""

import functools
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

FIELDS = [
    name
    for name in dir(CodeType)
    if name.startswith("co_") and name not in ("co_lines", "co_positions", "co_lnotab", "co_consts")
]


def nested(code: CodeType) -> Iterator[CodeType]:
    """The code object and all code objects among its constants."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


@functools.cache
def library_sources() -> list[Path]:
    """Every source file of the standard library, its tests included."""
    root = Path(sysconfig.get_paths()["stdlib"])
    return sorted(path for path in root.rglob("*.py") if "site-packages" not in path.parts)


def library_modules(every: int = 1) -> Iterator[CodeType]:
    """The module code of the standard library's sources, without files that are not valid Python on purpose."""
    for path in library_sources()[::every]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
            except (SyntaxError, ValueError):
                continue


def difference(left: object, right: object) -> str | None:
    """The difference between two constants or code objects, compared bit by bit; None if there is none."""
    if left is right:
        return None
    if type(left) is not type(right):
        return f"{type(left)} against {type(right)}"
    if isinstance(left, CodeType) and isinstance(right, CodeType):
        for name in FIELDS:
            if getattr(left, name) != getattr(right, name):
                return f"{left.co_qualname}.{name}: {getattr(left, name)!r} against {getattr(right, name)!r}"
        return difference(left.co_consts, right.co_consts)
    if isinstance(left, tuple) and isinstance(right, tuple):
        if len(left) != len(right):
            return f"{left!r} against {right!r}"
        return next((found for pair in zip(left, right, strict=True) if (found := difference(*pair))), None)
    if left == right or repr(left) == repr(right):
        return None
    return f"{left!r} against {right!r}"
