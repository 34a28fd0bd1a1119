"""Images: a bilateral filter in single precision over shifts of the picture."""

import numpy as np

SIZES = (12, 96, 512)  # pixels along a side


class Bilateral:
    def __init__(self, radius=2, space=1.5, tone=0.1):
        self.radius = radius
        self.space = space
        self.tone = tone

    def __call__(self, image):
        r = self.radius
        h, w = image.shape
        padded = np.pad(image, r, mode="reflect")
        total = np.zeros_like(image)
        weights = np.zeros_like(image)
        for dy in range(-r, r + 1):
            for dx in range(-r, r + 1):
                part = padded[r + dy : r + dy + h, r + dx : r + dx + w]
                near = np.float32(np.exp(-(dx * dx + dy * dy) / (2 * self.space**2)))
                weight = near * np.exp(-((part - image) ** 2) / np.float32(2 * self.tone**2))
                total += weight * part
                weights += weight
        return total / weights


def run(size, rounds):
    rng = np.random.default_rng(102)
    x = np.linspace(0, 1, size)
    clean = np.where(x[:, None] > x[None, :], 0.8, 0.2)
    image = np.clip(clean + 0.05 * rng.standard_normal((size, size)), 0, 1).astype(np.float32)
    bilateral = Bilateral()
    for _ in range(rounds):
        smooth = bilateral(image)
        sharp = np.clip(image + 0.5 * (image - smooth), 0, 1)
        out = (sharp * 255).round().astype(np.uint8)
    return smooth, out
