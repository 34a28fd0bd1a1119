"""Copies of values, and descriptions of values that can be compared bit for bit.

`copied` copies like `copy.deepcopy`, but arrays keep what deepcopy loses: strides, flags, and which array looks into
whose memory. `describe` turns a value into a tree of plain tuples, which knows float payloads, array layout, aliasing
and shared memory; `differences` compares two trees and says, by path, where they differ. Nothing here calls a method
that a user's class could have overridden for comparison (`__eq__`, `__hash__`); objects are looked at through their
`__dict__` and slots.
"""

from __future__ import annotations

import contextlib
import copy
import struct
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

Tree = tuple[Any, ...]
_PLAIN = (type(None), bool, int, str, bytes, type(Ellipsis), type(NotImplemented))


def _owner(array: np.ndarray) -> np.ndarray:
    """The array at the end of the chain of bases: the one whose memory it is."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _arrays_in(value: Any, seen: set[int]) -> Iterator[np.ndarray]:
    """The plain arrays reachable through containers and attributes."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if type(value) is np.ndarray:
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _arrays_in(key, seen)
            yield from _arrays_in(item, seen)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _arrays_in(item, seen)
    for _, item in _attributes(value):
        yield from _arrays_in(item, seen)


def _attributes(value: Any) -> list[tuple[str, Any]]:
    """Instance attributes, without asking the object itself. Modules, classes and functions are not looked into."""
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


def _copied_array(array: np.ndarray, owners: dict[int, np.ndarray]) -> np.ndarray:
    owner = _owner(array)
    dense = owner.flags.c_contiguous or owner.flags.f_contiguous
    if not dense or array.dtype.hasobject or type(owner) is not np.ndarray:
        twin = array.copy(order="K")
    else:
        if id(owner) not in owners:
            owners[id(owner)] = owner.copy(order="K")
        home = owners[id(owner)]
        if array is owner:
            return home
        flat = home.reshape(-1, order="F" if not home.flags.c_contiguous else "C")
        buffer = flat.view(np.uint8) if flat.dtype != np.uint8 and flat.size else flat
        twin = np.ndarray(
            array.shape,
            array.dtype,
            buffer=buffer,
            offset=_address(array) - _address(owner),
            strides=array.strides,
        )
    return twin


def copied(value: Any) -> Any:
    """A deep copy of `value`. Plain arrays keep strides and flags, and views still look into the copy of their base."""
    memo: dict[int, Any] = {}
    owners: dict[int, np.ndarray] = {}
    arrays = list(_arrays_in(value, set()))
    for array in arrays:
        memo[id(array)] = _copied_array(array, owners)
    for array in arrays:
        if not array.flags.writeable:
            memo[id(array)].setflags(write=False)
    return copy.deepcopy(value, memo)


class _Describer:
    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.memory: dict[int, tuple[int, int]] = {}
        self.alive: list[Any] = []  # ids stay unique only as long as the objects live

    def describe(self, value: Any) -> Tree:
        if isinstance(value, _PLAIN) and type(value) in _PLAIN:
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
        owner = _owner(array)
        self.alive.append(owner)
        number, start = self.memory.setdefault(id(owner), (len(self.memory), _address(array)))
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
            ("memory", number, _address(array) - start),
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
            # Sets have no order to compare; that of the descriptions is as good as any.
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
            for name, item in sorted(_attributes(value), key=lambda pair: pair[0])
        ]


def _named(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def describe(*values: Any) -> Tree:
    """A tree of plain tuples that says everything about `values` that a program could see, aliasing included."""
    describer = _Describer()
    return tuple(describer.describe(value) for value in values)


def _shown(tree: Any, width: int = 120) -> str:
    if isinstance(tree, tuple) and len(tree) == 2 and tree[0] in {kind.__name__ for kind in _PLAIN}:
        text = repr(tree[1])
    elif isinstance(tree, tuple) and tree and tree[0] in ("float", "complex"):
        text = tree[2] if tree[2] != "nan" else f"nan ({tree[1].hex()})"
    elif isinstance(tree, tuple) and tree and isinstance(tree[0], str) and tree[0].startswith("numpy."):
        text = tree[3]
    else:
        text = repr(tree)
    return text if len(text) <= width else f"{text[:width]}… and {len(text) - width} more characters"


def _array_difference(path: str, one: Tree, two: Tree) -> list[str]:
    (_, dtype, shape, left), (_, other_dtype, other_shape, right) = one, two
    if (
        dtype != other_dtype
        or shape != other_shape
        or not isinstance(left, bytes)
        or not isinstance(right, bytes)
    ):
        if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
            return [
                line
                for number, (a, b) in enumerate(zip(left, right, strict=True))
                for line in differences(a, b, f"{path}.flat[{number}]")
            ]
        return []  # dtype and shape have lines of their own
    size = max(1, np.dtype(dtype).itemsize)
    a = np.frombuffer(left, np.uint8).reshape(-1, size)
    b = np.frombuffer(right, np.uint8).reshape(-1, size)
    places = np.flatnonzero((a != b).any(axis=1))
    if not len(places):
        return []
    index = tuple(int(i) for i in np.unravel_index(places[0], shape)) if shape else ()
    first = [np.frombuffer(bytes(part[places[0]]), np.dtype(dtype))[0] for part in (a, b)]
    inside = ", ".join(map(str, index))
    return [
        f"{path}[{inside}]: {first[0]!r} != {first[1]!r} (elements that differ: {len(places)} of {len(a)})"
    ]


def differences(one: Any, two: Any, path: str) -> list[str]:
    """Where two descriptions differ: one line for each place, beginning with its path."""
    if one == two:
        return []
    if not (isinstance(one, tuple) and isinstance(two, tuple)) or not one or not two or one[0] != two[0]:
        return [f"{path}: {_shown(one)} != {_shown(two)}"]
    if one[0] == "content":
        return _array_difference(path, one, two)
    if len(one) != len(two) or not all(isinstance(part, tuple) for part in (*one[2:], *two[2:])):
        return [f"{path}: {_shown(one)} != {_shown(two)}"]
    lines: list[str] = []
    for a, b in zip(one[1:], two[1:], strict=True):
        if a == b:
            continue
        if (
            isinstance(a, tuple)
            and isinstance(b, tuple)
            and a
            and b
            and a[0] == b[0] == "item"
            and a[1] == b[1]
        ):
            key = a[1] if isinstance(a[1], int) else _shown(a[1])
            lines += differences(a[2], b[2], f"{path}[{key}]")
        elif isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) == 2 and a[0] == b[0]:
            dot = "" if str(a[0]).startswith(".") else "."
            lines += differences(a[1], b[1], f"{path}{dot}{a[0]}")
        elif isinstance(a, tuple) and isinstance(b, tuple) and a and a[0] == "content":
            lines += differences(a, b, path)
        else:
            lines.append(f"{path}: {_shown(a)} != {_shown(b)}")
    return lines
