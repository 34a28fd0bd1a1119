"""One program of the fields in a process of its own: `process.py FILE SIZE ROUNDS [numba | numexpr | look]`.

Prints JSON: the processor time of the run and a digest of the bytes of its results. `look` takes seconds for ROUNDS and
finds the number of rounds that take as long, and the share of element-wise work.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

TOLERANCE = {"d": 1e-6, "f": 5e-3}  # what results by a peer may differ by: operations come in another order


def load(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.parent))
    try:
        return importlib.import_module(path.stem)
    finally:
        del sys.path[0]


def digest(result: Any) -> str:
    found = hashlib.sha256()
    feed(found, result)
    return found.hexdigest()[:16]


def feed(found: Any, value: Any) -> None:
    """Adds types, shapes and bytes to the hash."""
    if isinstance(value, np.ndarray | np.generic):
        found.update(f"{type(value).__name__} {value.dtype.str} {value.shape} ".encode())
        found.update(value.tobytes())
    elif isinstance(value, tuple | list):
        found.update(f"{type(value).__name__} {len(value)} ".encode())
        for item in value:
            feed(found, item)
    else:
        found.update(f"{type(value).__name__} {value!r} ".encode())


def timed(program: ModuleType, size: int, rounds: int) -> tuple[float, Any]:
    start = time.process_time()
    result = program.run(size, rounds)
    return time.process_time() - start, result


def rounds_for(program: ModuleType, size: int, seconds: float) -> int:
    """How many rounds take so many seconds, beside what the program prepares."""
    rounds, before = 1, min(timed(program, size, 1)[0] for _ in range(2))
    while True:
        more = 2 * rounds
        taken = timed(program, size, more)[0]
        if taken > seconds / 4 or more > 1_000_000:
            # A disturbed run may seem to take as long as one of half the rounds.
            each = max((taken - before) / (more - rounds), taken / more / 4, 1e-7)
            return max(1, round((seconds - taken) / each) + more)
        rounds, before = more, taken


def replace(program: ModuleType, peer: str) -> None:
    """Puts the peer's functions into the program's module."""
    package = importlib.import_module(peer)
    functions = program.by_hand(package.njit) if peer == "numba" else program.by_numexpr(package)
    vars(program).update(functions)


def is_close(one: Any, other: Any) -> bool:
    """Whether a peer has computed the same as the program."""
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(is_close(a, b) for a, b in zip(one, other, strict=True))
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind not in "fc":
        return one.shape == other.shape and bool((one == other).mean() > 0.99)
    limit = TOLERANCE["f" if one.dtype.itemsize < 8 or one.dtype == np.complex64 else "d"]
    return bool(np.allclose(one, other, rtol=limit, atol=limit * float(np.abs(one).max(initial=1e-300))))


def by_peer(program: ModuleType, size: int, rounds: int, peer: str) -> dict[str, Any]:
    expected = program.run(size, 1)
    replace(program, peer)
    close = is_close(expected, program.run(size, 1))  # compiles
    return {"seconds": timed(program, size, rounds)[0], "close": close}


def main() -> None:
    path, size = Path(sys.argv[1]), int(sys.argv[2])
    what = sys.argv[4] if len(sys.argv) > 4 else ""
    program = load(path)
    if what == "look":
        sys.path.insert(0, str(Path(__file__).parents[2]))
        from benchmarks.field.share import share_of

        rounds = rounds_for(program, size, float(sys.argv[3]))
        answer: dict[str, Any] = {"rounds": rounds, "share": share_of(path, size, max(1, rounds // 8))}
    elif what:
        answer = by_peer(program, size, int(sys.argv[3]), what)
    else:
        seconds, result = timed(program, size, int(sys.argv[3]))
        answer = {"seconds": seconds, "digest": digest(result)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
