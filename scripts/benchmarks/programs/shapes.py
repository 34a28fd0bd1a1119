"""Shapes of three classes that are moved, grown and measured: a loop over objects that calls methods, each of which
does a little arithmetic on attributes."""

from __future__ import annotations

SIZE = 400
KIND = "objects"


class Shape:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def move(self, dx, dy):
        self.x += dx
        self.y += dy

    def is_right_of(self, x):
        return self.x > x


class Circle(Shape):
    def __init__(self, x, y, radius):
        super().__init__(x, y)
        self.radius = radius

    def grow(self, factor):
        self.radius *= factor

    def area(self):
        return 3.141592653589793 * self.radius * self.radius


class Rectangle(Shape):
    def __init__(self, x, y, width, height):
        super().__init__(x, y)
        self.width = width
        self.height = height

    def grow(self, factor):
        self.width *= factor
        self.height *= factor

    def area(self):
        return self.width * self.height


class Point(Shape):
    def grow(self, factor):
        pass

    def area(self):
        return 0.0


def make(count):
    shapes = []
    for k in range(count):
        if k % 3 == 0:
            shapes.append(Circle(k * 0.5, 1.0, 0.25))
        elif k % 3 == 1:
            shapes.append(Rectangle(k * 0.25, 2.0, 1.5, 0.5))
        else:
            shapes.append(Point(-k * 0.5, 3.0))
    return shapes


def step(shapes, factor):
    total = 0.0
    right = 0
    for shape in shapes:
        shape.move(0.125, -0.25)
        shape.grow(factor)
        if shape.is_right_of(10.0):
            right += 1
        total += shape.area()
    return total, right


def run(size):
    shapes = make(size)
    seen = []
    for k in range(10):
        seen.append(step(shapes, 1.0625 if k % 2 else 0.9375))
    return seen
