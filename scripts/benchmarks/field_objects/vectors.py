"""Immutable vectors with operators."""


class Vector:
    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z


def run():
    total, step = Vector(0.0, 0.0, 0.0), Vector(0.1, 0.2, 0.3)
    for k in range(3000):
        total = total + step * (k % 3)
        if total.dot(step) > 100.0:
            total = total * 0.5
    return round(total.dot(total), 6)
