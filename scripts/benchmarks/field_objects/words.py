"""Counting words and their letters."""

TEXT = "the quick brown fox jumps over the lazy dog while the cat sleeps under a warm old stove " * 20


class Counter:
    def __init__(self):
        self.counts = {}

    def add(self, word):
        self.counts[word] = self.counts.get(word, 0) + 1

    def most(self, number):
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:number]


def run():
    counter = Counter()
    for word in TEXT.split():
        counter.add(word.strip().lower())
        for letter in word:
            counter.add(letter)
    return counter.most(5)
