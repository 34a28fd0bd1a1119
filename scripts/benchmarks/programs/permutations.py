"""Flips of pancakes over all orders of a few: slices of lists and assignments to them, made by C code of the lists."""

from __future__ import annotations

SIZE = 7
KIND = "objects"


def run(size):
    order = list(range(size))
    count = list(range(1, size + 1))
    most = checksum = sign = 0
    left = size
    while True:
        while left != 1:
            count[left - 1] = left
            left -= 1
        flips = 0
        stack = order[:]
        first = stack[0]
        while first:
            stack[: first + 1] = stack[first::-1]
            flips += 1
            first = stack[0]
        most = max(most, flips)
        checksum += -flips if sign else flips
        sign ^= 1
        while True:
            if left == size:
                return checksum, most
            moved = order.pop(0)
            order.insert(left, moved)
            count[left] -= 1
            if count[left] > 0:
                break
            left += 1
        left = max(left, 1)
