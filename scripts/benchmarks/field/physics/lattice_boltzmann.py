"""Physics: flow round a cylinder by lattice Boltzmann with nine velocities."""

import numpy as np

SIZES = (12, 60, 200)  # rows; twice as many columns

CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
OPPOSITE = [0, 3, 4, 1, 2, 7, 8, 5, 6]


class Flow:
    def __init__(self, rows, tau=0.6, speed=0.1):
        self.tau = tau
        self.speed = speed
        columns = 2 * rows
        x, y = np.meshgrid(np.arange(columns), np.arange(rows))
        self.cylinder = (x - columns / 4) ** 2 + (y - rows / 2) ** 2 < (rows / 8) ** 2
        rho = np.ones((rows, columns))
        ux = speed * (1 + 0.01 * np.sin(2 * np.pi * y / rows))
        self.f = self.equilibrium(rho, ux, np.zeros_like(ux))

    def equilibrium(self, rho, ux, uy):
        square = 1.5 * (ux**2 + uy**2)
        f = np.empty((9, *rho.shape))
        for i in range(9):
            cu = 3 * (CX[i] * ux + CY[i] * uy)
            f[i] = WEIGHTS[i] * rho * (1 + cu + 0.5 * cu**2 - square)
        return f

    def stream(self):
        for i in range(9):
            self.f[i] = np.roll(np.roll(self.f[i], CX[i], axis=1), CY[i], axis=0)

    def step(self):
        self.stream()
        bounced = self.f[:, self.cylinder][OPPOSITE]
        rho = self.f.sum(axis=0)
        ux = (self.f[[1, 5, 8]].sum(axis=0) - self.f[[3, 6, 7]].sum(axis=0)) / rho
        uy = (self.f[[2, 5, 6]].sum(axis=0) - self.f[[4, 7, 8]].sum(axis=0)) / rho
        self.f += (self.equilibrium(rho, ux, uy) - self.f) / self.tau
        self.f[:, self.cylinder] = bounced
        return ux, uy


def run(size, rounds):
    for _ in range(rounds):
        flow = Flow(size)
        for _ in range(5):
            ux, uy = flow.step()
        vorticity = (np.roll(uy, -1, 1) - np.roll(uy, 1, 1)) - (np.roll(ux, -1, 0) - np.roll(ux, 1, 0))
    return flow.f, vorticity
