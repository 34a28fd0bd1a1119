"""The options of the process: one table, and everything that is derived from it.

A row of `TABLE` describes one option. The parser of the environment, the flags of the command line, their help, the
table in the documentation (`documentation()`) and the tests come from the rows. This module uses the standard library
only. A bad value raises `OptionError`, which names the variable, the value and what is allowed.
"""

from __future__ import annotations

import os
import sys

from tagalong._option_table import BY_NAME, TABLE, Option
from tagalong._option_values import LIMITS, LOG_TOPICS, MODES, Mode, OptionError, given_limits

TYPE_CHECKING = False  # typing's, which loads slowly
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = [
    "BY_NAME",
    "LIMITS",
    "LOG_TOPICS",
    "MODES",
    "TABLE",
    "Mode",
    "Option",
    "OptionError",
    "Settings",
    "add_arguments",
    "documentation",
    "environment_of",
    "from_environment",
    "given_limits",
    "process_environment",
]


class Settings:
    """The value of every option; the attributes are the names of the table's rows, in its order."""

    mode: Mode
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    log: tuple[str, ...]
    report: bool
    threads: int
    loops: bool
    fusion: bool
    limits: dict[str, int]
    stress: bool
    summary: str
    internal: dict[str, int]

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Takes exactly one value for each row."""
        for option in TABLE:
            setattr(self, option.name, values[option.name])

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, Settings) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Settings({vars(self)!r})"


if [*Settings.__annotations__] != [option.name for option in TABLE]:
    raise AssertionError("the attributes of Settings are not the rows of the options table")


def process_environment() -> Mapping[str, str]:
    """The variables of the process; none with `python -E` and `-I`, which ignore Python's own, too."""
    return {} if sys.flags.ignore_environment else os.environ


_renamed: set[str] = set()


def _warn_renamed(old: str, new: str) -> None:
    if old not in _renamed:
        _renamed.add(old)
        print(
            f"tagalong: {old} is called {new} now; the old name goes with the next release", file=sys.stderr
        )


def from_environment(environment: Mapping[str, str] | None = None) -> Settings:
    """Reads all options from `environment` (default: the process's, which `python -E` and `-I` ignore).

    Raises `OptionError` for a bad value, and for a variable that begins with TAGALONG_ and is in no row, which is most
    likely a typing error.
    """
    environment = process_environment() if environment is None else environment
    variables = [option.variable for option in TABLE]
    older = {option.older[0]: option for option in TABLE if option.older}
    for variable in environment:
        if variable in older:
            _warn_renamed(variable, older[variable].variable)
        elif variable.startswith("TAGALONG_") and variable not in variables:
            raise OptionError(f"{variable}: there is no such variable; there are: {', '.join(variables)}")
    values = {}
    for option in TABLE:
        names = (option.variable, option.older[0]) if option.older else (option.variable,)
        given = next((name for name in names if name in environment), option.variable)
        text = environment.get(given, "")
        values[option.name] = option.read(option.default if text == "" else text, given)
    return Settings(values)


def add_arguments(parser: argparse.ArgumentParser, names: tuple[str, ...] | None = None) -> None:
    """Adds the flags of the rows `names` (default: all) to a parser of a command line."""
    for option in TABLE:
        if names is None or option.name in names:
            parser.add_argument(
                option.flag,
                dest=option.name,
                metavar="VALUE",
                help=f"{option.help} (allowed: {option.allowed}; variable: {option.variable})".replace(
                    "%", "%%"
                ),
            )
            if option.older:
                parser.add_argument(
                    option.older[1],
                    dest=option.name,
                    type=renamed(option.older[1], option.flag),
                    help="==SUPPRESS==",
                )


def renamed(old: str, new: str) -> Callable[[str], str]:
    """The `type` of a flag that is called `new` now: warns, and gives the text as it is."""

    def same(text: str) -> str:
        _warn_renamed(old, new)
        return text

    return same


def environment_of(arguments: argparse.Namespace, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """A copy of the environment `base` with the given flags as variables; flags replace variables.

    Raises `OptionError`, naming the flag, for a bad value.
    """
    environment = dict(os.environ if base is None else base)
    for option in TABLE:
        text = getattr(arguments, option.name, None)
        if text is not None:
            option.read(text, option.flag)
            environment[option.variable] = text
    return environment


def documentation() -> str:
    """The table of the options in Markdown, as the documentation shows it."""
    lines = ["| variable | flag | allowed | default | what it does |", "|---|---|---|---|---|"]
    for option in TABLE:
        default = f"`{option.default}`" if option.default else ""
        cells = (f"`{option.variable}`", f"`{option.flag}`", option.allowed, default, option.help)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
