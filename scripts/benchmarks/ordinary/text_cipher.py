"""Encrypts and breaks a simple cipher by the frequencies of letters."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
USUAL = dict(zip("etaoinshrdlu", (12.7, 9.1, 8.2, 7.5, 7.0, 6.7, 6.3, 6.1, 6.0, 4.3, 4.0, 2.8)))
TEXT = "the quick brown fox jumps over the lazy dog and then it rests for a while in the shade of a tree "


def shift(text, by):
    out = []
    for c in text:
        if c in LETTERS:
            out.append(LETTERS[(LETTERS.index(c) + by) % 26])
        else:
            out.append(c)
    return "".join(out)


def score(text):
    counts = {}
    for c in text:
        counts[c] = counts.get(c, 0) + 1
    return sum(counts.get(c, 0) * weight for c, weight in USUAL.items())


def break_cipher(text):
    return max(range(26), key=lambda by: score(shift(text, -by)))


for key in range(1, 26):
    secret = shift(TEXT * 30, key)
    assert break_cipher(secret) == key
print(shift(TEXT, 13))
