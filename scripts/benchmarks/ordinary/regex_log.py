"""Reads the lines of a server's log by regular expressions."""

import re
from collections import Counter

LINE = re.compile(r'(\S+) - - \[([^\]]+)\] "(GET|POST) (\S+) HTTP/1\.[01]" (\d{3}) (\d+|-)')
PATHS = ["/", "/index.html", "/images/logo.png", "/api/items?id={}", "/login"]


def lines(count):
    for number in range(count):
        path = PATHS[number % 5].format(number)
        status = 404 if number % 17 == 0 else 200
        method = "POST" if number % 5 == 4 else "GET"
        host = f"10.0.{number % 7}.{number % 251}"
        yield f'{host} - - [{number % 28 + 1}/Mar/2024] "{method} {path} HTTP/1.1" {status} {number}'


def analyse(source):
    hosts, statuses, volume = Counter(), Counter(), 0
    for line in source:
        match = LINE.match(line)
        if not match:
            continue
        host, _, _, path, status, size = match.groups()
        if "?" in path:
            path = path.partition("?")[0]
        hosts[host] += 1
        statuses[path, status] += 1
        volume += 0 if size == "-" else int(size)
    return hosts, statuses, volume


hosts, statuses, volume = analyse(lines(130000))
print(len(hosts), volume)
for key, number in sorted(statuses.items()):
    print(*key, number)
