"""Which modules are the user's own: everything but the standard library, installed packages and tagalong itself."""

from __future__ import annotations

import fnmatch
import os
import site
import sys
import sysconfig

from tagalong.options import Settings


def _folders() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folders of installed packages, and those of the standard library."""
    paths = sysconfig.get_paths()
    installed = {paths["purelib"], paths["platlib"], site.getusersitepackages(), *site.getsitepackages()}
    standard = {paths["stdlib"], paths["platstdlib"], os.path.dirname(os.__file__)}  # noqa: PTH120 - pathlib is slow to load
    return (
        tuple(os.path.realpath(folder) + os.sep for folder in installed),
        tuple(os.path.realpath(folder) + os.sep for folder in standard),
    )


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether the module `name` or a package it is in fits one of the patterns."""
    parts = name.split(".")
    parents = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(fnmatch.fnmatchcase(parent, pattern) for parent in parents for pattern in patterns)


class Selection:
    """Answers whether a module is traced. `exclude` is strongest, then `include`, then where the file lies."""

    def __init__(self, settings: Settings) -> None:
        self._include = settings.include
        self._exclude = settings.exclude
        installed, standard = _folders()
        self._foreign = installed + standard
        # A virtual environment may lie inside the folder of the program; the program never lies in its packages.
        self._ours = os.path.realpath(os.path.dirname(__file__)) + os.sep  # noqa: PTH120

    def wants(self, name: str, file: str | None) -> bool:
        """Whether the module `name`, whose source is `file` (None or "<…>" for source without a file), is traced."""
        if _matches(name, ("tagalong",)):
            return False
        if _matches(name, self._exclude):
            return False
        if _matches(name, self._include):
            return True
        if file is None:
            return False
        if file.startswith("<"):
            return name == "__main__" and not file.startswith("<frozen")
        real = os.path.realpath(file)
        if real.startswith(self._ours):
            return False
        return not real.startswith(self._foreign)


def main_name() -> str:
    """The name of the main module: with `python -m package.module` the real one."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    return spec.name if spec is not None else "__main__"
