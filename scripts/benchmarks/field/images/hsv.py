"""Images: hue, saturation and value of pixels, turned and turned back, by masks."""

import numpy as np

SIZES = (10, 100, 1_000)  # pixels along a side


def rgb_to_hsv(rgb):
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    high = rgb.max(axis=-1)
    low = rgb.min(axis=-1)
    delta = high - low
    hue = np.zeros_like(high)
    has = delta > 0
    index = has & (high == r)
    hue[index] = ((g[index] - b[index]) / delta[index]) % 6
    index = has & (high == g) & (high != r)
    hue[index] = (b[index] - r[index]) / delta[index] + 2
    index = has & (high == b) & (high != r) & (high != g)
    hue[index] = (r[index] - g[index]) / delta[index] + 4
    saturation = np.where(high > 0, delta / np.where(high > 0, high, 1), 0)
    return hue / 6, saturation, high


def hsv_to_rgb(h, s, v):
    i = np.floor(h * 6)
    f = h * 6 - i
    p = v * (1 - s)
    q = v * (1 - f * s)
    t = v * (1 - (1 - f) * s)
    i = i.astype(np.int64) % 6
    r = np.choose(i, [v, q, p, p, t, v])
    g = np.choose(i, [t, v, v, q, p, p])
    b = np.choose(i, [p, p, t, v, v, q])
    return np.stack([r, g, b], axis=-1)


def run(size, rounds):
    image = np.random.default_rng(16).integers(0, 256, (size, size, 3), dtype=np.uint8)
    for number in range(rounds):
        h, s, v = rgb_to_hsv(image / 255.0)
        h = (h + 0.1 * (number % 5)) % 1.0
        s = np.minimum(s * 1.2, 1.0)
        turned = (hsv_to_rgb(h, s, v) * 255 + 0.5).astype(np.uint8)
    return turned, h
