"""Random programs that switch stacks in the middle of calls, by greenlet, gevent and eventlet: plain and traced.

    python -m fuzz.switching --count 100 --seed 1

Programs are written in batches into modules of their own. A process runs each of a batch's programs several times, once
plain and once in each traced mode, and prints a line a run; lines that differ are finds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

ROUNDS = 5
SMALL = "heat=2,grow_after=2,native_after=2,retire_after=1000000,share=100000"
MODES = {
    "usual": {"TAGALONG": "1", "TAGALONG_LIMITS": "share=100000"},
    "small": {"TAGALONG": "1", "TAGALONG_LIMITS": SMALL},
    "stress": {"TAGALONG": "1", "TAGALONG_STRESS": "1"},
}

PRELUDES = {
    "greenlet": """
        import greenlet
        def pause(value=0):
            return greenlet.getcurrent().parent.switch(value)
        def run_all(jobs, log):
            tasks = [greenlet.greenlet(lambda job=job: job(log)) for job in jobs]
            TASKS[:] = tasks
            waiting, turn = list(range(len(tasks))), 0
            while waiting:
                turn += 1
                index = waiting[turn * 7 % len(waiting)]
                try:
                    if turn > 150 and turn % 5 == 0:
                        got = tasks[index].throw(KeyError("thrown"))
                    else:
                        got = tasks[index].switch() if not tasks[index].dead else None
                except Exception as error:
                    got = type(error).__name__
                if turn > 2000:
                    for task in tasks:
                        task.throw()
                if tasks[index].dead:
                    log.append(("end", index, got))
                waiting = [i for i in waiting if not tasks[i].dead]
        def other(index):
            task = TASKS[index % len(TASKS)]
            if task and not task.dead and task is not greenlet.getcurrent():
                return task.switch(index)
            return pause(index)
    """,
    # Without timeouts the order is determined by the program; `kills` ends some tasks early.
    "gevent": """
        import gevent, gevent.event, gevent.queue, gevent.pool, gevent.lock
        LOCK = gevent.lock.Semaphore(2)
        def pause(value=0):
            gevent.sleep(0)
            return value
        def run_all(jobs, log):
            pool = gevent.pool.Pool(4)
            EVENT[:] = [gevent.event.Event()]
            QUEUE[:] = [gevent.queue.Queue(2)]
            def feed():
                number = 0
                while True:
                    QUEUE[0].put(number)
                    number += 1
                    if number == 4:
                        EVENT[0].set()
            feeder = gevent.spawn(feed)
            tasks = [pool.spawn(job, log) for job in jobs]
            for turn in range(40):
                gevent.sleep(0)
            for task in tasks[::3]:
                task.kill(KeyError("killed"), block=turn % 2)
            gevent.sleep(0)
            for task in tasks[1::3]:
                task.kill()
            EVENT[0].set()
            gevent.joinall(tasks)
            feeder.kill()
            for index, task in enumerate(tasks):
                log.append(("end", index, repr(task.value), type(task.exception).__name__))
        def other(index):
            if index % 3 == 0:
                return EVENT[0].wait() and 1
            if index % 3 == 1:
                return QUEUE[0].get()
            with LOCK:
                return pause(index)
    """,
    # With timeouts the order depends on the clock: each task has its own log and does not depend on others.
    "timeouts": """
        import gevent, gevent.event, gevent.queue, gevent.lock
        LOCK = gevent.lock.Semaphore(2)
        def pause(value=0):
            gevent.sleep(0)
            return value
        def run_all(jobs, log):
            logs = [[] for _ in jobs]
            EVENT[:] = [gevent.event.Event()]
            tasks = [gevent.spawn(job, own) for job, own in zip(jobs, logs)]
            gevent.sleep(0)
            EVENT[0].set()
            gevent.joinall(tasks)
            gevent.sleep(0)  # which task ended last depends on the clock, and the hub may still hold that one
            log.extend(logs)
            for index, task in enumerate(tasks):
                log.append(("end", index, repr(task.value), type(task.exception).__name__))
        def other(index):
            if index % 3 == 0:
                return EVENT[0].wait() and 1
            if index % 3 == 1:
                with LOCK:
                    return pause(index)
            try:
                with gevent.Timeout(0 if index % 2 else 0.001):
                    while True:
                        gevent.sleep(10 if index % 4 else 0)
            except gevent.Timeout:
                return 5
    """,
    "eventlet": """
        import warnings
        warnings.simplefilter("ignore")
        import eventlet, eventlet.event, eventlet.queue, eventlet.semaphore
        LOCK = eventlet.semaphore.Semaphore(2)
        def pause(value=0):
            eventlet.sleep(0)
            return value
        def run_all(jobs, log):
            logs = [[] for _ in jobs]
            pool = eventlet.GreenPool(8)
            QUEUE[:] = [eventlet.queue.Queue(2)]
            def feed():
                while True:
                    QUEUE[0].put(3)
            feeder = eventlet.spawn(feed)
            tasks = [pool.spawn(job, own) for job, own in zip(jobs, logs)]
            tasks[0].kill()
            for index, task in enumerate(tasks):
                try:
                    log.append(("end", index, repr(task.wait())))
                except BaseException as error:
                    log.append(("end", index, type(error).__name__))
            feeder.kill()
            log.extend(logs)
        def other(index):
            if index % 3 == 1:
                return QUEUE[0].get()
            if index % 3 == 2:
                with eventlet.Timeout(0.001, False):
                    eventlet.sleep(10)
                return 4
            with LOCK:
                return pause(index)
    """,
}
NEEDS = {"timeouts": "gevent"}

COMMON = """
TASKS, EVENT, QUEUE = [], [], []
class Value:
    def __init__(self, number):
        self.number = number
    def __add__(self, other):
        pause(self.number)
        return Value(self.number + (other.number if isinstance(other, Value) else other))
    def __radd__(self, other):
        return Value(other + self.number)
    def __lt__(self, other):
        pause()
        return self.number < other.number
    def __bool__(self):
        pause()
        return self.number % 2 == 1
    def __getitem__(self, key):
        pause(key)
        if key > 3:
            raise IndexError(key)
        return self.number + key
    @property
    def half(self):
        pause()
        return self.number / 2
    def method(self, by):
        self.number += by
        pause()
        return self.number
