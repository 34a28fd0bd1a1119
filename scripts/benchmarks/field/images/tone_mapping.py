"""Images: high dynamic range to bytes, with Reinhard's operator and gamma."""

import numpy as np

SIZES = (10, 100, 1_000)  # pixels along a side


def luminance(rgb):
    return 0.2126 * rgb[..., 0] + 0.7152 * rgb[..., 1] + 0.0722 * rgb[..., 2]


def reinhard(rgb, key=0.18, white=4.0):
    lum = luminance(rgb)
    average = np.exp(np.mean(np.log(lum + 1e-6)))
    scaled = key / average * lum
    mapped = scaled * (1 + scaled / white**2) / (1 + scaled)
    return rgb * (mapped / (lum + 1e-6))[..., None]


def encode(linear):
    low = linear * 12.92
    high = 1.055 * np.power(np.maximum(linear, 1e-8), 1 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, low, high)


def run(size, rounds):
    rng = np.random.default_rng(15)
    hdr = np.exp(rng.normal(0, 2, (size, size, 3))).astype(np.float32)
    for number in range(rounds):
        exposure = 2.0 ** (number % 3 - 1)
        out = encode(np.clip(reinhard(hdr * np.float32(exposure)), 0, 1))
        image = (out * 255 + 0.5).astype(np.uint8)
    return image, image.mean()


def by_numexpr(numexpr):
    def encode(linear):
        return numexpr.evaluate(
            "where(linear <= 0.0031308, linear * 12.92,"
            " 1.055 * where(linear < 1e-8, 1e-8, linear) ** 0.4166666666666667 - 0.055)"
        ).astype(linear.dtype)

    return {"encode": encode}
