"""Finance: an American put on a binomial tree, from the leaves to the root with slices that shrink."""

import numpy as np

SIZES = (10, 100, 1_000)  # steps of the tree


def american_put(spot, strike, rate, vol, expiry, steps):
    dt = expiry / steps
    up = np.exp(vol * np.sqrt(dt))
    down = 1 / up
    p = (np.exp(rate * dt) - down) / (up - down)
    discount = np.exp(-rate * dt)
    prices = spot * up ** np.arange(steps, -steps - 1, -2.0)
    values = np.maximum(strike - prices, 0)
    for _ in range(steps):
        prices = prices[:-1] * down
        values = np.maximum(discount * (p * values[:-1] + (1 - p) * values[1:]), strike - prices)
    return values[0]


def run(size, rounds):
    found = []
    for number in range(rounds):
        found.append(american_put(100.0, 95.0 + number % 10, 0.04, 0.3, 1.0, size))
    return np.array(found[-10:])


def by_hand(njit):
    @njit
    def put(spot, strike, rate, vol, expiry, steps, prices, values):
        dt = expiry / steps
        up = np.exp(vol * np.sqrt(dt))
        down = 1 / up
        p = (np.exp(rate * dt) - down) / (up - down)
        discount = np.exp(-rate * dt)
        for i in range(steps + 1):
            prices[i] = spot * up ** (steps - 2.0 * i)
            values[i] = max(strike - prices[i], 0)
        for last in range(steps, 0, -1):
            for i in range(last):
                prices[i] = prices[i] * down
                values[i] = max(discount * (p * values[i] + (1 - p) * values[i + 1]), strike - prices[i])
        return values[0]

    def by_loops(size, rounds):
        prices, values = np.empty(size + 1), np.empty(size + 1)
        found = []
        for number in range(rounds):
            found.append(put(100.0, 95.0 + number % 10, 0.04, 0.3, 1.0, size, prices, values))
        return np.array(found[-10:])

    return {"run": by_loops}
