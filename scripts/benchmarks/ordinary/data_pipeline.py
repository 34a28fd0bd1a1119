"""Generators in a row, comprehensions, itertools, and checksums."""

import hashlib
import itertools
import struct
import zlib


def readings(count):
    state = 12345
    for _ in range(count):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        yield state >> 8


def windows(items, size):
    window = []
    for item in items:
        window.append(item)
        if len(window) == size:
            yield tuple(window)
            del window[0]


def peaks(source):
    for a, b, c in source:
        if a < b > c:
            yield b


def packed(items):
    return b"".join(struct.pack("<I", item) for item in items)


found = list(peaks(windows(readings(900000), 3)))
print(len(found), max(found))
blob = packed(found)
print(hashlib.sha256(blob).hexdigest()[:16], zlib.crc32(blob))
runs = [(key, len(list(group))) for key, group in itertools.groupby(found, key=lambda item: item & 1)]
print(len(runs), max(length for _, length in runs))
print(sum(a * b for a, b in itertools.combinations([item % 11 for item in found[:500]], 2)))
