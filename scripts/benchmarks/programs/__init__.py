"""Programs from the field of interpreters, written for this comparison: each module has `run(size)` and `SIZE`.

`run` returns what the program has computed, so that an eager and a traced run can be compared.
"""
