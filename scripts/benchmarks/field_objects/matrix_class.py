"""A matrix class over lists."""


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows])

    def __getitem__(self, place):
        row, column = place
        return self.rows[row][column]

    def trace(self):
        return sum(self[k, k] for k in range(len(self.rows)))


def run():
    m = Matrix([[(i * j + 1) % 5 for j in range(8)] for i in range(8)])
    product = m
    for _ in range(6):
        product = product @ m
        product = Matrix([[value % 1009 for value in row] for row in product.rows])
    return product.trace()
