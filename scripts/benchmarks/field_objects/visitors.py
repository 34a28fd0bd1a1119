"""Expressions as objects, evaluated and printed by visitors."""


class Constant:
    def __init__(self, value):
        self.value = value

    def accept(self, visitor):
        return visitor.constant(self)


class Operation:
    def __init__(self, symbol, left, right):
        self.symbol, self.left, self.right = symbol, left, right

    def accept(self, visitor):
        return visitor.operation(self)


class Evaluation:
    def constant(self, node):
        return node.value

    def operation(self, node):
        left, right = node.left.accept(self), node.right.accept(self)
        return left + right if node.symbol == "+" else left * right


class Text:
    def constant(self, node):
        return str(node.value)

    def operation(self, node):
        return f"({node.left.accept(self)} {node.symbol} {node.right.accept(self)})"


def build(depth):
    if depth == 0:
        return Constant(depth + 1)
    return Operation("+*"[depth % 2], build(depth - 1), build(depth - 1))


def run():
    tree = build(8)
    return sum(tree.accept(Evaluation()) for _ in range(10)), len(tree.accept(Text()))
