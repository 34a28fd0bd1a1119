"""Physics: rays from a camera onto spheres, light and shadow, vectors as three arrays."""

import numpy as np

SIZES = (10, 64, 400)  # pixels along a side


class Vec:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k, self.z * k)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def unit(self):
        length = np.sqrt(self.dot(self))
        return self * (1.0 / np.where(length == 0, 1, length))


FAR = 1e30


class Sphere:
    def __init__(self, centre, radius, colour):
        self.centre, self.radius, self.colour = centre, radius, colour

    def hit(self, origin, direction):
        to = origin - self.centre
        b = 2 * direction.dot(to)
        c = self.centre.dot(self.centre) + origin.dot(origin) - 2 * self.centre.dot(origin) - self.radius**2
        disc = b**2 - 4 * c
        root = np.sqrt(np.maximum(0, disc))
        near, far = (-b - root) / 2, (-b + root) / 2
        h = np.where((near > 1e-6) & (near < far), near, far)
        return np.where((disc > 0) & (h > 1e-6), h, FAR)


def shade(spheres, origin, direction, light):
    hits = [sphere.hit(origin, direction) for sphere in spheres]
    nearest = np.minimum.reduce(hits)
    image = np.zeros((3, *nearest.shape))
    for sphere, hit in zip(spheres, hits):
        mine = (hit == nearest) & (hit < FAR)
        point = origin + direction * np.where(mine, hit, 0.0)
        normal = (point - sphere.centre) * (1.0 / sphere.radius)
        to_light = (light - point).unit()
        diffuse = np.maximum(normal.dot(to_light), 0)
        half = (to_light - direction).unit()
        shine = np.power(np.clip(normal.dot(half), 0, 1), 50)
        for k, part in enumerate(sphere.colour):
            image[k] += np.where(mine, part * diffuse + shine, 0.0)
    return np.clip(image, 0, 1), nearest


def run(size, rounds):
    x, y = np.meshgrid(np.linspace(-1, 1, size), np.linspace(-1, 1, size))
    eye = Vec(0.0, 0.35, -1.0)
    direction = (Vec(x, y, np.zeros_like(x)) - eye).unit()
    for number in range(rounds):
        spheres = [
            Sphere(Vec(0.75, 0.1, 1.0), 0.6, (0, 0, 1)),
            Sphere(Vec(-0.75, 0.1, 2.25 - 0.1 * (number % 3)), 0.6, (0.5, 0.22, 0.5)),
            Sphere(Vec(0.0, -99999.5, 0.0), 99999, (0.7, 0.7, 0.6)),
        ]
        image, nearest = shade(spheres, eye, direction, Vec(5.0, 5.0, -10.0))
    return (255 * image).astype(np.uint8), nearest
