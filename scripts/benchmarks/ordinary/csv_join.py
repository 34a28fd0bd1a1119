"""Joins two tables and prints a report in columns."""

import csv
import io
from collections import namedtuple

Order = namedtuple("Order", "id customer total")
Customer = namedtuple("Customer", "id name city")


def parse(text, kind, *types):
    for row in csv.reader(io.StringIO(text)):
        yield kind(*(convert(field) for convert, field in zip(types, row)))


orders = "".join(f"{n},{n * 31 % 500},{n % 777 / 8}\n" for n in range(160000))
customers = "".join(f"{n},name{n},city{n % 20}\n" for n in range(500))
by_id = {customer.id: customer for customer in parse(customers, Customer, int, str, str)}
cities = {}
for order in parse(orders, Order, int, int, float):
    city = by_id[order.customer].city
    count, total = cities.get(city, (0, 0.0))
    cities[city] = (count + 1, total + order.total)
for city in sorted(cities)[:5]:
    count, total = cities[city]
    print(f"{city:10} {count:6} {total:12.2f}")
