"""Dataclasses, inheritance, properties, and operators of one's own."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    @property
    def length(self):
        return math.hypot(self.x, self.y)


class Shape(ABC):
    def __init__(self, place):
        self.place = place

    @abstractmethod
    def area(self): ...

    def move(self, by):
        self.place = self.place + by


class Circle(Shape):
    def __init__(self, place, radius):
        super().__init__(place)
        self.radius = radius

    def area(self):
        return math.pi * self.radius**2


class Box(Shape):
    def __init__(self, place, width, height):
        super().__init__(place)
        self.width, self.height = width, height

    def area(self):
        return self.width * self.height


shapes = [
    Circle(Vector(n, -n), n % 7 + 1) if n % 2 else Box(Vector(n, n), n % 5 + 1, n % 3 + 1) for n in range(400)
]
for turn in range(2000):
    by = Vector(0.5, 0.25) * (turn % 5)
    for shape in shapes:
        shape.move(by)
print(round(sum(shape.area() for shape in shapes), 6))
print(round(sum(shape.place.length for shape in shapes), 6))
print(shapes[3].place)
