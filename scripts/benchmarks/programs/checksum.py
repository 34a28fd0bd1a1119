"""A cyclic redundancy check of bytes, by a table that the program makes first: integers, shifts, indexing."""

from __future__ import annotations

SIZE = 20000
KIND = "numbers"
DATA = bytes(k * 7 & 255 for k in range(SIZE))  # the data to check; making it is not measured


def make_table(polynomial):
    table = []
    for start in range(256):
        state = start
        for _ in range(8):
            if state & 1:
                state = (state >> 1) ^ polynomial
            else:
                state >>= 1
        table.append(state)
    return table


def checksum(data, table):
    state = 0xFFFFFFFF
    for byte in data:
        state = (state >> 8) ^ table[(state ^ byte) & 255]
    return state ^ 0xFFFFFFFF


def run(size):
    return checksum(DATA[:size], make_table(0xEDB88320))
