"""Particles with float attributes in a box."""


class Particle:
    def __init__(self, x, y, vx, vy):
        self.x, self.y, self.vx, self.vy = x, y, vx, vy

    def move(self, step):
        self.x += self.vx * step
        self.y += self.vy * step
        if not 0.0 <= self.x <= 1.0:
            self.vx = -self.vx
        if not 0.0 <= self.y <= 1.0:
            self.vy = -self.vy

    def energy(self):
        return 0.5 * (self.vx**2 + self.vy**2)


class Box:
    def __init__(self, count):
        self.particles = [Particle(k / count, 0.5, 0.1 * (k % 7), 0.05 * (k % 5)) for k in range(count)]

    def advance(self, step):
        for particle in self.particles:
            particle.move(step)

    def energy(self):
        return sum(particle.energy() for particle in self.particles)


def run():
    box = Box(100)
    for _ in range(60):
        box.advance(0.01)
    return round(box.energy(), 6)
