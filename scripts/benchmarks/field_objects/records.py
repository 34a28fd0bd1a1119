"""Data classes, sorted and grouped."""

from collections import defaultdict
from dataclasses import dataclass


@dataclass(order=True)
class Sale:
    region: str
    amount: float
    day: int = 0

    def with_tax(self, rate=0.2):
        return self.amount * (1.0 + rate)


def run():
    sales = [Sale("nesw"[k % 4], float((k * 37) % 101), k % 30) for k in range(600)]
    groups = defaultdict(list)
    for sale in sorted(sales):
        groups[sale.region].append(sale)
    return {region: round(sum(s.with_tax() for s in group), 2) for region, group in groups.items()}
