"""The command `tagalong`. It lies beside the package, so that it can report that the package cannot be imported."""

import sys


def main() -> int:
    try:
        from tagalong.__main__ import main as inner
    except (ImportError, ValueError) as error:  # ValueError: a bad option
        print(f"tagalong: {error}", file=sys.stderr)
        return 2
    return inner()
