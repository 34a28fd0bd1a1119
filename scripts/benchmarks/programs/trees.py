"""Binary trees that are built, counted and changed: objects that hold objects, recursion."""

from __future__ import annotations

SIZE = 12
KIND = "objects"


class Node:
    __slots__ = ("left", "right", "value")

    def __init__(self, value, left, right):
        self.value = value
        self.left = left
        self.right = right

    def total(self):
        result = self.value
        if self.left is not None:
            result += self.left.total() - self.right.total()
        return result

    def mirrored(self):
        if self.left is None:
            return Node(self.value, None, None)
        return Node(self.value, self.right.mirrored(), self.left.mirrored())


def build(depth, value):
    if depth == 0:
        return Node(value, None, None)
    return Node(value, build(depth - 1, 2 * value), build(depth - 1, 2 * value + 1))


def run(size):
    result = []
    for depth in range(2, size):
        tree = build(depth, 1)
        result.append((tree.total(), tree.mirrored().total()))
    return result
