"""A row, a column and a table."""

import numpy as np


def program(table, row, column):
    return (table - row) * column + row


CALLS = [(np.ones((30, 40)), np.arange(40.0), np.arange(30.0).reshape(30, 1)) for _ in range(3)]
