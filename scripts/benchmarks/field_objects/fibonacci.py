"""Recursion, plain and with a memory."""


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Memo:
    def __init__(self):
        self.known = {}

    def fib(self, n):
        if n < 2:
            return n
        if n not in self.known:
            self.known[n] = self.fib(n - 1) + self.fib(n - 2)
        return self.known[n]


def run():
    return fib(17) + sum(Memo().fib(60) for _ in range(20))
