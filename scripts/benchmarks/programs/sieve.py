"""The primes below a number, by striking out multiples in a list of bools."""

from __future__ import annotations

SIZE = 20000
KIND = "numbers"


def run(size):
    is_prime = [True] * size
    is_prime[0] = is_prime[1] = False
    number = 2
    while number * number < size:
        if is_prime[number]:
            for multiple in range(number * number, size, number):
                is_prime[multiple] = False
        number += 1
    count = 0
    for flag in is_prime:
        if flag:
            count += 1
    return count
