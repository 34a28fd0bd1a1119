"""Simulates a stock day by day, many paths at once, and prices path-dependent options on it (Monte Carlo)."""

import math

import matplotlib.cbook
import numpy as np

from running import run

DAYS = 252


class Market:
    def __init__(self, spot, rate, volatility):
        self.spot = spot
        self.rate = rate
        self.volatility = volatility

    @property
    def drift(self):
        return (self.rate - 0.5 * self.volatility**2) / DAYS

    def advance(self, prices, noise):
        """Prices a day later: geometric Brownian motion."""
        return prices * np.exp(self.drift + self.volatility / math.sqrt(DAYS) * noise)


class Paths:
    """What has to be known of each path: the last price, the sum, the extremes."""

    def __init__(self, spot, count):
        self.last = np.full(count, spot)
        self.total = np.zeros(count)
        self.low = self.last.copy()
        self.high = self.last.copy()

    def take(self, prices):
        self.last = prices
        self.total += prices
        np.minimum(self.low, prices, out=self.low)
        np.maximum(self.high, prices, out=self.high)


def market():
    with matplotlib.cbook.get_sample_data("goog.npz") as data:
        close = data["price_data"]["adj_close"]
    returns = np.diff(np.log(close))
    return Market(float(close[-1]), 0.03, float(returns[-DAYS:].std(ddof=1)) * math.sqrt(DAYS))


def simulate(market, days, count, random):
    paths = Paths(market.spot, count)
    for _ in range(days):
        paths.take(market.advance(paths.last, random.standard_normal(count)))
    return paths


def payoffs(paths, days, strike, barrier):
    european = np.maximum(paths.last - strike, 0.0)
    asian = np.maximum(paths.total / days - strike, 0.0)
    knocked_out = np.where(paths.high < barrier, european, 0.0)
    lookback = paths.last - paths.low
    return np.stack([european, asian, knocked_out, lookback])


def estimate(values, discount):
    """Mean and standard error of each option."""
    mean = discount * values.mean(axis=1)
    error = discount * values.std(axis=1, ddof=1) / math.sqrt(values.shape[1])
    return np.stack([mean, error])


def work():
    world = market()
    random = np.random.default_rng(20_000)
    tables = []
    for days in (21, 63, 126):
        paths = simulate(world, days, 4096, random)
        values = payoffs(paths, days, world.spot, 1.3 * world.spot)
        tables.append(estimate(values, math.exp(-world.rate * days / DAYS)))
    table = np.stack(tables)
    for name, column in zip(("european", "asian", "knock-out", "lookback"), range(4)):
        print(f"{name:9}: {table[-1, 0, column]:.6f} with error {table[-1, 1, column]:.6f}")
    return {"table": table, "last": paths.last, "low": paths.low, "high": paths.high}


if __name__ == "__main__":
    run(work, __doc__)
