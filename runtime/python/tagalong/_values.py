"""Descriptions of values that can be compared bit for bit.

`describe` turns a value into a tree of plain tuples with float payloads, array layout, aliasing and shared memory. It
calls no method that a class of the program may define for comparison (`__eq__`, `__hash__`); it reads objects through
their `__dict__` and slots.
"""

from __future__ import annotations

import contextlib
import struct
import types
from typing import Any

import numpy as np

Tree = tuple[Any, ...]
PLAIN = (type(None), bool, int, str, bytes, type(Ellipsis), type(NotImplemented))


def owner_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory: the end of the chain of bases."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def address_of(array: np.ndarray) -> int:
    """The address of the first element."""
    return int(array.__array_interface__["data"][0])


def attributes_of(value: Any) -> list[tuple[str, Any]]:
    """Instance attributes, without running code of the object. Modules, classes and functions have none here."""
    if isinstance(
        value, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
    ):
        return []
    found: list[tuple[str, Any]] = []
    with contextlib.suppress(AttributeError):
        found.extend(object.__getattribute__(value, "__dict__").items())
    for kind in type(value).__mro__:
        for name, member in vars(kind).items():
            if (
                isinstance(member, types.MemberDescriptorType)
                and kind.__module__ != "builtins"
                and kind is not np.ndarray
            ):
                try:
                    found.append((name, member.__get__(value)))
                except AttributeError:
                    continue
    return found


class _Describer:
    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.memory: dict[int, tuple[int, int]] = {}
        self.alive: list[Any] = []  # ids are unique only while the objects live

    def describe(self, value: Any) -> Tree:
        if isinstance(value, PLAIN) and type(value) in PLAIN:
            return (type(value).__name__, value)
        if type(value) is float:
            return ("float", struct.pack("<d", value), repr(value))
        if type(value) is complex:
            return ("complex", struct.pack("<dd", value.real, value.imag), repr(value))
        if isinstance(value, np.generic):
            return (f"numpy.{type(value).__name__}", str(value.dtype), value.tobytes(), repr(value))
        if isinstance(value, type):
            return ("class", value.__module__, value.__qualname__)
        if isinstance(value, types.ModuleType):
            return ("module", value.__name__)
        if isinstance(value, np.dtype):
            return ("dtype", repr(value))
        if id(value) in self.seen:
            return ("the same object as number", self.seen[id(value)])
        self.seen[id(value)] = len(self.seen)
        self.alive.append(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        return self._object(value)

    def _array(self, array: np.ndarray) -> Tree:
        owner = owner_of(array)
        self.alive.append(owner)
        number, start = self.memory.setdefault(id(owner), (len(self.memory), address_of(array)))
        flags = tuple(
            (name, bool(array.flags[name]))
            for name in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED")
        )
        if array.dtype.hasobject:
            content: Any = tuple(self.describe(item) for item in array.ravel().tolist())
        else:
            content = array.tobytes()
        return (
            "array",
            _named(type(array)),
            ("dtype", array.dtype.str if array.dtype.names is None else str(array.dtype.descr)),
            ("shape", array.shape),
            ("strides", array.strides),
            *flags,
            ("memory", number, address_of(array) - start),
            ("content", array.dtype.str, array.shape, content),
            *self._attributes(array),
        )

    def _object(self, value: Any) -> Tree:
        name = _named(type(value))
        if isinstance(value, BaseException):
            return (
                "exception",
                name,
                ("args", self.describe(value.args)),
                ("cause", self.describe(value.__cause__)),
                ("context", self.describe(value.__context__)),
                ("suppressed", value.__suppress_context__),
                *self._attributes(value),
            )
        parts: list[Tree] = []
        if isinstance(value, dict):
            items = [(self.describe(key), self.describe(item)) for key, item in dict.items(value)]
            parts += [("item", key, item) for key, item in items]
        elif isinstance(value, (list, tuple)):
            parts += [("item", number, self.describe(item)) for number, item in enumerate(value)]
        elif isinstance(value, (set, frozenset)):
            # Sets have no order: they are compared in the order of the descriptions.
            parts += [("item", 0, item) for item in sorted((self.describe(item) for item in value), key=repr)]
        elif isinstance(value, bytearray):
            parts.append(("bytes", bytes(value)))
        elif isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
            parts.append(("name", value.__module__, value.__qualname__))
            parts += [("cell", self._cell(cell)) for cell in getattr(value, "__closure__", None) or ()]
        elif isinstance(value, types.MethodType):
            parts += [("function", self.describe(value.__func__)), ("self", self.describe(value.__self__))]
        elif isinstance(value, (int, float, str, bytes)):
            kinds: tuple[Any, ...] = (int, float, str, bytes)
            plain = next(kind for kind in kinds if isinstance(value, kind))
            parts.append(("value", self.describe(plain.__new__(plain, value))))
        return (name, *parts, *self._attributes(value))

    def _cell(self, cell: types.CellType) -> Tree:
        try:
            return self.describe(cell.cell_contents)
        except ValueError:
            return ("an empty cell",)

    def _attributes(self, value: Any) -> list[Tree]:
        return [
            (f".{name}", self.describe(item))
            for name, item in sorted(attributes_of(value), key=lambda pair: pair[0])
        ]


def _named(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def describe(*values: Any) -> Tree:
    """A tree of plain tuples with everything that a program can observe about `values`, aliasing included."""
    describer = _Describer()
    return tuple(describer.describe(value) for value in values)
