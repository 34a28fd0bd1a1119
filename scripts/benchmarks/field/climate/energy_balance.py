"""Climate: temperature by latitude, with ice that reflects (Budyko and North), stepped to equilibrium."""

import numpy as np

SIZES = (18, 180, 1_800)  # bands of latitude

defaults = {
    "solar": 1361.0,
    "a": 204.0,
    "b": 2.17,
    "capacity": 9.8,
    "diffusion": 0.44,
    "freezing": -10.0,
    "ice": 0.6,
    "ocean": 0.3,
}


def insolation(x, solar):
    p2 = 0.5 * (3 * x**2 - 1)
    return solar / 4 * (1 - 0.482 * p2)


def albedo(temperature, p):
    return np.where(temperature < p["freezing"], p["ice"], p["ocean"])


def diffusion(temperature, x, p):
    dx = x[1] - x[0]
    edges = 0.5 * (x[1:] + x[:-1])
    flux = p["diffusion"] * (1 - edges**2) * (temperature[1:] - temperature[:-1]) / dx
    tendency = np.zeros_like(temperature)
    tendency[0] = flux[0] / dx
    tendency[1:-1] = (flux[1:] - flux[:-1]) / dx
    tendency[-1] = -flux[-1] / dx
    return tendency


def step(temperature, x, dt, p):
    absorbed = insolation(x, p["solar"]) * (1 - albedo(temperature, p))
    emitted = p["a"] + p["b"] * temperature
    return temperature + dt / p["capacity"] * (absorbed - emitted + diffusion(temperature, x, p))


def run(size, rounds):
    x = np.linspace(-1, 1, size)
    dt = min(0.1, 4.0 / defaults["diffusion"] / size**2)
    for number in range(rounds):
        p = dict(defaults, solar=1300.0 + number % 5 * 20)
        temperature = 14 - 40 * x**2
        for _ in range(50):
            temperature = step(temperature, x, dt, p)
        mean = float(temperature.mean())
        covered = int((temperature < p["freezing"]).sum())
    return temperature, mean, covered
