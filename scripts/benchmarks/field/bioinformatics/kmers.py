"""Bioinformatics: k-mers packed into bits, hashed, and the smallest in each window."""

import numpy as np

SIZES = (100, 10_000, 1_000_000)  # letters


def encode(letters):
    table = np.zeros(256, dtype=np.uint8)
    table[[ord("A"), ord("C"), ord("G"), ord("T")]] = [0, 1, 2, 3]
    return table[letters]


def pack(codes, k):
    n = len(codes) - k + 1
    words = np.zeros(n, dtype=np.uint64)
    for i in range(k):
        words = (words << np.uint64(2)) | codes[i : i + n].astype(np.uint64)
    return words


def complement(words, k):
    out = np.zeros_like(words)
    rest = words.copy()
    for _ in range(k):
        out = (out << np.uint64(2)) | (np.uint64(3) - (rest & np.uint64(3)))
        rest >>= np.uint64(2)
    return out


def mix(h):
    h = h ^ (h >> np.uint64(33))
    h = h * np.uint64(0xFF51AFD7ED558CCD)
    h = h ^ (h >> np.uint64(29))
    return h * np.uint64(0xC4CEB9FE1A85EC53)


def minimisers(hashes, window):
    n = len(hashes) - window + 1
    least = hashes[:n].copy()
    for i in range(1, window):
        least = np.minimum(least, hashes[i : i + n])
    return least


def run(size, rounds):
    letters = np.frombuffer(b"ACGT", dtype=np.uint8)[np.random.default_rng(53).integers(0, 4, size)]
    for _ in range(rounds):
        words = pack(encode(letters), 11)
        canonical = np.minimum(words, complement(words, 11))
        hashes = mix(canonical)
        least = minimisers(hashes, 10)
        changes = int((least[1:] != least[:-1]).sum())
        gc = ((words & np.uint64(3)) % np.uint64(3) != 0).mean()
    return hashes, least, changes, gc
