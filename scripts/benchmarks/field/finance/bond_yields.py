"""Finance: yields of bonds by Newton steps, durations, and convexities; coupons in a loop."""

import numpy as np

SIZES = (10, 1_000, 100_000)  # bonds


def present_value(y, coupon, years, face=100.0):
    value = np.zeros_like(y)
    slope = np.zeros_like(y)
    for t in range(1, 11):
        paying = t <= years
        cash = np.where(t == years, coupon + face, coupon)
        cash = np.where(paying, cash, 0.0)
        discounted = cash / (1 + y) ** t
        value += discounted
        slope -= t * discounted / (1 + y)
    return value, slope


def solve(price, coupon, years, tolerance=1e-10, most=20):
    y = np.full_like(price, 0.05)
    for number in range(most):
        value, slope = present_value(y, coupon, years)
        change = (value - price) / slope
        y = y - change
        if np.abs(change).max() < tolerance:
            break
    return y, number


def run(size, rounds):
    rng = np.random.default_rng(12)
    coupon = np.round(2 + 6 * rng.random(size), 2)
    years = rng.integers(1, 11, size)
    price = 90 + 20 * rng.random(size)
    for _ in range(rounds):
        y, taken = solve(price, coupon, years)
        value, slope = present_value(y, coupon, years)
        duration = -slope / value
    return y, taken, duration
