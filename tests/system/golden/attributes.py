"""Attributes of instances, a method and a property."""


class Box:
    unit = 2

    def __init__(self, width, height):
        self.width = width
        self.height = height

    @property
    def area(self):
        return self.width * self.height

    def grown(self, by):
        return Box(self.width + by, self.height + by * self.unit)


def program(box):
    box.width += 1
    return box.grown(3).area


CALLS = [(Box(2, 3),) for _ in range(3)]
