"""Decimals, fractions and dates: numbers that are objects."""

import datetime
from decimal import Decimal, getcontext
from fractions import Fraction


def pi(digits):
    getcontext().prec = digits + 5
    three = Decimal(3)
    last, t, s, n, na, d, da = 0, three, 3, 1, 0, 0, 24
    while s != last:
        last = s
        n, na = n + na, na + 8
        d, da = d + da, da + 32
        t = (t * n) / d
        s += t
    getcontext().prec = digits
    return +s


def harmonic(count):
    total = Fraction(0)
    for number in range(1, count):
        total += Fraction(1, number)
    return total


def interest(years):
    day, balance = datetime.date(2000, 1, 1), Decimal("1000.00")
    end = day.replace(year=2000 + years)
    while day < end:
        day += datetime.timedelta(days=1)
        if day.day == 1:
            balance += (balance * Decimal("0.004")).quantize(Decimal("0.01"))
        if day.weekday() == 4:
            balance -= 1
    return balance


print(str(pi(2500))[-10:])
print(harmonic(1200).denominator % 1000003)
for years in range(1, 60):
    last = interest(years)
print(last)
