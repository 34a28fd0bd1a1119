"""Walks through nested JSON by recursion: flattens, counts types, changes."""

import json


def build(depth, number):
    if depth == 0:
        return number
    if number % 2:
        return [build(depth - 1, number + k) for k in range(4)]
    return {f"k{k}": build(depth - 1, number * 2 + k) for k in range(4)}


def flatten(value, path=""):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flatten(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from flatten(item, f"{path}[{index}]")
    else:
        yield path, value


def doubled(value):
    if isinstance(value, dict):
        return {key: doubled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [doubled(item) for item in value]
    return value * 2


tree = json.loads(json.dumps(build(9, 1)))
flat = dict(flatten(tree))
print(len(flat), sum(flat.values()))
again = dict(flatten(doubled(doubled(tree))))
print(sum(again.values()), max(flat, key=len))
