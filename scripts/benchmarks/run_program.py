"""A program of the other benchmarks as a process of its own: `run_program.py NAME TIMES`."""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "programs"))
program = importlib.import_module(sys.argv[1])
for _ in range(int(sys.argv[2])):
    result = program.run(program.SIZE)
print(result)
