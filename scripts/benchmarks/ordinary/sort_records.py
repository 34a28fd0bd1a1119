"""Sorts records by several keys, groups them, and takes the largest."""

import heapq
import operator
import random
from itertools import groupby


class Person:
    def __init__(self, name, age, city):
        self.name = name
        self.age = age
        self.city = city

    def __lt__(self, other):
        return (self.age, self.name) < (other.age, other.name)


source = random.Random(5)
people = [
    Person(f"n{source.randrange(10000)}", source.randrange(90), source.choice(["a", "b", "c", "d"]))
    for _ in range(80000)
]
by_city = sorted(people, key=lambda person: (person.city, -person.age, person.name))
for city, group in groupby(by_city, key=operator.attrgetter("city")):
    members = list(group)
    print(city, len(members), members[0].name, sum(member.age for member in members) / len(members))
print([person.age for person in sorted(people)[::16000]])
print([person.name for person in heapq.nlargest(4, people, key=lambda person: person.age * 7 % 89)])
