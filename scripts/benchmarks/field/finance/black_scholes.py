"""Finance: prices and greeks of options of both kinds, from a dictionary of the market."""

import math

import numpy as np

SIZES = (10, 1_000, 100_000, 1_000_000)  # options


def erf(x):
    """Abramowitz and Stegun, 7.1.26."""
    t = 1.0 / (1.0 + 0.3275911 * np.abs(x))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1.0 - poly * np.exp(-x * x))


def cdf(x):
    return 0.5 * (1.0 + erf(x / math.sqrt(2.0)))


def pdf(x):
    return np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi)


def price(market, strike, expiry, is_call):
    spot, rate, vol = market["spot"], market["rate"], market["vol"]
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol**2) * expiry) / (vol * np.sqrt(expiry))
    d2 = d1 - vol * np.sqrt(expiry)
    discount = np.exp(-rate * expiry)
    call = spot * cdf(d1) - strike * discount * cdf(d2)
    put = call - spot + strike * discount
    delta = np.where(is_call, cdf(d1), cdf(d1) - 1)
    gamma = pdf(d1) / (spot * vol * np.sqrt(expiry))
    vega = spot * pdf(d1) * np.sqrt(expiry)
    return np.where(is_call, call, put), delta, gamma, vega


def run(size, rounds):
    rng = np.random.default_rng(8)
    strike = 80 + 40 * rng.random(size)
    expiry = 0.1 + 2 * rng.random(size)
    is_call = rng.random(size) < 0.5
    for number in range(rounds):
        market = {"spot": 100.0 + number % 7, "rate": 0.03, "vol": 0.2}
        value, delta, gamma, vega = price(market, strike, expiry, is_call)
        total = value.sum()
    return value, delta, gamma, vega, total


def by_hand(njit):
    @njit
    def phi(x):
        return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))

    @njit
    def loop(spot, rate, vol, strike, expiry, is_call, value, delta, gamma, vega):
        total = 0.0
        for i in range(strike.size):
            root = vol * math.sqrt(expiry[i])
            d1 = (math.log(spot / strike[i]) + (rate + 0.5 * vol**2) * expiry[i]) / root
            discount = math.exp(-rate * expiry[i])
            call = spot * phi(d1) - strike[i] * discount * phi(d1 - root)
            value[i] = call if is_call[i] else call - spot + strike[i] * discount
            delta[i] = phi(d1) if is_call[i] else phi(d1) - 1
            density = math.exp(-0.5 * d1**2) / math.sqrt(2 * math.pi)
            gamma[i] = density / (spot * root)
            vega[i] = spot * density * math.sqrt(expiry[i])
            total += value[i]
        return total

    def by_loops(size, rounds):
        rng = np.random.default_rng(8)
        strike = 80 + 40 * rng.random(size)
        expiry = 0.1 + 2 * rng.random(size)
        is_call = rng.random(size) < 0.5
        for number in range(rounds):
            out = [np.empty(size) for _ in range(4)]
            total = loop(100.0 + number % 7, 0.03, 0.2, strike, expiry, is_call, *out)
        return *out, total

    return {"run": by_loops}


def by_numexpr(numexpr):
    evaluate = numexpr.evaluate

    def erf_of(x):
        t = evaluate("1.0 / (1.0 + 0.3275911 * abs(x))")
        return evaluate(
            "where(x < 0, -1, 1) * (1.0 - t * (0.254829592 + t * (-0.284496736 + t * (1.421413741"
            " + t * (-1.453152027 + t * 1.061405429)))) * exp(-x * x))"
        )

    def by_expressions(size, rounds):
        rng = np.random.default_rng(8)
        strike = 80 + 40 * rng.random(size)
        expiry = 0.1 + 2 * rng.random(size)
        is_call = rng.random(size) < 0.5
        rate, vol = 0.03, 0.2
        for number in range(rounds):
            spot = 100.0 + number % 7
            d1 = evaluate("(log(spot / strike) + (rate + 0.5 * vol**2) * expiry) / (vol * sqrt(expiry))")
            e1 = erf_of(evaluate("d1 / 1.4142135623730951"))
            e2 = erf_of(evaluate("(d1 - vol * sqrt(expiry)) / 1.4142135623730951"))
            call = evaluate("spot * 0.5 * (1 + e1) - strike * exp(-rate * expiry) * 0.5 * (1 + e2)")
            value = evaluate("where(is_call, call, call - spot + strike * exp(-rate * expiry))")
            delta = evaluate("where(is_call, 0.5 * (1 + e1), 0.5 * (1 + e1) - 1)")
            density = evaluate("exp(-0.5 * d1**2) / 2.5066282746310002")
            gamma = evaluate("density / (spot * vol * sqrt(expiry))")
            vega = evaluate("spot * density * sqrt(expiry)")
            total = value.sum()
        return value, delta, gamma, vega, total

    return {"run": by_expressions}
