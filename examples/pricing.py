"""Volatility of a stock and prices of options on it: three estimates, an option chain, implied volatilities."""

import math

import matplotlib.cbook
import numpy as np

from running import run

DAYS = 252.0


def load():
    with matplotlib.cbook.get_sample_data("goog.npz") as data:
        return data["price_data"]


def log_returns(close):
    return np.diff(np.log(close))


def rolling_volatility(returns, window):
    """Standard deviation over a sliding window, annualised, from running sums."""
    ones = np.concatenate(([0.0], np.cumsum(returns)))
    squares = np.concatenate(([0.0], np.cumsum(returns * returns)))
    mean = (ones[window:] - ones[:-window]) / window
    variance = (squares[window:] - squares[:-window]) / window - mean * mean
    return np.sqrt(np.maximum(variance, 0.0) * DAYS * window / (window - 1))


def ewma_step(variance, r, decay):
    return decay * variance + (1.0 - decay) * r * r


def ewma_volatility(returns, decay=0.94):
    variance = returns[0] * returns[0]
    out = np.empty(len(returns))
    for day, r in enumerate(returns):
        variance = ewma_step(variance, r, decay)
        out[day] = variance
    return np.sqrt(out * DAYS)


def parkinson_volatility(high, low):
    spread = np.log(high / low)
    return math.sqrt(np.mean(spread * spread) / (4.0 * math.log(2.0)) * DAYS)


def normal_cdf(x):
    """Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17: absolute error below 7.5e-8."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    upper = normal_pdf(x) * poly
    return np.where(x >= 0.0, 1.0 - upper, upper)


def normal_pdf(x):
    return np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def d1_d2(spot, strike, rate, sigma, years):
    root = sigma * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma * sigma) * years) / root
    return d1, d1 - root


def call_price(spot, strike, rate, sigma, years):
    """Black and Scholes, The Pricing of Options and Corporate Liabilities (1973)."""
    d1, d2 = d1_d2(spot, strike, rate, sigma, years)
    return spot * normal_cdf(d1) - strike * np.exp(-rate * years) * normal_cdf(d2)


def put_price(spot, strike, rate, sigma, years):
    return call_price(spot, strike, rate, sigma, years) - spot + strike * np.exp(-rate * years)


def greeks(spot, strike, rate, sigma, years):
    d1, d2 = d1_d2(spot, strike, rate, sigma, years)
    density = normal_pdf(d1)
    delta = normal_cdf(d1)
    gamma = density / (spot * sigma * math.sqrt(years))
    vega = spot * density * math.sqrt(years)
    decay = -spot * density * sigma / (2.0 * math.sqrt(years))
    theta = decay - rate * strike * math.exp(-rate * years) * normal_cdf(d2)
    return delta, gamma, vega, theta


def implied_volatility(price, spot, strike, rate, years, steps=12):
    sigma = np.full_like(strike, 0.5)
    for _ in range(steps):
        error = call_price(spot, strike, rate, sigma, years) - price
        vega = greeks(spot, strike, rate, sigma, years)[2]
        sigma = np.clip(sigma - error / np.maximum(vega, 1e-8), 0.01, 4.0)
    return sigma


def smile(strike, spot, level):
    moneyness = np.log(strike / spot)
    return level * (1.0 + 0.9 * moneyness * moneyness - 0.25 * moneyness)


def work():
    data = load()
    close = data["adj_close"]
    returns = log_returns(close)
    month, quarter = rolling_volatility(returns, 21), rolling_volatility(returns, 63)
    ewma = ewma_volatility(returns)
    print(f"volatility: month {month[-1]:.6f}, quarter {quarter[-1]:.6f}, weighted {ewma[-1]:.6f}")
    print(f"volatility from high and low: {parkinson_volatility(data['high'], data['low']):.6f}")

    spot, rate = float(close[-1]), 0.03
    strikes = np.round(spot * np.linspace(0.7, 1.3, 25), 0)
    chains, recovered = [], []
    for days in range(5, 255, 5):
        years = days / DAYS
        sigma = smile(strikes, spot, float(ewma[-1]))
        calls = call_price(spot, strikes, rate, sigma, years)
        puts = put_price(spot, strikes, rate, sigma, years)
        chains.append(np.stack([calls, puts, *greeks(spot, strikes, rate, sigma, years)]))
        recovered.append(implied_volatility(calls, spot, strikes, rate, years))
    chain, implied = np.stack(chains), np.stack(recovered)
    print(f"at the money, a year: call {chain[-1, 0, 12]:.6f}, put {chain[-1, 1, 12]:.6f}")
    print(f"implied volatility a year out: {implied[-1].min():.6f} to {implied[-1].max():.6f}")
    return {"month": month, "quarter": quarter, "weighted": ewma, "chain": chain, "implied": implied}


if __name__ == "__main__":
    run(work, __doc__)
