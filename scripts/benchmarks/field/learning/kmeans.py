"""Learning: k-means with centres far apart at first, empty clusters looked after."""

import numpy as np

SIZES = (20, 1_000, 50_000)  # points in the plane; eight centres


class KMeans:
    def __init__(self, k, most=10, tolerance=1e-6):
        self.k = k
        self.most = most
        self.tolerance = tolerance

    def distances(self, x, centres):
        return ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)

    def start(self, x):
        centres = x[:1]
        for _ in range(self.k - 1):
            nearest = self.distances(x, centres).min(axis=1)
            centres = np.vstack([centres, x[np.argmax(nearest)]])
        return centres

    def fit(self, x):
        centres = self.start(x)
        for self.iterations in range(self.most):
            d = self.distances(x, centres)
            labels = d.argmin(axis=1)
            new = centres.copy()
            for k in range(self.k):
                mine = labels == k
                if mine.any():
                    new[k] = x[mine].mean(axis=0)
            moved = np.abs(new - centres).max()
            centres = new
            if moved < self.tolerance:
                break
        self.centres = centres
        self.labels = labels
        self.inertia = d[np.arange(len(x)), labels].sum()
        return self


def run(size, rounds):
    rng = np.random.default_rng(46)
    x = rng.standard_normal((size, 2)) + 4 * rng.integers(0, 3, (size, 2))
    for _ in range(rounds):
        model = KMeans(8).fit(x)
    return model.centres, model.labels, model.inertia
