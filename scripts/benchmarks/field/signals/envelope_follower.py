"""Signals: a compressor for stereo in single precision: levels, gain by a knee, and soft clipping."""

import numpy as np

SIZES = (64, 4_096, 409_600)  # samples


class Compressor:
    def __init__(self, threshold=-20.0, ratio=4.0, knee=6.0, makeup=6.0):
        self.threshold = threshold
        self.ratio = ratio
        self.knee = knee
        self.makeup = makeup

    def gain(self, level):
        over = level - self.threshold
        half = self.knee / 2
        slope = 1 / self.ratio - 1
        curve = np.where(
            over < -half,
            0.0,
            np.where(over > half, slope * over, slope * (over + half) ** 2 / (2 * self.knee)),
        )
        return 10 ** ((curve + self.makeup) / 20)

    def level(self, x, block=32):
        square = (x**2).reshape(x.shape[0], -1, block).mean(axis=2)
        return np.repeat(10 * np.log10(square + 1e-9), block, axis=1)

    def process(self, x):
        return x * self.gain(self.level(x))


def clip(x):
    return np.where(np.abs(x) < 2 / 3, x - x**3 / 3 * 1.5, np.tanh(x))


def run(size, rounds):
    t = np.arange(size, dtype=np.float32) / 44_100
    rng = np.random.default_rng(29)
    stereo = np.stack([np.sin(440 * t), np.cos(330 * t)]).astype(np.float32)
    stereo *= np.abs(rng.standard_normal(size)).astype(np.float32)
    compressor = Compressor()
    for _ in range(rounds):
        out = clip(compressor.process(stereo))
        middle, side = (out[0] + out[1]) / 2, (out[0] - out[1]) / 2
        width = np.sqrt((side**2).mean() / (middle**2).mean())
    return out, width
