"""Shapes with a base class, properties and super()."""


class Shape:
    def __init__(self, name):
        self.name = name

    @property
    def area(self):
        raise NotImplementedError

    def describe(self):
        return f"{self.name}: {self.area:.2f}"


class Rectangle(Shape):
    def __init__(self, width, height):
        super().__init__("rectangle")
        self.width, self.height = width, height

    @property
    def area(self):
        return self.width * self.height


class Square(Rectangle):
    def __init__(self, side):
        super().__init__(side, side)
        self.name = "square"


class Circle(Shape):
    def __init__(self, radius):
        super().__init__("circle")
        self.radius = radius

    @property
    def area(self):
        return 3.14159 * self.radius * self.radius


def run():
    total, letters = 0.0, 0
    for k in range(500):
        for shape in (Rectangle(k, 2), Square(k), Circle(k)):
            total += shape.area
            letters += len(shape.describe())
    return round(total, 2), letters
