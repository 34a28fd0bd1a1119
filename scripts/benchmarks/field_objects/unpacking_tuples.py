"""Many unpackings in one loop."""

POINTS = [(k, k + 1, k + 2, k + 3) for k in range(50)]


def run():
    total = 0
    for _ in range(60):
        for point in POINTS:
            a, b, c, d = point
            e, f = a + b, c + d
            (g, h), i = (e, f), a
            j, k, m = b, c, d
            total += g + h + i + j - k - m
    return total
