"""A linked list, a binary tree and a queue, as a beginner writes them."""


class Node:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following


class Linked:
    def __init__(self):
        self.head = None
        self.size = 0

    def push(self, value):
        self.head = Node(value, self.head)
        self.size += 1

    def reverse(self):
        previous = None
        node = self.head
        while node:
            node.following, previous, node = previous, node, node.following
        self.head = previous

    def __iter__(self):
        node = self.head
        while node is not None:
            yield node.value
            node = node.following

    def __len__(self):
        return self.size


class Tree:
    def __init__(self):
        self.root = None

    def insert(self, key):
        if self.root is None:
            self.root = [key, None, None]
            return
        node = self.root
        while True:
            side = 1 if key < node[0] else 2
            if node[side] is None:
                node[side] = [key, None, None]
                return
            node = node[side]

    def walk(self, node="root"):
        if node == "root":
            node = self.root
        if node is not None:
            yield from self.walk(node[1])
            yield node[0]
            yield from self.walk(node[2])


numbers = Linked()
for number in range(130000):
    numbers.push(number * 7919 % 130003)
for _ in range(5):
    numbers.reverse()
print(len(numbers), sum(numbers), next(iter(numbers)))
tree = Tree()
for number in numbers:
    if number % 2 == 0:
        tree.insert(number)
ordered = list(tree.walk())
assert ordered == sorted(ordered)
print(len(ordered), ordered[:5])
