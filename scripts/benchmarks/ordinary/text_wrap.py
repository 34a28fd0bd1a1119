"""Justifies paragraphs in columns."""

import random


def wrap(words, width):
    line, length = [], 0
    for word in words:
        if line and length + len(line) + len(word) > width:
            yield line
            line, length = [], 0
        line.append(word)
        length += len(word)
    if line:
        yield line


def justify(line, width):
    if len(line) == 1:
        return line[0].ljust(width)
    gaps = len(line) - 1
    spaces = width - sum(len(word) for word in line)
    each, more = divmod(spaces, gaps)
    text = ""
    for index, word in enumerate(line[:-1]):
        text += word + " " * (each + (1 if index < more else 0))
    return text + line[-1]


source = random.Random(2)
total = 0
for width in range(30, 80):
    words = ["x" * source.randint(1, 11) for _ in range(11000)]
    lines = [justify(line, width) for line in wrap(words, width)]
    assert all(len(line) == width for line in lines)
    total += len(lines)
print(total, hash(tuple(lines)) != 0)
print(lines[0])
