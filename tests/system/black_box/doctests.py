"""doctest: examples in docstrings, with a failure, exceptions and output.

>>> sum(double(n) for n in range(10))
90
"""

import doctest


def double(x):
    """
    >>> double(2)
    4
    >>> [double(n) for n in range(30)][-1]
    58
    >>> double([1])
    [1, 1]
    >>> double(None)
    Traceback (most recent call last):
    TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'
    >>> double(3)
    7
    """
    return x * 2


class Stack:
    """
    >>> stack = Stack()
    >>> for n in range(40): stack.push(n)
    >>> stack.pop(), len(stack.items)
    (39, 39)
    >>> Stack().pop()
    Traceback (most recent call last):
        ...
    IndexError: pop from empty list
    """

    def __init__(self):
        self.items = []

    def push(self, item):
        """Adds an item.

        >>> Stack().push(1)
        """
        self.items.append(item)

    def pop(self):
        return self.items.pop()


for number in range(60):
    double(number)
    one = Stack()
    one.push(number), one.pop()
print(doctest.testmod(verbose=True))
