"""Recursion without end: towers, partitions, Ackermann's function."""

from functools import lru_cache


def hanoi(n, source, target, spare, moves):
    if n == 0:
        return
    hanoi(n - 1, source, spare, target, moves)
    moves[source + target] = moves.get(source + target, 0) + 1
    hanoi(n - 1, spare, target, source, moves)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@lru_cache(None)
def partitions(n, largest):
    if n == 0:
        return 1
    return sum(partitions(n - k, k) for k in range(1, min(n, largest) + 1))


moves = {}
hanoi(21, "a", "c", "b", moves)
print(sorted(moves.items()))
print(ackermann(2, 300), ackermann(3, 5))
print(partitions(110, 110))
