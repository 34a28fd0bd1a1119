"""Counts words and pairs of words of a made-up text."""

import random
from collections import Counter

SYLLABLES = "ka lo mi ra tu ne so vi pe da".split()


def word(source):
    return "".join(source.choice(SYLLABLES) for _ in range(source.randint(1, 3)))


def sentences(count, source):
    for _ in range(count):
        yield " ".join(word(source) for _ in range(source.randint(4, 12))).capitalize() + "."


def clean(text):
    return "".join(c for c in text.lower() if c.isalpha() or c == " ")


source = random.Random(1)
words = Counter()
pairs = Counter()
for sentence in sentences(22000, source):
    found = clean(sentence).split()
    words.update(found)
    pairs.update(zip(found, found[1:]))
for name, number in words.most_common(5):
    print(name, number)
print(pairs.most_common(3), len(pairs))
