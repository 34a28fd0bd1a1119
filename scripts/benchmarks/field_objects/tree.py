"""A search tree: insertion and a walk by recursion."""


class Node:
    def __init__(self, key):
        self.key = key
        self.left = self.right = None


class Tree:
    def __init__(self):
        self.root = None
        self.size = 0

    def insert(self, key):
        self.root = self._insert(self.root, key)

    def _insert(self, node, key):
        if node is None:
            self.size += 1
            return Node(key)
        if key < node.key:
            node.left = self._insert(node.left, key)
        elif key > node.key:
            node.right = self._insert(node.right, key)
        return node

    def walk(self):
        def visit(node):
            if node is not None:
                yield from visit(node.left)
                yield node.key
                yield from visit(node.right)

        return visit(self.root)


def run():
    tree = Tree()
    key = 17
    for _ in range(400):
        key = (key * 137 + 29) % 1009
        tree.insert(key)
    return tree.size, sum(k * place for place, k in enumerate(tree.walk()))
