"""Reverse differentiation: a tape of lambdas made in each operation."""


class Number:
    def __init__(self, value, parents=()):
        self.value = value
        self.parents = parents
        self.gradient = 0.0

    def __add__(self, other):
        return Number(self.value + other.value, ((self, lambda g: g), (other, lambda g: g)))

    def __mul__(self, other):
        return Number(
            self.value * other.value,
            ((self, lambda g: g * other.value), (other, lambda g: g * self.value)),
        )

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for parent, _ in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        self.gradient = 1.0
        for node in reversed(order):
            for parent, derivative in node.parents:
                parent.gradient += derivative(node.gradient)


def loss(weights, inputs):
    total = Number(0.0)
    for w, x in zip(weights, inputs):
        total = total + w * x * w
    return total


def run():
    weights = [Number(0.1 * k) for k in range(10)]
    for _ in range(40):
        inputs = [Number(0.5 + k) for k in range(10)]
        result = loss(weights, inputs)
        result.backward()
        weights = [Number(w.value - 0.001 * w.gradient) for w in weights]
    return round(sum(w.value for w in weights), 9)
