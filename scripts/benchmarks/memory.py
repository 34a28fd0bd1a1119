"""Memory that tagalong keeps for objects that a program has dropped, and for a large package that is hardly used."""

from __future__ import annotations

import json
import py_compile
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure, environment

TITLE = "memory and processor time of processes with TAGALONG=1 / plain Python"
PROGRAM = Path(__file__).with_name("memory_programs.py")
COUNTS = {"reloads": 2_000, "functions": 10_000, "classes": 10_000, "arrays": 100_000}
MODES: dict[str, dict[str, str]] = {
    "plain": {},
    "TAGALONG=1": {"TAGALONG": "1"},
    "TAGALONG_INCLUDE=*": {"TAGALONG": "1", "TAGALONG_INCLUDE": "*"},
}
MODULES = 100
CLASSES = 10  # of each module
PAIRS = 7
MOST_MORE = 1.0  # MiB of growth in the second half, compared with plain
MOST_RATIO = 1.15

METHOD = '''
    def method_{0}(self, first, second=None, *rest, scale={0}, **options):
        """Adds what it is given, number {0} of part {1}."""
        if second is None:
            second = self.settings.get("second_{0}_{1}", first)
        try:
            total = (first + second) * scale - len(rest)
        except TypeError as error:
            raise ValueError(f"{{first!r}} and {{second!r}} do not fit: {{error}}") from error
        for name, value in options.items():
            setattr(self, name, value)
        self.last_{0} = total
        return total
'''
CLASS = '''
class Part{0}(object):
    """One of many."""

    def __init__(self, settings):
        self.settings = settings
{1}
    def outer(self, factor):
        def inner(value):
            return value * factor + self.settings["offset"]

        return [inner(value) for value in self.settings["values"]]


def make_part_{0}(**settings):
    return Part{0}(settings)
'''


def write_package(folder: Path, modules: int = MODULES) -> int:
    """Writes a package and compiles it; returns the number of its code objects."""
    package = folder / "large"
    package.mkdir()
    (package / "__init__.py").write_text("")
    methods = 10
    bodies = ["".join(METHOD.format(number, part) for number in range(methods)) for part in range(CLASSES)]
    source = "".join(CLASS.format(part, body) for part, body in enumerate(bodies))
    for number in range(modules):
        path = package / f"part{number}.py"
        path.write_text(f"NUMBER = {number}\n{source}")
        py_compile.compile(str(path), doraise=True)
    of_a_class = methods + 6  # the body, __init__, outer and the functions nested in it, make_part
    return modules * (CLASSES * of_a_class + 1)


def numbers(mode: str, name: str, count: int, folder: str) -> list[float]:
    """The numbers that a process of `memory_programs.py` prints."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), name, str(count), folder],
        env=environment(MODES[mode]),
        check=True,
        stdout=subprocess.PIPE,
    )
    printed: list[float] = json.loads(done.stdout)
    return printed


def figures(rounds: int) -> Iterator[Figure]:
    for name, count in COUNTS.items():
        growth = {}
        for mode in ("plain", "TAGALONG=1"):
            with tempfile.TemporaryDirectory() as folder:
                _, half, _, end = numbers(mode, name, count, folder)
            growth[mode] = (end - half) / 1024
        yield Figure(
            f"{count} {name}: growth in the second half, more",
            growth["TAGALONG=1"] - growth["plain"],
            "MiB",
            f"{growth['TAGALONG=1']:.2f} MiB / {growth['plain']:.2f} MiB",
            bar=MOST_MORE,
        )
    with tempfile.TemporaryDirectory() as folder:
        count = write_package(Path(folder))
        rows: dict[str, list[list[float]]] = {mode: [] for mode in MODES}
        for _ in range(PAIRS):
            for mode in MODES:
                rows[mode].append(numbers(mode, "package", 0, folder))
    for place, (what, unit, scale) in enumerate((("processor time", "ms", 1e3), ("memory", "MiB", 1 / 1024))):
        plain = statistics.median(row[place] for row in rows["plain"])
        for mode in list(MODES)[1:]:
            mine = statistics.median(row[place] for row in rows[mode])
            yield Figure(
                f"import of {count} code objects, {mode}, {what}",
                mine / plain,
                "x",
                f"{mine * scale:.1f} {unit} / {plain * scale:.1f} {unit}",
                bar=MOST_RATIO,
            )
