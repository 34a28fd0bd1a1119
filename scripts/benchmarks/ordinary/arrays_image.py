"""An image as a large array: blur, edges, a histogram."""

import numpy as np


def blur(image):
    inner = image[1:-1, 1:-1]
    total = inner + image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:]
    out = image.copy()
    out[1:-1, 1:-1] = total / 5
    return out


def edges(image):
    across = np.abs(np.diff(image, axis=1))[:-1]
    down = np.abs(np.diff(image, axis=0))[:, :-1]
    return np.sqrt(across**2 + down**2)


y, x = np.mgrid[0:700, 0:700]
image = np.sin(x / 30) * np.cos(y / 20) + (x * y % 17) / 17
for _ in range(70):
    image = blur(image)
found = edges(image)
print(found.shape, round(float(found.mean()), 9))
counts, _ = np.histogram(image, bins=10)
print(counts.tolist())
