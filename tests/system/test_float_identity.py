"""Identity of numbers in a list: a replaced number is another object; a referenced one does not change."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tagalong
from tagalong import _core


def same_address_after_replacing(n: int) -> int:
    numbers = [0.5, 1.5]
    same = 0
    for _ in range(n):
        before = id(numbers[0])
        numbers[0] = numbers[0] * 1.0001
        if id(numbers[0]) == before:
            same += 1
    return same


def same_address_in_two_places(n: int) -> int:
    numbers = [0.5, 1.5, 2.5]
    same = 0
    for i in range(n):
        number = numbers[i % 3]
        before = id(number)
        numbers[i % 3] = number * 1.5 % 7.0
        if id(numbers[i % 3]) == before:
            same += 1
        if len({id(numbers[0]), id(numbers[1]), id(numbers[2])}) != 3:
            same += 1
    return same


def held_by_another_list(n: int) -> int:
    numbers = [0.5, 1.5, 2.5]
    changed = 0
    for _ in range(n):
        for j in range(3):
            numbers[j] = numbers[j] * 1.01 % 7.0
        held = list(numbers)
        texts = repr(held)
        for j in range(3):
            numbers[j] = numbers[j] * 1.01 % 7.0 + 1.0
        for j in range(3):
            if numbers[j] is held[j]:
                changed += 1
        if repr(held) != texts:
            changed += 1
    return changed


def one_object_in_two_places(n: int) -> int:
    numbers = [0.5, 1.5, 2.5]
    different = 0
    for _ in range(n):
        number = numbers[0] * 1.01 % 7.0
        numbers[0] = number
        numbers[1] = number
        if numbers[0] is not numbers[1] or id(numbers[0]) != id(number):
            different += 1
        another = numbers[2]
        address = id(another)
        numbers[2] = another
        if numbers[2] is not another or id(numbers[2]) != address:
            different += 1
        numbers[2], numbers[0] = numbers[0], numbers[2]
    return different


@pytest.mark.parametrize("native_after", [0, 1], ids=["interpreted", "native"])
@pytest.mark.parametrize(
    "program",
    [
        same_address_after_replacing,
        same_address_in_two_places,
        held_by_another_list,
        one_object_in_two_places,
    ],
)
def test_identities_are_as_in_eager_execution(program: Callable[[int], int], native_after: int) -> None:
    _core.set_option("native_after", native_after)
    traced = tagalong.trace(program)
    assert [traced(20) for _ in range(20)] == [0] * 20
    assert traced(5000) == 0
    assert tagalong.stats(traced).hits > 0
    tagalong.untrace(traced)
