"""Copies of values: like `copy.deepcopy`, but arrays keep strides, flags and shared memory."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from tagalong._values import address_of, attributes_of, owner_of


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
    for _, item in attributes_of(value):
        yield from _arrays_in(item, seen)


def _copied_array(array: np.ndarray, owners: dict[int, np.ndarray]) -> np.ndarray:
    owner = owner_of(array)
    dense = owner.flags.c_contiguous or owner.flags.f_contiguous
    if not dense or array.dtype.hasobject or type(owner) is not np.ndarray:
        copy_of = array.copy(order="K")
    else:
        if id(owner) not in owners:
            owners[id(owner)] = owner.copy(order="K")
        home = owners[id(owner)]
        if array is owner:
            return home
        flat = home.reshape(-1, order="F" if not home.flags.c_contiguous else "C")
        buffer = flat.view(np.uint8) if flat.dtype != np.uint8 and flat.size else flat
        copy_of = np.ndarray(
            array.shape,
            array.dtype,
            buffer=buffer,
            offset=address_of(array) - address_of(owner),
            strides=array.strides,
        )
    return copy_of


def copied(value: Any) -> Any:
    """A deep copy of `value`. Plain arrays keep strides and flags, and views are views of the copy of their base."""
    memo: dict[int, Any] = {}
    owners: dict[int, np.ndarray] = {}
    arrays = list(_arrays_in(value, set()))
    for array in arrays:
        memo[id(array)] = _copied_array(array, owners)
    for array in arrays:
        if not array.flags.writeable:
            memo[id(array)].setflags(write=False)
    return copy.deepcopy(value, memo)
