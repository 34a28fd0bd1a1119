"""Strings, a tuple as a key, and items of a dict."""


def program(counts, word):
    key = (word.lower(), len(word))
    counts[key] = counts.get(key, 0) + 1
    return f"{word}: {counts[key]}"


CALLS = [({}, "Anna"), ({}, "Otto"), ({("eva", 3): 1}, "Eva")]
