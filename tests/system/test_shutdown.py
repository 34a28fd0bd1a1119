"""The end of the process while threads are in the middle of a recording."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import random, sys, threading, time
import tagalong

started = set()

def work():
    import os as mod
    while True:
        with open(mod.__file__, "rb") as source:
            some = source.read(200)
            with open(mod.devnull, "wb") as sink:
                sink.write(some)
                time.sleep(random.random() / 1995)
        started.add(threading.current_thread())

for _ in range(40):
    threading.Thread(target=work, daemon=True).start()
while len(started) < 40:
    time.sleep(0.001)
assert tagalong.stats().records > 0
print("end")
sys.exit(3)
"""


def test_daemon_threads_end_with_the_process_while_they_record(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    for _ in range(3):
        result = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-m", "tagalong", "run", "--stress", "1", str(program)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "TAGALONG_LIMITS": "unroll=10000,nodes=100000"},
        )
        assert (result.returncode, result.stdout) == (3, "end\n"), result.stderr
