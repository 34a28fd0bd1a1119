"""Where two descriptions of values differ (`_values.describe`), by path."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagalong._values import PLAIN, Tree


def _shown(tree: Any, width: int = 120) -> str:
    if isinstance(tree, tuple) and len(tree) == 2 and tree[0] in {kind.__name__ for kind in PLAIN}:
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
        return []  # dtype and shape are compared elsewhere
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
