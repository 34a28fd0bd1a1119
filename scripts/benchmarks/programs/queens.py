"""The ways to put queens on a board, by generators that call themselves."""

from __future__ import annotations

SIZE = 8
KIND = "objects"


def placements(size, row, columns, rising, falling):
    if row == size:
        yield ()
        return
    for column in range(size):
        up, down = row + column, row - column
        if column in columns or up in rising or down in falling:
            continue
        for rest in placements(size, row + 1, columns | {column}, rising | {up}, falling | {down}):
            yield (column, *rest)


def run(size):
    empty = frozenset()
    return list(placements(size, 0, empty, empty, empty))
