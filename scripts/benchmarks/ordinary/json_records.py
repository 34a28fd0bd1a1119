"""Writes and reads records as JSON and sums over them."""

import json


def record(number):
    return {
        "id": number,
        "name": f"person {number % 97}",
        "tags": [f"t{k}" for k in range(number % 5)],
        "place": {"lat": number / 7, "lon": -number / 3, "zip": None},
        "active": number % 3 == 0,
    }


def summary(records):
    names = {}
    for found in records:
        if not found["active"]:
            continue
        entry = names.setdefault(found["name"], {"count": 0, "tags": 0, "north": 0.0})
        entry["count"] += 1
        entry["tags"] += len(found["tags"])
        entry["north"] = max(entry["north"], found["place"]["lat"])
    return names


texts = [json.dumps(record(number)) for number in range(50000)]
found = summary(json.loads(text) for text in texts)
print(len(found), json.dumps(found["person 5"], sort_keys=True))
print(sum(len(text) for text in texts))
