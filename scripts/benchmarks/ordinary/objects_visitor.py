"""Expressions as trees of objects: derivatives, simplification, evaluation."""


class Expression:
    def __add__(self, other):
        return Sum(self, other)

    def __mul__(self, other):
        return Product(self, other)


class Number(Expression):
    def __init__(self, value):
        self.value = value

    def evaluate(self, x):
        return self.value

    def derive(self):
        return Number(0)

    def simplify(self):
        return self


class Variable(Expression):
    def evaluate(self, x):
        return x

    def derive(self):
        return Number(1)

    def simplify(self):
        return self


class Binary(Expression):
    def __init__(self, left, right):
        self.left, self.right = left, right


class Sum(Binary):
    def evaluate(self, x):
        return self.left.evaluate(x) + self.right.evaluate(x)

    def derive(self):
        return self.left.derive() + self.right.derive()

    def simplify(self):
        left, right = self.left.simplify(), self.right.simplify()
        if isinstance(left, Number) and left.value == 0:
            return right
        if isinstance(right, Number) and right.value == 0:
            return left
        return Sum(left, right)


class Product(Binary):
    def evaluate(self, x):
        return self.left.evaluate(x) * self.right.evaluate(x)

    def derive(self):
        return self.left.derive() * self.right + self.left * self.right.derive()

    def simplify(self):
        left, right = self.left.simplify(), self.right.simplify()
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Number):
                if one.value == 0:
                    return Number(0)
                if one.value == 1:
                    return other
        return Product(left, right)


def polynomial(degree):
    x = Variable()
    total = Number(1)
    for k in range(1, degree):
        term = Number(k)
        for _ in range(k):
            term = term * x
        total = total + term
    return total


p = polynomial(9)
for _ in range(2):
    p = p.derive().simplify()
print(sum(p.evaluate(x) for x in range(-3000, 3000)))
total = 0
for k in range(4, 10):
    for _ in range(300):
        total += polynomial(k).derive().simplify().evaluate(3)
print(total)
