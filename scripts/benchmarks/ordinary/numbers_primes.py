"""Primes, perfect numbers and Collatz, by plain loops."""


def sieve(limit):
    flags = bytearray([1]) * limit
    flags[0:2] = b"\0\0"
    for number in range(2, int(limit**0.5) + 1):
        if flags[number]:
            flags[number * number :: number] = bytes(len(range(number * number, limit, number)))
    return [number for number, flag in enumerate(flags) if flag]


def collatz(number, known):
    path = []
    while number not in known:
        path.append(number)
        number = number // 2 if number % 2 == 0 else 3 * number + 1
    length = known[number]
    for place in reversed(path):
        length += 1
        known[place] = length
    return length


def divisors(number):
    total = 1
    k = 2
    while k * k <= number:
        if number % k == 0:
            total += k
            if k * k != number:
                total += number // k
        k += 1
    return total


primes = sieve(600000)
print(len(primes), primes[-1])
known = {1: 1}
print(max(range(1, 160000), key=lambda number: collatz(number, known)))
print([number for number in range(2, 30000) if divisors(number) == number])
