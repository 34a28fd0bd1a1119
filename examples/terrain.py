"""Fills a gap in a map of heights by relaxation, then lights the map from the side."""

import matplotlib.cbook
import numpy as np

from running import run


def load():
    with matplotlib.cbook.get_sample_data("jacksboro_fault_dem.npz") as data:
        return data["elevation"].astype(np.float64)


def gap(shape):
    """True inside a slanted ellipse in the middle of the map: the part that is missing."""
    rows, columns = np.ogrid[-1.0 : 1.0 : shape[0] * 1j, -1.0 : 1.0 : shape[1] * 1j]
    along, across = rows + columns, rows - columns
    return along * along / 0.5 + across * across / 0.1 < 1.0


def relax(heights):
    """One step of Jacobi's method for Laplace's equation on the inner points."""
    return 0.25 * (heights[:-2, 1:-1] + heights[2:, 1:-1] + heights[1:-1, :-2] + heights[1:-1, 2:])


def step(heights, missing):
    following = heights.copy()
    following[1:-1, 1:-1] = np.where(missing[1:-1, 1:-1], relax(heights), heights[1:-1, 1:-1])
    change = float(np.abs(following - heights).max())
    return following, change


def fill(heights, missing, steps, tolerance):
    heights = np.where(missing, heights[~missing].mean(), heights)
    change = 0.0
    for number in range(steps):
        heights, change = step(heights, missing)
        if change < tolerance:
            return heights, number + 1, change
    return heights, steps, change


def shade(heights, azimuth, altitude, scale):
    """Brightness of a surface of matt material: the cosine between its normal and the direction of the light."""
    dy = (heights[2:, 1:-1] - heights[:-2, 1:-1]) * 0.5 * scale
    dx = (heights[1:-1, 2:] - heights[1:-1, :-2]) * 0.5 * scale
    length = np.sqrt(1.0 + dx * dx + dy * dy)
    light = np.cos(altitude) * (np.sin(azimuth) * dx + np.cos(azimuth) * dy) + np.sin(altitude)
    return np.maximum(light / length, 0.0)


def work():
    heights = load()
    missing = gap(heights.shape)
    filled, steps, change = fill(heights, missing, steps=150, tolerance=0.02)
    error = np.sqrt(np.mean((filled[missing] - heights[missing]) ** 2))
    print(f"{missing.sum()} points missing; {steps} steps, last change {change:.6f}, error {error:.6f} m")
    lights = [
        shade(filled, azimuth, 0.6, 0.05) for azimuth in np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    ]
    relief = np.stack(lights)
    print(f"brightness: mean {relief.mean():.6f}, darkest {relief.min():.6f}, brightest {relief.max():.6f}")
    return {"filled": filled, "relief": relief}


if __name__ == "__main__":
    run(work, __doc__)