class Section:
    def __init__(self, log, name, swallows):
        self.log, self.name, self.swallows = log, name, swallows
    def __enter__(self):
        pause()
        return self
    def __exit__(self, kind, value, traceback):
        self.log.append((self.name, kind and kind.__name__))
        pause()
        return self.swallows and kind is ValueError
class Dying:
    def __init__(self, log, name):
        self.log, self.name = log, name
    def __del__(self):
        self.log.append(("dies", self.name))
def numbers(count, log):
    for number in range(count):
        if number % 3 == 1:
            pause(number)
        yield number
    log.append("numbers end")
def deep(count, scale):
    if count == 0:
        pause()
        return scale
    return deep(count - 1, scale * 0.5) + count
def add(a, b):
    return a + b
def through(a, b):
    pause(a)
    return add(a, b) + add(b, 1)
"""


@dataclass
class Writer:
    """One random program."""

    random: Random
    lines: list[str] = field(default_factory=list)
    fresh: int = 0

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def put(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def number(self) -> str:
        chance = self.random
        return chance.choice(
            ["a", "b", "a + b", "a * 2", "b - 3", "a % 7", str(chance.randrange(9)), "len(xs)"]
        )

    def statement(self, depth: int, left: int) -> None:
        chance = self.random
        simple = [
            self.arithmetic,
            self.pausing,
            self.switching,
            self.calling,
            self.overloading,
            self.consuming,
            self.noting,
            self.dying,
            self.containers,
            self.capturing,
        ]
        compound = [self.loop, self.rounds, self.branch, self.attempt, self.section]
        if left > 0 and chance.random() < 0.45:
            chance.choice(compound)(depth, left)
        else:
            chance.choice(simple)(depth)

    def block(self, depth: int, left: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth, left - 1)

    def arithmetic(self, depth: int) -> None:
        self.put(
            depth,
            self.random.choice(
                [
                    f"a = {self.number()} + {self.random.randrange(5)}",
                    "b = a - b",
                    "s += a * 0.25",
                    "s = s * 0.5 + b",
                    "a, b = b, a",
                    f"xs.append({self.number()})",
                    "a &= 1023",
                    "t = (a, s)",
                ]
            ),
        )

    def pausing(self, depth: int) -> None:
        self.put(
            depth, self.random.choice(["pause()", f"a += pause({self.number()}) or 1", "b = pause(b) or 2"])
        )

    def switching(self, depth: int) -> None:
        self.put(depth, f"s += other({self.random.randrange(12)}) or 0.5")

    def calling(self, depth: int) -> None:
        self.put(
            depth,
            self.random.choice(
                [
                    f"a = through({self.number()}, {self.number()}) % 101",
                    f"s = deep({self.random.randrange(5)}, s)",
                    "b = add(a, b) % 97",
                    "o = Value(a)",
                    f"b = o.method({self.number()}) % 89",
                ]
            ),
        )

    def overloading(self, depth: int) -> None:
        self.put(
            depth,
            self.random.choice(
                [
                    "o = o + 1",
                    "o = 2 + o",
                    "o = o + Value(b)",
                    "s += o.half",
                    f"a += o[{self.random.randrange(5)} % 4]",
                    "a += 1 if o else 2",
                    "b = max(Value(a), Value(b)).number",
                    "xs.extend(list(o))",
                    "a = sum(o) % 61",
                ]
            ),
        )

    def consuming(self, depth: int) -> None:
        count = self.random.randrange(1, 9)
        self.put(
            depth,
            self.random.choice(
                [
                    f"a = sum(numbers({count}, log)) + a % 5",
                    f"xs = sorted(xs[:{count}], key=lambda v: (pause(), -v)[1])",
                    f"xs = [through(i, a) % 31 for i in range({count})]",
                    f"b = any(v > 3 for v in numbers({count}, log)) + b",
                    f"d = {{i: pause(i) for i in range({count})}}",
                    f"a = max(numbers({count}, log)) + b % 3",
                    f"xs = list(map(lambda v: add(v, pause() or 1), range({count})))",
                    f"b = len(list(zip(numbers({count}, log), xs)))",
                    f"a += sum(v * 2 for v in numbers({count}, log) if v % 2)",
                ]
            ),
        )

    def noting(self, depth: int) -> None:
        self.put(depth, f"log.append((name, {self.random.randrange(100)}, a, b, s))")

    def dying(self, depth: int) -> None:
        self.put(depth, self.random.choice(["z = Dying(log, a)", "z = None"]))

    def containers(self, depth: int) -> None:
        self.put(
            depth,
            self.random.choice(
                [
                    "d[a % 5] = b",
                    "b = d.get(a % 5, 1) or 3",
                    "xs = xs[-6:]",
                    "a += len(d)",
                    "first, *rest = [a, b, *xs[:2]]",
                    "log.append(f'{a}-{s:.3f}')",
                ]
            ),
        )

    def capturing(self, depth: int) -> None:
        name = self.name()
        self.put(depth, f"def {name}(by=b):")
        self.put(depth + 1, "nonlocal a")
        self.put(depth + 1, "a += by % 3")
        self.put(depth + 1, self.random.choice(["pause()", "other(2)", "b0 = by + 1"]))
        self.put(depth + 1, "return a")
        self.put(depth, f"b = {name}() % 41")

    def loop(self, depth: int, left: int) -> None:
        name = self.name()
        what = self.random.choice(
            [
                f"range({self.random.randrange(2, 14)})",
                "list(xs[:5])",
                f"numbers({self.random.randrange(1, 7)}, log)",
            ]
        )
        self.put(depth, f"for {name} in {what}:")
        self.block(depth + 1, left)
        if self.random.random() < 0.5:
            self.put(depth + 1, f"if {name} % 4 == {self.random.randrange(4)}:")
            self.put(depth + 2, self.random.choice(["pause()", "continue", "break", "s += pause(1) or 0.5"]))
        self.put(depth + 1, "s += 0.5")

    def rounds(self, depth: int, left: int) -> None:
        name = self.name()
        self.put(depth, f"{name} = 0")
        self.put(depth, f"while {name} < {self.random.randrange(3, 25)}:")
        self.put(depth + 1, f"{name} += 1")
        self.put(depth + 1, f"s += {name} * 0.25")
        if self.random.random() < 0.6:
            self.put(depth + 1, f"if {name} % 5 == 0:")
            self.put(depth + 2, "pause()")
        if left > 1:
            self.block(depth + 1, left - 1)

    def branch(self, depth: int, left: int) -> None:
        self.put(depth, f"if {self.random.choice(['a % 2', 'b > a', 's > 3', 'pause(a)', 'o'])}:")
        self.block(depth + 1, left)
        self.put(depth, "else:")
        self.block(depth + 1, left)

    def attempt(self, depth: int, left: int) -> None:
        self.put(depth, "try:")
        self.block(depth + 1, left)
        if self.random.random() < 0.5:
            self.put(depth + 1, f"if a % 3 == {self.random.randrange(3)}: raise ValueError(a)")
        if self.random.random() < 0.7:
            self.put(depth, f"except {self.random.choice(['ValueError', 'Exception'])} as error:")
            self.put(depth + 1, "log.append((name, type(error).__name__, str(error)))")
            self.block(depth + 1, left)
        self.put(depth, "finally:")
        self.put(depth + 1, self.random.choice(["pause()", "log.append(name)", "b += 1"]))

    def section(self, depth: int, left: int) -> None:
        self.put(depth, f"with Section(log, {self.random.randrange(9)}, {self.random.random() < 0.5}):")
        self.block(depth + 1, left)

    def job(self, number: int) -> None:
        self.put(0, f"def job{number}(log, name):")
        self.put(
            1,
            f"a, b, s, t, xs, d, z = name, {self.random.randrange(9)}, 0.5, None, [3, 1, 2], {{}}, None",
        )
        self.put(1, "o = Value(name)")
        for _ in range(self.random.randrange(3, 8)):
            self.statement(1, 3)
        self.put(1, "return name, a, b, s, len(xs), sorted(d), o.number")


def program(seed: int, kinds: list[str]) -> str:
    """The source of the program with this seed."""
    random = Random(seed)
    kind = kinds[seed % len(kinds)]
    writer = Writer(random)
    jobs = random.randrange(1, 4)
    for number in range(jobs):
        writer.job(number)
    tasks = random.randrange(2, 6)
    writer.put(0, "def main(log):")
    writer.put(1, f"functions = [{', '.join(f'job{number}' for number in range(jobs))}]")
    writer.put(
        1, f"run_all([lambda log, f=functions[i % {jobs}], i=i: f(log, i) for i in range({tasks})], log)"
    )
    return (
        textwrap.dedent(PRELUDES[kind]).strip()
        + "\n"
        + COMMON.strip()
        + "\n"
        + "\n".join(writer.lines)
        + "\n"
    )


RUNNER = """
import faulthandler, hashlib, importlib, re, sys
faulthandler.enable()
sys.unraisablehook = lambda info: None
for name in sys.argv[2:]:
    module = importlib.import_module(name)
    for turn in range(int(sys.argv[1])):
        log = []
        try:
            module.main(log)
        except Exception as error:
            log.append(("raised", type(error).__name__, str(error)))
        text = re.sub('0x[0-9a-f]+', '0x', repr(log))
        print(name, turn, len(log), hashlib.md5(text.encode()).hexdigest(), flush=True)
