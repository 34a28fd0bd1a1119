"""A while loop over floats, with a known function."""

import math


def program(x, steps):
    done = 0
    while done < steps:
        x = math.sqrt(x + 1.0)
        done += 1
    return x


CALLS = [(2.0, 40), (3.0, 50), (4.0, 60)]
