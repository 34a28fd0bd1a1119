"""Runs many programs, in batches of one forked process each: a crash costs one program."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import itertools
import json
import os
import selectors
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import oracle
from .assembly import Generated, generate

BATCH = 100
SILENCE = 15.0  # seconds of processor time without a message from a batch
WAITING = 20  # factor by which that may be exceeded on a busy machine


@dataclass
class Result:
    """What is known about one program."""

    seed: int
    status: str  # same, differs, crash, hang, skipped
    text: str = ""
    events: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    raised: int = 0
    limits: oracle.Limits = ()
    excused: str = ""


class Batch:
    """A forked process and its messages so far."""

    def __init__(self, work: Callable[[Callable[[dict], None]], None]) -> None:
        self.errors = tempfile.TemporaryFile()
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            self._child(work, write)
        os.close(write)
        self.fd = read
        self.rest = b""
        self._hear()

    def _hear(self) -> None:
        self.heard, self.used = time.monotonic(), self._seconds()

    def _seconds(self) -> float:
        """Processor time of the process so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_silent(self, seconds: float) -> bool:
        """Whether it has sent nothing for too long, in processor time, or for far too long by the clock."""
        waited = time.monotonic() - self.heard
        return waited > WAITING * seconds or (waited > seconds and self._seconds() - self.used > seconds)

    def _child(self, work: Callable[[Callable[[dict], None]], None], write: int) -> None:
        status = 1
        try:
            faulthandler.enable(self.errors)
            os.dup2(self.errors.fileno(), 2)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)

            def say(message: dict) -> None:
                os.write(write, json.dumps(message).encode() + b"\n")

            work(say)
            status = 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)

    def read(self) -> tuple[list[dict], bool]:
        """The messages that have arrived, and whether they were the last ones."""
        data = os.read(self.fd, 1 << 16)
        self._hear()
        *lines, self.rest = (self.rest + data).split(b"\n")
        return [json.loads(line) for line in lines], not data

    def end(self, kill: bool = False) -> tuple[int, str]:
        """The exit status (negative: the signal) and the end of its stderr."""
        if kill:
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        self.errors.seek(0)
        text = self.errors.read()[-3000:].decode(errors="replace")
        self.errors.close()
        return os.waitstatus_to_exitcode(status), text


def _message(verdict: oracle.Verdict) -> dict:
    return {"done": verdict.seed, "found": verdict.found[:4], "events": verdict.events, "calls": verdict.calls,
            "raised": verdict.raised, "skipped": verdict.skipped, "excused": verdict.excused}  # fmt: skip


def judge_seeds(seeds: list[int], size: int, off: frozenset[str], say: Callable[[dict], None]) -> None:
    """Runs in the child: the programs of some seeds, one after another."""
    for number, seed in enumerate(seeds):
        say({"seed": seed, "phase": "generate"})
        generated = generate(seed, size, off)
        verdict = oracle.judge(
            generated, oracle.limits_of(seed), lambda phase, seed=seed: say({"seed": seed, "phase": phase})
        )
        say(_message(verdict))
        if number % 25 == 24:
            gc.collect()


def ready() -> None:
    """Imports the modules that programs use, and freezes them for the collector, before forking."""
    import asyncio  # noqa: F401
    import dataclasses  # noqa: F401

    import numpy  # noqa: F401

    import tagalong.testing  # noqa: F401

    gc.collect()
    gc.freeze()


def run_all(
    seeds: Iterator[int], size: int, off: frozenset[str], jobs: int, until: float | None
) -> Iterator[Result]:
    """Yields results in the order in which they arrive."""
    selector = selectors.DefaultSelector()
    running: dict[int, tuple[Batch, list[int], dict]] = {}
    backlog: list[list[int]] = []

    def start() -> None:
        batch = backlog.pop() if backlog else list(itertools.islice(seeds, BATCH))
        if batch and (until is None or time.monotonic() < until):
            child = Batch(lambda say: judge_seeds(batch, size, off, say))
            running[child.fd] = (child, batch, {"seed": batch[0], "phase": "start"})
            selector.register(child.fd, selectors.EVENT_READ)

    for _ in range(jobs):
        start()
    while running:
        for key, _ in selector.select(timeout=1.0):
            if key.fd not in running:
                continue
            child, batch, at = running[key.fd]
            messages, ended = child.read()
            for message in messages:
                if "done" in message:
                    batch.remove(message["done"])
                    yield _result(message)
                else:
                    at.update(message)
            if ended:
                yield from _ended(child, batch, at, backlog, kill=False)
                selector.unregister(key.fd)
                del running[key.fd]
                start()
        waiting = {
            key.fd for key, _ in selector.select(timeout=0)
        }  # the caller may have been busy with a result
        for fd, (child, batch, at) in list(running.items()):
            if fd not in waiting and child.is_silent(SILENCE):
                selector.unregister(fd)
                del running[fd]
                yield from _ended(child, batch, at, backlog, kill=True)
                start()


def _ended(
    child: Batch, batch: list[int], at: dict, backlog: list[list[int]], kill: bool
) -> Iterator[Result]:
    status, text = child.end(kill)
    if not batch:
        if status != 0:
            yield Result(at["seed"], "crash", f"at the end of the batch, status {status}\n{text}")
        return
    seed = at["seed"] if at["seed"] in batch else batch[0]
    batch.remove(seed)
    if batch:
        backlog.append(batch)
    yield _broken(seed, kill, status, at["phase"], text, oracle.limits_of(seed))


def _broken(seed: int, hangs: bool, status: int, phase: str, text: str, limits: oracle.Limits) -> Result:
    """The result of a program that did not finish."""
    if hangs and phase == "eager":
        return Result(seed, "skipped", "too long eagerly", limits=limits)
    what = "hang" if hangs else "crash"
    return Result(seed, what, f"{what} (status {status}) in phase {phase}\n{text}", limits=limits)


def _result(message: dict) -> Result:
    seed = message["done"]
    status = "differs" if message["found"] else "skipped" if message["skipped"] else "same"
    return Result(
        seed,
        status,
        message["skipped"] or "\n".join(message["found"]),
        Counter(message["events"]),
        message["calls"],
        message["raised"],
        oracle.limits_of(seed),
        message["excused"],
    )


def outcome_of(generated: Generated, limits: oracle.Limits, seconds: float = 5.0) -> Result:
    """Runs one program in a process of its own."""

    def work(say: Callable[[dict], None]) -> None:
        verdict = oracle.judge(generated, limits, lambda phase: say({"phase": phase}))
        say(_message(verdict))

    child = Batch(work)
    selector = selectors.DefaultSelector()
    selector.register(child.fd, selectors.EVENT_READ)
    result, phase, ended = None, "start", False
    while not ended and not child.is_silent(seconds):
        if selector.select(timeout=1.0):
            messages, ended = child.read()
            for message in messages:
                phase = message.get("phase", phase)
                if "done" in message:
                    result = _result(message)
    status, text = child.end(kill=not ended)
    if result is not None and status == 0:
        return result
    return _broken(generated.seed, not ended, status, phase, text, limits)


def kept(folder: Path, name: str, text: str) -> None:
    """Writes a file into the folder of finds."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(parents=True)
    (folder / name).write_text(text)
