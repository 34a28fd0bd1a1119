"""Learning: cells with gates (GRU) over sequences, forwards only, small matrices."""

import numpy as np

SIZES = (2, 32, 512)  # sequences of 20 steps; 16 units


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class GRU:
    def __init__(self, inputs, units, seed=48):
        rng = np.random.default_rng(seed)
        self.params = {}
        for gate in ("z", "r", "h"):
            self.params["W" + gate] = rng.standard_normal((inputs, units)) / np.sqrt(inputs)
            self.params["U" + gate] = rng.standard_normal((units, units)) / np.sqrt(units)
            self.params["b" + gate] = np.zeros(units)
        self.units = units

    def cell(self, x, h):
        p = self.params
        z = sigmoid(x @ p["Wz"] + h @ p["Uz"] + p["bz"])
        r = sigmoid(x @ p["Wr"] + h @ p["Ur"] + p["br"])
        candidate = np.tanh(x @ p["Wh"] + (r * h) @ p["Uh"] + p["bh"])
        return (1 - z) * h + z * candidate

    def forward(self, xs):
        h = np.zeros((xs.shape[1], self.units))
        states = []
        for x in xs:
            h = self.cell(x, h)
            states.append(h)
        return np.stack(states)


def run(size, rounds):
    xs = np.random.default_rng(49).standard_normal((20, size, 8))
    model = GRU(8, 16)
    for _ in range(rounds):
        states = model.forward(xs)
        energy = (states**2).mean()
    return states[-1], energy
