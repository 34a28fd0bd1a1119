"""Physics: neutrons through a slab: free paths, scattering and absorption of all that are left."""

import numpy as np

SIZES = (20, 2_000, 200_000)  # neutrons


class Slab:
    def __init__(self, thickness, total, absorbed):
        self.thickness = thickness
        self.total = total
        self.absorbed = absorbed

    def transport(self, draws):
        n = draws.shape[2]
        x = np.zeros(n)
        mu = np.ones(n)
        weight = np.ones(n)
        alive = np.ones(n, dtype=bool)
        counts = {"through": 0.0, "back": 0.0, "absorbed": 0.0}
        for path, angle in draws:
            x = np.where(alive, x - mu * np.log(path) / self.total, x)
            through = alive & (x > self.thickness)
            back = alive & (x < 0)
            counts["through"] += weight[through].sum()
            counts["back"] += weight[back].sum()
            alive &= ~(through | back)
            lost = weight * self.absorbed / self.total
            counts["absorbed"] += lost[alive].sum()
            weight = np.where(alive, weight - lost, weight)
            mu = np.where(alive, 2 * angle - 1, mu)
            if not alive.any():
                break
        return counts, weight, alive


def run(size, rounds):
    draws = np.random.default_rng(67).random((12, 2, size)) * 0.999999 + 5e-7
    for number in range(rounds):
        counts, weight, alive = Slab(2.0 + number % 3, 1.0, 0.3).transport(draws)
    return counts["through"], counts["back"], counts["absorbed"], weight, alive
