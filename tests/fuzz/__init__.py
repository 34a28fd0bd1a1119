"""Random programs, run eagerly and traced; whatever differs is shrunk and printed as a differential program.

| file | what it is |
|---|---|
| `engine.py` | typed templates and how they are expanded: scopes, holes, cost |
| `expressions.py`, `arrays.py` | templates of expressions, by the kind of their value |
| `statements.py`, `exceptions.py`, `disturbances.py` | templates of statements |
| `definitions.py`, `classes.py`, `suspended.py` | functions; classes; generators and coroutines |
| `prelude.py` | classes and functions that programs use, put in front of them where they do |
| `assembly.py` | from a seed to a program: source and the calls to make |
| `oracle.py` | one program eagerly and traced, under limits; what differs |
| `pool.py` | many programs in processes of their own; a crash costs one program |
| `shrink.py` | the smallest program that still differs |
| `__main__.py` | the command line: `scripts/fuzz` |

The same seed and size give the same program. Every program ends: loops are bounded where they are written, what grows
is cut, and the number of statements that a call can execute is known while it is generated.
"""