"""


def lines_of(folder: Path, names: list[str], variables: dict[str, str]) -> tuple[list[str], dict[str, int]]:
    """What a process that runs these programs prints, and what was recorded and replayed in it."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TAGALONG")}
    report = folder / "summary.json"
    report.unlink(missing_ok=True)
    environment |= variables | {"TAGALONG_SUMMARY": str(report)} if variables else {}
    words = [sys.executable, "runner.py", str(ROUNDS), *names]
    try:
        done = subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        lines = [*done.stdout.splitlines(), f"exit status {done.returncode}"]
        if done.returncode != 0:
            lines.append(done.stderr[-3000:])
    except subprocess.TimeoutExpired as error:
        lines = [*(error.stdout or b"").decode().splitlines(), "too long"]
    summaries = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    counts = {
        key: sum(one.get(key, 0) for one in summaries) for key in ("functions_recorded", "hits", "exits")
    }
    return lines, counts


def of_program(lines: list[str], module: str) -> list[str]:
    """The output of this program, or of the process if the program is None."""
    return [line for line in lines if line.startswith(f"{module} ") or not line.startswith("program_")]


def differing(folder: Path, names: list[str], plain: list[str], traced: list[str]) -> list[str]:
    """The programs that differ, without those whose order of events depends on the clock even without tracing."""
    found = [module for module in names if of_program(plain, module) != of_program(traced, module)]
    for _ in range(4 if found else 0):
        again, _counts = lines_of(folder, found, {})
        found = [module for module in found if of_program(again, module) == of_program(plain, module)]
        if not found:
            break
    return found


