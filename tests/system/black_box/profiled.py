"""cProfile, profile and sys.setprofile: who called whom, how often."""

import cProfile
import profile
import pstats
import sys


def leaf(x):
    return abs(x) + len(str(x))


def branch(n):
    return sum(leaf(i) for i in range(n))


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Kind:
    def __init__(self, x):
        self.x = x

    def get(self):
        return leaf(self.x)

    @property
    def twice(self):
        return self.get() * 2


def work(n):
    for i in range(n):
        branch(3), Kind(i).twice, sorted([3, 1, 2], key=leaf)
    return fib(8)


def shown(profiler):
    stats = pstats.Stats(profiler).strip_dirs()
    rows = []
    for (file, line, name), (calls, all_calls, _, _, callers) in stats.stats.items():
        if "leaf" in name or "tagalong" in file or file.startswith("profiled") or file == "~":
            counts = [(key[2].split(" at 0x")[0], entry) for key, entry in callers.items()]
            counts = [(key, entry[:2] if isinstance(entry, tuple) else entry) for key, entry in counts]
            rows.append((file, line, name.split(" at 0x")[0], calls, all_calls, sorted(counts)))
    for row in sorted(rows):
        print(row)


for number in range(30):
    work(4)
profiler = cProfile.Profile()
profiler.runcall(work, 3)
shown(profiler)
profiler = cProfile.Profile(builtins=False)
profiler.enable()
work(20)
profiler.disable()
work(20)
shown(profiler)
profiler = profile.Profile(bias=0)
profiler.runcall(work, 2)
shown(profiler)
counts = {}


def watch(frame, event, argument):
    key = event, frame.f_code.co_name, getattr(argument, "__name__", "") if event.startswith("c_") else ""
    counts[key] = counts.get(key, 0) + 1


sys.setprofile(watch)
work(5)
sys.setprofile(None)
print(sorted(counts.items()))
