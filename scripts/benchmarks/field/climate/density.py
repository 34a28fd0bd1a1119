"""Ocean: density of sea water by the equation of state of UNESCO (1981), with its many temporaries."""

import numpy as np

SIZES = (30, 3_000, 300_000, 3_000_000)  # water samples


def density_at_surface(s, t):
    rho_w = (
        999.842594
        + 6.793952e-2 * t
        - 9.095290e-3 * t**2
        + 1.001685e-4 * t**3
        - 1.120083e-6 * t**4
        + 6.536332e-9 * t**5
    )
    b = 8.24493e-1 - 4.0899e-3 * t + 7.6438e-5 * t**2 - 8.2467e-7 * t**3 + 5.3875e-9 * t**4
    c = -5.72466e-3 + 1.0227e-4 * t - 1.6546e-6 * t**2
    return rho_w + b * s + c * s * np.sqrt(s) + 4.8314e-4 * s**2


def bulk_modulus(s, t, p):
    root = np.sqrt(s)
    kw = 19652.21 + t * (148.4206 + t * (-2.327105 + t * (1.360477e-2 - 5.155288e-5 * t)))
    aw = 3.239908 + t * (1.43713e-3 + t * (1.16092e-4 - 5.77905e-7 * t))
    bw = 8.50935e-5 + t * (-6.12293e-6 + 5.2787e-8 * t)
    k0 = kw + s * (54.6746 + t * (-0.603459 + t * (1.09987e-2 - 6.1670e-5 * t)))
    k0 = k0 + s * root * (7.944e-2 + t * (1.6483e-2 - 5.3009e-4 * t))
    a = aw + s * (2.2838e-3 + t * (-1.0981e-5 - 1.6078e-6 * t)) + 1.91075e-4 * s * root
    b = bw + s * (-9.9348e-7 + t * (2.0816e-8 + 9.1697e-10 * t))
    return k0 + p * (a + b * p)


def density(s, t, p):
    bars = p / 10.0
    return density_at_surface(s, t) / (1.0 - bars / bulk_modulus(s, t, bars))


def buoyancy_frequency(rho, z):
    return -9.81 / rho[1:] * np.diff(rho) / np.diff(z)


def run(size, rounds):
    rng = np.random.default_rng(1)
    s = 33 + 4 * rng.random(size)
    t = 25 * rng.random(size)
    z = -np.linspace(0.0, 5000.0, size)
    for _ in range(rounds):
        rho = density(s, t, -z)
        n2 = buoyancy_frequency(rho, z)
    return rho, n2


def by_numexpr(numexpr):
    def at_surface(s, t):
        rho_w = numexpr.evaluate(
            "999.842594 + 6.793952e-2 * t - 9.095290e-3 * t**2 + 1.001685e-4 * t**3"
            " - 1.120083e-6 * t**4 + 6.536332e-9 * t**5"
        )
        b = numexpr.evaluate(
            "8.24493e-1 - 4.0899e-3 * t + 7.6438e-5 * t**2 - 8.2467e-7 * t**3 + 5.3875e-9 * t**4"
        )
        return numexpr.evaluate(
            "rho_w + b * s + (-5.72466e-3 + 1.0227e-4 * t - 1.6546e-6 * t**2) * s * sqrt(s) + 4.8314e-4 * s**2"
        )

    def modulus(s, t, p):
        k0 = numexpr.evaluate(
            "19652.21 + t * (148.4206 + t * (-2.327105 + t * (1.360477e-2 - 5.155288e-5 * t)))"
            " + s * (54.6746 + t * (-0.603459 + t * (1.09987e-2 - 6.1670e-5 * t)))"
            " + s * sqrt(s) * (7.944e-2 + t * (1.6483e-2 - 5.3009e-4 * t))"
        )
        a = numexpr.evaluate(
            "3.239908 + t * (1.43713e-3 + t * (1.16092e-4 - 5.77905e-7 * t))"
            " + s * (2.2838e-3 + t * (-1.0981e-5 - 1.6078e-6 * t)) + 1.91075e-4 * s * sqrt(s)"
        )
        b = numexpr.evaluate(
            "8.50935e-5 + t * (-6.12293e-6 + 5.2787e-8 * t)"
            " + s * (-9.9348e-7 + t * (2.0816e-8 + 9.1697e-10 * t))"
        )
        return numexpr.evaluate("k0 + p * (a + b * p)")

    return {"density_at_surface": at_surface, "bulk_modulus": modulus}
