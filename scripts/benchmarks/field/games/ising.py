"""Games: spins of the Ising model in a checkerboard order, magnetisation and energy."""

import numpy as np

SIZES = (8, 64, 512)  # spins along a side


class Ising:
    def __init__(self, n, temperature, coupling=1.0):
        self.n = n
        self.beta = 1.0 / temperature
        self.coupling = coupling
        i, j = np.indices((n, n))
        self.colour = (i + j) % 2
        self.spins = np.ones((n, n), dtype=np.int8)
        self.spins[(i * 7 + j * 3) % 5 == 0] = -1

    def neighbours(self):
        s = self.spins
        return np.roll(s, 1, 0) + np.roll(s, -1, 0) + np.roll(s, 1, 1) + np.roll(s, -1, 1)

    def half_sweep(self, colour, luck):
        cost = 2.0 * self.coupling * self.spins * self.neighbours()
        flip = (luck < np.exp(-self.beta * cost)) & (self.colour == colour)
        self.spins = np.where(flip, -self.spins, self.spins)

    def magnetisation(self):
        return abs(self.spins.mean())

    def energy(self):
        return -self.coupling * (self.spins * self.neighbours()).sum() / 2 / self.n**2


def run(size, rounds):
    luck = np.random.default_rng(43).random((5, 2, size, size))
    for number in range(rounds):
        model = Ising(size, 2.0 + 0.1 * (number % 5))
        for first, second in luck:
            model.half_sweep(0, first)
            model.half_sweep(1, second)
        m, e = model.magnetisation(), model.energy()
    return model.spins, m, e


def by_hand(njit):
    @njit
    def sweep(spins, colour, beta, luck):
        n = spins.shape[0]
        for i in range(n):
            for j in range(n):
                if (i + j) % 2 == colour:
                    around = spins[i - 1, j] + spins[(i + 1) % n, j] + spins[i, j - 1] + spins[i, (j + 1) % n]
                    if luck[i, j] < np.exp(-beta * (2.0 * spins[i, j] * around)):
                        spins[i, j] = -spins[i, j]

    def by_loops(size, rounds):
        luck = np.random.default_rng(43).random((5, 2, size, size))
        for number in range(rounds):
            model = Ising(size, 2.0 + 0.1 * (number % 5))
            for pair in luck:
                sweep(model.spins, 0, model.beta, pair[0])
                sweep(model.spins, 1, model.beta, pair[1])
            m, e = model.magnetisation(), model.energy()
        return model.spins, m, e

    return {"run": by_loops}
