"""The longest path of 3n + 1 below a number: a loop in a loop over ints, with an unpredictable branch."""

from __future__ import annotations

SIZE = 1500
KIND = "numbers"


def run(size):
    longest = 0
    best = 0
    for start in range(1, size):
        number = start
        steps = 0
        while number != 1:
            if number % 2 == 0:
                number //= 2
            else:
                number = 3 * number + 1
            steps += 1
        if steps > longest:
            longest = steps
            best = start
    return best, longest