def main(words: list[str]) -> int:
    """Runs the programs; returns the number of printed finds."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz.switching", description="programs that switch stacks"
    )
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=20, help="programs a process")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--kinds", default="", help=f"of {', '.join(PRELUDES)}; those that are installed")
    parser.add_argument("--keep", type=Path, help="a folder for the programs that differ")
    parser.add_argument("--show", action="store_true", help="print the program of the seed")
    chosen = parser.parse_args(words)
    kinds = (
        chosen.kinds.split(",")
        if chosen.kinds
        else [k for k in PRELUDES if importlib.util.find_spec(NEEDS.get(k, k))]
    )
    if chosen.show:
        print(program(chosen.seed, kinds))
        return 0
    finds, totals, runs = 0, {"functions_recorded": 0, "hits": 0, "exits": 0}, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "runner.py").write_text(RUNNER)
        for first in range(chosen.seed, chosen.seed + chosen.count, chosen.batch):
            seeds = range(first, min(first + chosen.batch, chosen.seed + chosen.count))
            names = [f"program_{seed}" for seed in seeds]
            for seed, module in zip(seeds, names, strict=True):
                (folder / f"{module}.py").write_text(program(seed, kinds))
            plain, _ = lines_of(folder, names, {})
            for mode in chosen.modes.split(","):
                traced, counts = lines_of(folder, names, MODES[mode])
                runs += len(names)
                totals = {key: totals[key] + counts[key] for key in totals}
                for module in differing(folder, names, plain, traced):
                    finds += 1
                    print(f"FIND mode {mode}, {module}, among seeds {seeds.start} to {seeds.stop - 1}")
                    print(textwrap.indent("\n".join(of_program(traced, module))[-3000:], "    "), flush=True)
                    if chosen.keep:
                        chosen.keep.mkdir(parents=True, exist_ok=True)
                        for kept in (*names, "runner"):
                            (chosen.keep / f"{kept}.py").write_text((folder / f"{kept}.py").read_text())
    print(
        f"{chosen.count} programs ({', '.join(kinds)}), {runs} traced runs of {ROUNDS} rounds: {finds} finds; "
        + ", ".join(f"{number} {key.replace('_', ' ')}" for key, number in totals.items())
    )
    return finds


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
