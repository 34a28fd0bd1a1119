"""Edit distances of words, and the nearest ones."""

import random


def distance(a, b):
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            cost = 0 if x == y else 1
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost))
        previous = current
    return previous[-1]


source = random.Random(3)
words = ["".join(source.choice("abcde") for _ in range(source.randint(4, 10))) for _ in range(360)]
total = 0
for word in words[:160]:
    best = min(words[160:], key=lambda other: distance(word, other))
    total += distance(word, best)
print(total, distance("kitten", "sitting"))
