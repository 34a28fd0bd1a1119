"""Finance: returns, rolling volatility, drawdown and value at risk of a portfolio of stocks."""

import numpy as np

SIZES = (60, 2_500, 250_000)  # days of eight stocks


def log_returns(prices):
    return np.log(prices[1:] / prices[:-1])


def rolling_mean(x, window):
    total = np.cumsum(np.concatenate(([0.0], x)))
    return (total[window:] - total[:-window]) / window


def rolling_std(x, window):
    mean = rolling_mean(x, window)
    square = rolling_mean(x * x, window)
    return np.sqrt(np.maximum(square - mean**2, 0))


def drawdown(wealth):
    peak = np.maximum.accumulate(wealth)
    return (peak - wealth) / peak


def sharpe(returns, rate=0.02, days=252):
    excess = returns - rate / days
    return np.sqrt(days) * excess.mean() / excess.std()


def run(size, rounds):
    rng = np.random.default_rng(10)
    steps = rng.normal(2e-4, 0.01, (size, 8))
    prices = 50 * np.exp(np.cumsum(steps, axis=0))
    weights = np.array([0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.05, 0.05])
    for _ in range(rounds):
        r = log_returns(prices)
        total = r @ weights
        vol = rolling_std(total, 20) * np.sqrt(252)
        wealth = np.exp(np.cumsum(total))
        worst = drawdown(wealth).max()
        ordered = np.sort(total)
        var = -ordered[int(0.05 * len(ordered))]
        covariance = (r - r.mean(axis=0)).T @ (r - r.mean(axis=0)) / (len(r) - 1)
        ratio = sharpe(total)
        z = (vol - vol.mean()) / vol.std()
        calm = np.where(np.abs(z) < 1, 1.0, 0.5)
    return vol, worst, var, covariance, ratio, calm
