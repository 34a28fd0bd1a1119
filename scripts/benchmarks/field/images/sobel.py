"""Images: edges by Sobel in single precision, thinned along four directions."""

import numpy as np

SIZES = (16, 128, 1_024)  # pixels along a side


def gradients(g):
    gx = (g[:-2, 2:] + 2 * g[1:-1, 2:] + g[2:, 2:]) - (g[:-2, :-2] + 2 * g[1:-1, :-2] + g[2:, :-2])
    gy = (g[2:, :-2] + 2 * g[2:, 1:-1] + g[2:, 2:]) - (g[:-2, :-2] + 2 * g[:-2, 1:-1] + g[:-2, 2:])
    return gx, gy


def thin(magnitude, gx, gy):
    m = np.pad(magnitude, 1)
    centre = m[1:-1, 1:-1]
    horizontal = (centre >= m[1:-1, :-2]) & (centre >= m[1:-1, 2:])
    vertical = (centre >= m[:-2, 1:-1]) & (centre >= m[2:, 1:-1])
    rising = (centre >= m[:-2, 2:]) & (centre >= m[2:, :-2])
    falling = (centre >= m[:-2, :-2]) & (centre >= m[2:, 2:])
    ax, ay = np.abs(gx), np.abs(gy)
    diagonal = np.where(gx * gy > 0, falling, rising)
    keep = np.where(ay < 0.414 * ax, horizontal, np.where(ay > 2.414 * ax, vertical, diagonal))
    return np.where(keep, magnitude, np.float32(0))


def run(size, rounds):
    rng = np.random.default_rng(14)
    rgb = rng.integers(0, 256, (size, size, 3), dtype=np.uint8)
    for _ in range(rounds):
        weights = np.array([0.299, 0.587, 0.114], dtype=np.float32)
        grey = (rgb * weights).sum(axis=2)
        gx, gy = gradients(grey)
        magnitude = np.sqrt(gx**2 + gy**2)
        edges = thin(magnitude, gx, gy)
        strong = edges > 0.5 * edges.max()
    return edges, strong, int(strong.sum())


def by_hand(njit):
    @njit
    def gradient(rgb, gx, gy, magnitude):
        h, w = rgb.shape[0], rgb.shape[1]
        a, b, c = np.float32(0.299), np.float32(0.587), np.float32(0.114)
        grey = np.empty((h, w), np.float32)
        for i in range(h):
            for j in range(w):
                grey[i, j] = a * rgb[i, j, 0] + b * rgb[i, j, 1] + c * rgb[i, j, 2]
        g = grey
        for i in range(h - 2):
            for j in range(w - 2):
                x = g[i, j + 2] + 2 * g[i + 1, j + 2] + g[i + 2, j + 2]
                x -= g[i, j] + 2 * g[i + 1, j] + g[i + 2, j]
                y = g[i + 2, j] + 2 * g[i + 2, j + 1] + g[i + 2, j + 2]
                y -= g[i, j] + 2 * g[i, j + 1] + g[i, j + 2]
                gx[i, j] = x
                gy[i, j] = y
                magnitude[i, j] = np.sqrt(gx[i, j] ** 2 + gy[i, j] ** 2)

    @njit
    def suppress(m, gx, gy, edges):
        for i in range(m.shape[0]):
            for j in range(m.shape[1]):
                ax, ay = abs(gx[i, j]), abs(gy[i, j])
                if ay < np.float32(0.414) * ax:
                    di, dj = 0, 1
                elif ay > np.float32(2.414) * ax:
                    di, dj = 1, 0
                elif gx[i, j] * gy[i, j] > 0:
                    di, dj = 1, 1
                else:
                    di, dj = -1, 1
                keep = True
                for s in (-1, 1):
                    k, q = i + s * di, j + s * dj
                    if 0 <= k < m.shape[0] and 0 <= q < m.shape[1] and m[i, j] < m[k, q]:
                        keep = False
                edges[i, j] = m[i, j] if keep else 0

    def by_loops(size, rounds):
        rgb = np.random.default_rng(14).integers(0, 256, (size, size, 3), dtype=np.uint8)
        gx, gy, magnitude, edges = (np.empty((size - 2, size - 2), np.float32) for _ in range(4))
        for _ in range(rounds):
            gradient(rgb, gx, gy, magnitude)
            suppress(magnitude, gx, gy, edges)
            strong = edges > 0.5 * edges.max()
        return edges, strong, int(strong.sum())

    return {"run": by_loops}
