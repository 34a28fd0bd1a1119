"""Filters a photograph: blur, sharpening, edges, a tone curve and a vignette, made of shifted sums."""

import matplotlib.cbook
import numpy as np
from PIL import Image

from running import run


def load():
    with matplotlib.cbook.get_sample_data("grace_hopper.jpg") as file:
        return np.asarray(Image.open(file), dtype=np.float64) / 255.0


def luminance(image):
    return 0.2126 * image[:, :, 0] + 0.7152 * image[:, :, 1] + 0.0722 * image[:, :, 2]


def gaussian_weights(radius, sigma):
    weights = [np.exp(-0.5 * (offset / sigma) ** 2) for offset in range(-radius, radius + 1)]
    total = sum(weights)
    return [weight / total for weight in weights]


def shifted(plane, rows, columns):
    """The plane moved by so many rows and columns; what leaves on one side comes back on the other."""
    return np.roll(plane, (rows, columns), axis=(0, 1))


def blur(plane, radius, sigma):
    weights = gaussian_weights(radius, sigma)
    across = np.zeros_like(plane)
    for offset, weight in zip(range(-radius, radius + 1), weights):
        across += weight * shifted(plane, 0, offset)
    down = np.zeros_like(plane)
    for offset, weight in zip(range(-radius, radius + 1), weights):
        down += weight * shifted(across, offset, 0)
    return down


def sharpen(plane, amount, radius=2, sigma=1.0):
    return plane + amount * (plane - blur(plane, radius, sigma))


def edges(plane):
    left, right = shifted(plane, 0, 1), shifted(plane, 0, -1)
    above, below = shifted(plane, 1, 0), shifted(plane, -1, 0)
    dx = 2.0 * (right - left) + shifted(right - left, 1, 0) + shifted(right - left, -1, 0)
    dy = 2.0 * (below - above) + shifted(below - above, 0, 1) + shifted(below - above, 0, -1)
    return np.sqrt(dx * dx + dy * dy)


def tone(plane, contrast, gamma):
    curve = 1.0 / (1.0 + np.exp(-contrast * (plane - 0.5)))
    low = 1.0 / (1.0 + np.exp(0.5 * contrast))
    high = 1.0 / (1.0 + np.exp(-0.5 * contrast))
    return np.clip((curve - low) / (high - low), 0.0, 1.0) ** gamma


def vignette(plane, strength):
    rows = np.linspace(-1.0, 1.0, plane.shape[0])[:, np.newaxis]
    columns = np.linspace(-1.0, 1.0, plane.shape[1])
    return plane * (1.0 - strength * (rows * rows + columns * columns) / 2.0)


def develop(plane, contrast):
    plane = sharpen(plane, 0.8)
    plane = tone(plane, contrast, 0.9)
    return vignette(plane, 0.35)


def work():
    image = load()
    grey = luminance(image)
    outlines = edges(blur(grey, 2, 1.2))
    print(f"grey: mean {grey.mean():.6f}, edges: mean {outlines.mean():.6f}, strongest {outlines.max():.6f}")
    finished = np.empty_like(image)
    for channel in range(3):
        finished[:, :, channel] = develop(image[:, :, channel], contrast=6.0)
        print(f"channel {channel}: mean {finished[:, :, channel].mean():.6f}")
    bytes_ = (finished * 255.0 + 0.5).astype(np.uint8)
    return {"grey": grey, "outlines": outlines, "finished": finished, "bytes": bytes_}


if __name__ == "__main__":
    run(work, __doc__)
