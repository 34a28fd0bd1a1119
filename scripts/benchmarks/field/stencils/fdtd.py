"""Stencils: light in two dimensions on Yee's grid, with a lossy block."""

import numpy as np

SIZES = (20, 120, 800)  # cells along a side


class Yee:
    def __init__(self, n):
        self.n = n
        self.ez = np.zeros((n, n))
        self.hx = np.zeros((n, n - 1))
        self.hy = np.zeros((n - 1, n))
        eps = np.ones((n, n))
        sigma = np.zeros((n, n))
        block = slice(n // 2, 3 * n // 4)
        eps[block, block] = 4.0
        sigma[block, block] = 0.01
        loss = sigma * 0.5 / eps
        self.coefficients = {"ceze": (1 - loss) / (1 + loss), "cezh": 0.5 / eps / (1 + loss)}
        self.time = 0

    def update_h(self):
        self.hx -= 0.5 * (self.ez[:, 1:] - self.ez[:, :-1])
        self.hy += 0.5 * (self.ez[1:, :] - self.ez[:-1, :])

    def update_e(self):
        c = self.coefficients
        curl = (self.hy[1:, 1:-1] - self.hy[:-1, 1:-1]) - (self.hx[1:-1, 1:] - self.hx[1:-1, :-1])
        self.ez[1:-1, 1:-1] = c["ceze"][1:-1, 1:-1] * self.ez[1:-1, 1:-1] + c["cezh"][1:-1, 1:-1] * curl

    def source(self):
        self.ez[self.n // 4, self.n // 4] += np.exp(-(((self.time % 300 - 30) / 10) ** 2))

    def step(self):
        self.update_h()
        self.update_e()
        self.source()
        self.time += 1


def run(size, rounds):
    grid = Yee(size)
    for _ in range(rounds):
        for _ in range(10):
            grid.step()
    return grid.ez, grid.hx, grid.hy
