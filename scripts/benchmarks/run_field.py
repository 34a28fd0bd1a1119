"""A program of the field sets as a process of its own: `run_field.py FILE TIMES [SIZE]`.

An array program has `data(size)` and `run(*data)`, another one `run()`.
"""

import importlib
import sys
from pathlib import Path


def repeat(program, times, data):
    for _ in range(times):
        result = program.run(*data)
    return result


path = Path(sys.argv[1])
sys.path.insert(0, str(path.parent))
program = importlib.import_module(path.stem)
data = program.data(int(sys.argv[3])) if len(sys.argv) > 3 else ()
print(repeat(program, int(sys.argv[2]), data))
