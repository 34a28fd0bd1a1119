"""Merge sort, heap sort and insertion sort, written out."""

import random


def merge_sort(items):
    if len(items) < 2:
        return items
    half = len(items) // 2
    left, right = merge_sort(items[:half]), merge_sort(items[half:])
    out = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    out.extend(left[i:])
    out.extend(right[j:])
    return out


def sift(items, start, end):
    root = start
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and items[child] < items[child + 1]:
            child += 1
        if items[root] >= items[child]:
            return
        items[root], items[child] = items[child], items[root]
        root = child


def heap_sort(items):
    items = list(items)
    for start in range(len(items) // 2 - 1, -1, -1):
        sift(items, start, len(items))
    for end in range(len(items) - 1, 0, -1):
        items[0], items[end] = items[end], items[0]
        sift(items, 0, end)
    return items


def insertion_sort(items):
    items = list(items)
    for i in range(1, len(items)):
        item = items[i]
        j = i - 1
        while j >= 0 and items[j] > item:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = item
    return items


source = random.Random(4)
for size in (10, 100, 1000, 90000):
    items = [source.randrange(size) for _ in range(size)]
    assert merge_sort(items) == heap_sort(items) == sorted(items)
    print(size, sum(items))
print(insertion_sort(items[:900])[::100])
