"""Accounts, transfers, exceptions."""


class NotEnough(Exception):
    pass


class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.history = []

    def withdraw(self, amount):
        if amount > self.balance:
            raise NotEnough(self.owner)
        self.balance -= amount
        self.history.append(-amount)

    def deposit(self, amount):
        self.balance += amount
        self.history.append(amount)


class Bank:
    def __init__(self):
        self.accounts = {}
        self.refused = 0

    def open(self, owner, balance):
        self.accounts[owner] = Account(owner, balance)

    def transfer(self, source, target, amount):
        try:
            self.accounts[source].withdraw(amount)
        except NotEnough:
            self.refused += 1
        else:
            self.accounts[target].deposit(amount)


def run():
    bank = Bank()
    for k in range(20):
        bank.open(f"owner {k}", 100 * k)
    for k in range(3000):
        bank.transfer(f"owner {k % 20}", f"owner {(k * 7) % 20}", k % 50)
    return bank.refused, sum(account.balance for account in bank.accounts.values())
