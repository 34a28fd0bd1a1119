"""Describes objects as nested tuples that are equal when a program could not tell the objects apart.

Types, values, sharing (one met again is a back reference), array memory, exceptions with their tracebacks. No code
of the program's runs while its objects are described: no `__repr__`, `__eq__`, `__hash__`, no properties.
"""

from __future__ import annotations

import re
import struct
import types
from typing import Any

import numpy as np

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_ATOMS = (int, bool, str, bytes, type(None), type(...), type(NotImplemented), range)
_NAMED = (types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType, np.ufunc)
_SKIPPED_GLOBALS = {"__builtins__", "__warningregistry__", "trace"}


class Floats(bytes):
    """The memory of floating point numbers. Equal if the bytes are equal; the dtype says how to read them."""

    code: str  # code of the dtype

    @classmethod
    def of(cls, data: bytes, code: str) -> Floats:
        """The numbers in the data; for complex ones both parts."""
        made = cls(data)
        made.code = code
        return made


def _memory(data: bytes, dtype: np.dtype) -> bytes:
    if dtype.kind not in "fc":
        return data
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    return Floats.of(data, f"{dtype.str[0]}f{size}")


def without_addresses(text: str) -> str:
    """The text with every memory address replaced by `0x…`."""
    return _ADDRESS.sub("0x…", text)


class Describer:
    """Describes objects, with one memory of those already seen, so that sharing between them shows."""

    def __init__(self, own_file: str, hidden_files: set[str]) -> None:
        self._own_file = own_file
        self._hidden_files = hidden_files
        self._met: dict[int, int] = {}
        self._keep: list[Any] = []

    def describe(self, value: Any) -> Any:
        """Nested tuples that represent the value."""
        kind = type(value)
        if kind in _ATOMS:
            return (kind.__name__, value)
        if kind is float:
            return ("float", Floats.of(struct.pack("d", value), "d"))
        if kind is complex:
            return ("complex", Floats.of(struct.pack("dd", value.real, value.imag), "d"))
        if isinstance(value, np.generic) and not isinstance(value, np.object_):
            padded = value.dtype.char in "gG"
            return (
                kind.__name__,
                str(value.dtype),
                repr(value) if padded else _memory(value.tobytes(), value.dtype),
            )
        if id(value) in self._met:
            return ("met", self._met[id(value)])
        self._met[id(value)] = len(self._met)
        self._keep.append(value)
        return (kind.__qualname__, *self._content(value))

    def namespace(self, names: dict[str, Any]) -> Any:
        """The globals of a program, in order."""
        return [(name, self.describe(value)) for name, value in names.items() if name not in _SKIPPED_GLOBALS]

    def _content(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, BaseException):
            return self._exception(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.CellType):
            return self._cell(value)
        if isinstance(value, types.MethodType):
            return (self.describe(value.__func__), self.describe(value.__self__))
        if isinstance(value, types.TracebackType):
            return (self._traceback(value),)
        if isinstance(value, types.CodeType):
            return _code(value)
        if isinstance(value, types.ModuleType):
            return (value.__name__,)
        if isinstance(value, _NAMED):
            return (value.__name__,)
        return self._items(value) + self._attributes(value)

    def _items(self, value: Any) -> tuple[Any, ...]:
        for kind in (list, tuple):
            if isinstance(value, kind):
                return tuple(self.describe(item) for item in kind.__iter__(value))
        if isinstance(value, dict):
            items = [(k, v) for k, v in dict.items(value) if type(k) is not str or k != "__builtins__"]
            return tuple((self.describe(k), self.describe(v)) for k, v in items)
        if isinstance(value, set | frozenset):
            return (frozenset(map(repr, map(self.describe, value))),)
        if isinstance(value, bytearray):
            return (bytes(value),)
        if isinstance(value, slice):
            return tuple(self.describe(part) for part in (value.start, value.stop, value.step))
        for kind in (int, float, str, bytes):  # subclasses of these
            if isinstance(value, kind):
                return (kind.__repr__(value),)
        return ()

    def _attributes(self, value: Any) -> tuple[Any, ...]:
        found = []
        try:
            names = object.__getattribute__(value, "__dict__")
        except AttributeError:
            names = {}
        found += [(name, self.describe(item)) for name, item in dict.items(names)]
        for base in type(value).__mro__:
            for name, member in vars(base).items():
                if isinstance(member, types.MemberDescriptorType) and base.__module__ != "builtins":
                    try:
                        found.append((name, self.describe(member.__get__(value))))
                    except AttributeError:
                        found.append((name, "unset"))
        return tuple(found)

    def _array(self, value: np.ndarray) -> tuple[Any, ...]:
        flags = tuple((name, value.flags[name]) for name in ("C", "F", "OWNDATA", "WRITEABLE", "ALIGNED"))
        if value.dtype.hasobject:
            content: Any = [self.describe(item) for item in value.ravel().tolist()]
        elif value.dtype.char in "gG":  # the padding of these is never written
            content = [repr(item) for item in np.asarray(value).ravel()]
        else:
            content = _memory(np.asarray(value).tobytes(), value.dtype)
        base = None if value.base is None else self.describe(value.base)
        return (str(value.dtype), value.shape, value.strides, flags, content, base, self._attributes(value))

    def _exception(self, value: BaseException) -> tuple[Any, ...]:
        links = (value.__cause__, value.__context__)
        parts = [self.describe(item) for item in (*links, value.args, vars(value))]
        if isinstance(value, BaseExceptionGroup):
            parts.append([self.describe(item) for item in value.exceptions])
        text = without_addresses(BaseException.__str__(value))
        if isinstance(value, NameError | AttributeError | ImportError):
            parts.append(self.describe(value.name))
        return (text, value.__suppress_context__, self._traceback(value.__traceback__), *parts)

    def _traceback(self, tb: types.TracebackType | None) -> tuple[Any, ...]:
        found = []
        while tb is not None:
            code = tb.tb_frame.f_code
            if code.co_filename not in self._hidden_files:
                if code.co_filename == self._own_file:
                    where: Any = tuple(list(code.co_positions())[tb.tb_lasti // 2])
                else:
                    where = code.co_filename
                found.append((code.co_name, tb.tb_lineno, where))
            tb = tb.tb_next
        return tuple(found)

    def _class(self, value: type) -> tuple[Any, ...]:
        if value.__module__ != "program":
            return (value.__module__, value.__qualname__)
        members = [
            (name, self.describe(member))
            for name, member in vars(value).items()
            if name not in ("__dict__", "__weakref__")
        ]
        return (value.__qualname__, [self.describe(base) for base in value.__bases__], members)

    def _function(self, value: types.FunctionType) -> tuple[Any, ...]:
        state = (
            value.__defaults__,
            value.__kwdefaults__,
            value.__closure__,
            value.__annotations__,
            vars(value),
        )
        return (value.__qualname__, value.__doc__, _code(value.__code__), *map(self.describe, state))

    def _cell(self, value: types.CellType) -> tuple[Any, ...]:
        try:
            return (self.describe(value.cell_contents),)
        except ValueError:
            return ("empty",)


def _code(code: types.CodeType) -> tuple[Any, ...]:
    """The properties of a traced function's code that must not change."""
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_name, code.co_qualname, code.co_firstlineno, *counts, *names)
