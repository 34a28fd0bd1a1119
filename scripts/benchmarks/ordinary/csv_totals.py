"""Sums a table that comes as CSV by two keys."""

import csv
import io
from collections import defaultdict

REGIONS = ["north", "east", "south", "west"]


def table(rows):
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["day", "region", "product", "amount", "price"])
    for number in range(rows):
        writer.writerow(
            [
                f"2024-{number % 12 + 1:02}-01",
                REGIONS[number * 7 % 4],
                f"p{number % 13}",
                number % 9,
                number % 50 / 4,
            ]
        )
    return out.getvalue()


def totals(text):
    sums = defaultdict(float)
    months = defaultdict(int)
    for row in csv.DictReader(io.StringIO(text)):
        amount = int(row["amount"])
        sums[row["region"], row["product"]] += amount * float(row["price"])
        months[row["day"][:7]] += amount
    return sums, months


text = table(120000)
sums, months = totals(text)
for key in sorted(sums)[:3]:
    print(key, round(sums[key], 2))
print(sorted(months.items())[:3])
