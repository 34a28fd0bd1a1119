"""Accounts, transfers, exceptions: objects of everyday's kind."""

import random


class Refused(Exception):
    pass


class Account:
    fee = 0

    def __init__(self, number, balance=0):
        self.number = number
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        if amount <= 0:
            raise Refused("amount")
        self.balance += amount
        self.history.append(("in", amount))

    def withdraw(self, amount):
        if amount + self.fee > self.balance:
            raise Refused("balance")
        self.balance -= amount + self.fee
        self.history.append(("out", amount))


class Checking(Account):
    fee = 1


class Savings(Account):
    def withdraw(self, amount):
        if amount > 500:
            raise Refused("limit")
        super().withdraw(amount)


class Bank:
    def __init__(self):
        self.accounts = {}
        self.refused = {}

    def open(self, kind, balance):
        account = kind(len(self.accounts), balance)
        self.accounts[account.number] = account
        return account

    def transfer(self, source, target, amount):
        try:
            self.accounts[source].withdraw(amount)
            self.accounts[target].deposit(amount)
        except Refused as error:
            self.refused[str(error)] = self.refused.get(str(error), 0) + 1
            return False
        return True

    @property
    def total(self):
        return sum(account.balance for account in self.accounts.values())


bank = Bank()
for number in range(200):
    bank.open((Checking, Savings, Account)[number % 3], 1000)
source = random.Random(6)
done = 0
for _ in range(220000):
    done += bank.transfer(source.randrange(200), source.randrange(200), source.randrange(0, 700))
print(done, bank.total, sorted(bank.refused.items()))
print(max(len(account.history) for account in bank.accounts.values()))
