"""Climate: dew point, wet bulb by Newton steps, heat index by regression with special cases."""

import numpy as np

SIZES = (24, 8_760, 876_000)  # hours


def saturation_pressure(t):
    return 6.112 * np.exp(17.67 * t / (t + 243.5))


def dew_point(e):
    ratio = np.log(e / 6.112)
    return 243.5 * ratio / (17.67 - ratio)


def wet_bulb(t, e, pressure=1013.25):
    tw = t - (t - dew_point(e)) / 3
    for _ in range(5):
        es = saturation_pressure(tw)
        f = es - 6.66e-4 * (1 + 0.00115 * tw) * pressure * (t - tw) - e
        slope = es * 17.67 * 243.5 / (tw + 243.5) ** 2 + 6.66e-4 * pressure
        tw = tw - f / slope
    return tw


def heat_index(t, rh):
    f = t * 9 / 5 + 32
    simple = 0.5 * (f + 61 + (f - 68) * 1.2 + rh * 0.094)
    full = (
        -42.379
        + 2.04901523 * f
        + 10.14333127 * rh
        - 0.22475541 * f * rh
        - 6.83783e-3 * f * f
        - 5.481717e-2 * rh * rh
        + 1.22874e-3 * f * f * rh
        + 8.5282e-4 * f * rh * rh
        - 1.99e-6 * f * f * rh * rh
    )
    dry = (rh < 13) & (f >= 80) & (f <= 112)
    full[dry] -= (13 - rh[dry]) / 4 * np.sqrt((17 - np.abs(f[dry] - 95)) / 17)
    humid = (rh > 85) & (f >= 80) & (f <= 87)
    full[humid] += (rh[humid] - 85) / 10 * ((87 - f[humid]) / 5)
    index = np.where((simple + f) / 2 < 80, simple, full)
    return (index - 32) * 5 / 9


def run(size, rounds):
    rng = np.random.default_rng(5)
    hours = np.arange(size)
    t = 20 + 10 * np.sin(2 * np.pi * hours / 24) + rng.normal(0, 3, size)
    rh = np.clip(rng.normal(60, 25, size), 5, 100)
    for _ in range(rounds):
        e = rh / 100 * saturation_pressure(t)
        td = dew_point(e)
        tw = wet_bulb(t, e)
        felt = heat_index(t, rh)
        vpd = saturation_pressure(t) - e
    return td, tw, felt, vpd


def by_numexpr(numexpr):
    def pressure_of(t):
        return numexpr.evaluate("6.112 * exp(17.67 * t / (t + 243.5))")

    def dew(e):
        ratio = numexpr.evaluate("log(e / 6.112)")
        return numexpr.evaluate("243.5 * ratio / (17.67 - ratio)")

    def bulb(t, e, pressure=1013.25):
        td = dew(e)
        tw = numexpr.evaluate("t - (t - td) / 3")
        for _ in range(5):
            es = pressure_of(tw)
            tw = numexpr.evaluate(
                "tw - (es - 6.66e-4 * (1 + 0.00115 * tw) * pressure * (t - tw) - e)"
                " / (es * 17.67 * 243.5 / (tw + 243.5) ** 2 + 6.66e-4 * pressure)"
            )
        return tw

    return {"saturation_pressure": pressure_of, "dew_point": dew, "wet_bulb": bulb}
