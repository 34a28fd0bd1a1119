"""Programs that are run eagerly and traced, and what is compared between the two runs.

`programs/` holds one file of programs per topic (form: `program.py`), `observe.py` describes everything that a run
shows to its caller, `runner.py` runs a program and compares. `python -m differential` (in `tests/system`) runs every
program in a process of its own, which is the way to look at crashes.
"""
