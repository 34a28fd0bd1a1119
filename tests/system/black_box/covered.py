"""coverage: lines and branches of code that has been traced, from the start and switched on in the middle."""

import pathlib
import sys
import tempfile

import coverage

SOURCE = """
def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0

def loop(n):
    total = 0
    for i in range(n):
        if i % 2:
            continue
        total += sign(i)
    else:
        total += 1
    return total

def generator(n):
    while n:
        try:
            yield n
        finally:
            n -= 1

class Kind:
    def method(self, x):
        return [y for y in range(x) if y]

def never():
    return 1
"""


def use(module, times):
    for _ in range(times):
        module.sign(3), module.loop(10), list(module.generator(4)), module.Kind().method(3)


folder = tempfile.mkdtemp()
path = pathlib.Path(folder, "covered_module.py")
path.write_text(SOURCE)
sys.path.insert(0, folder)
import covered_module  # noqa: E402

use(covered_module, 60)
for branch in (False, True):
    for concurrency in ("thread",):
        cover = coverage.Coverage(data_file=None, branch=branch, include=[str(path)], concurrency=concurrency)
        cover.start()
        use(covered_module, 2)
        covered_module.sign(-1)
        cover.stop()
        data = cover.get_data()
        name = next(iter(data.measured_files()))
        print(sorted(data.lines(name)), sorted(data.arcs(name) or []))
        use(covered_module, 40)
        _, statements, excluded, missing, text = cover.analysis2(str(path))
        print(statements, excluded, missing, text)
del sys.modules["covered_module"]
cover = coverage.Coverage(data_file=None, branch=True, include=[str(path)])
cover.start()
import covered_module  # noqa: E402

use(covered_module, 30)
cover.stop()
name = next(iter(cover.get_data().measured_files()))
print(sorted(cover.get_data().lines(name)), sorted(cover.get_data().arcs(name)))
