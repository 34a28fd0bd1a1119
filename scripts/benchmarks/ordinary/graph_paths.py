"""Shortest paths, components and a walk through a maze."""

import heapq
import random
from collections import defaultdict, deque


def dijkstra(graph, start):
    distances = {start: 0}
    heap = [(0, start)]
    while heap:
        distance, node = heapq.heappop(heap)
        if distance > distances[node]:
            continue
        for other, length in graph[node]:
            new = distance + length
            if new < distances.get(other, 1 << 30):
                distances[other] = new
                heapq.heappush(heap, (new, other))
    return distances


def breadth_first(walls, size):
    queue = deque([((0, 0), 0)])
    seen = {(0, 0)}
    while queue:
        (x, y), steps = queue.popleft()
        if x == y == size - 1:
            return steps
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            place = x + dx, y + dy
            if 0 <= place[0] < size and 0 <= place[1] < size and place not in walls and place not in seen:
                seen.add(place)
                queue.append((place, steps + 1))
    return None


source = random.Random(8)
graph = defaultdict(list)
for _ in range(24000):
    a, b, length = source.randrange(6000), source.randrange(6000), source.randrange(1, 100)
    graph[a].append((b, length))
    graph[b].append((a, length))
for start in range(12):
    distances = dijkstra(graph, start)
    print(len(distances), max(distances.values()))
walls = {(source.randrange(1, 160), source.randrange(160)) for _ in range(5000)}
walls.discard((159, 159))
print(breadth_first(walls, 160))
