"""Images: layers with alpha laid over each other, all in integers."""

import numpy as np

SIZES = (10, 100, 1_000)  # pixels along a side


class Layer:
    def __init__(self, pixels, alpha, mode="normal"):
        self.pixels = pixels
        self.alpha = alpha
        self.mode = mode

    def blend(self, below):
        top = self.pixels.astype(np.int32)
        under = below.astype(np.int32)
        if self.mode == "multiply":
            return top * under // 255
        if self.mode == "screen":
            return 255 - (255 - top) * (255 - under) // 255
        if self.mode == "difference":
            return np.abs(top - under)
        return top

    def over(self, below):
        a = self.alpha.astype(np.int32)[..., None]
        mixed = (self.blend(below) * a + below.astype(np.int32) * (255 - a) + 127) // 255
        return np.minimum(mixed, 255).astype(np.uint8)


def run(size, rounds):
    rng = np.random.default_rng(18)
    layers = [
        Layer(
            rng.integers(0, 256, (size, size, 3), dtype=np.uint8),
            rng.integers(0, 256, (size, size), dtype=np.uint8),
            mode,
        )
        for mode in ("normal", "multiply", "screen", "difference")
    ]
    for _ in range(rounds):
        canvas = np.full((size, size, 3), 255, np.uint8)
        for layer in layers:
            canvas = layer.over(canvas)
    return (canvas,)
