"""Array programs of many fields, written as people write them, and their runner: `scripts/bench field`.

A folder is a field, a file in it a program with `SIZES` and `run(size, rounds)`, whose results depend on both numbers
only. `by_hand(njit)` and `by_numexpr(numexpr)` are optional: each gives functions that take the places of the module's,
with loops compiled by numba or with expressions for numexpr. `benchmarks/field_apart` has further programs of the same
kinds; they are not looked at while tagalong is made faster.
"""
