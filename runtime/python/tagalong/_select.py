"""Which modules are the user's own: all but the standard library, installed packages and tagalong itself."""

from __future__ import annotations

import os
import site
import sys

from tagalong import _core

TYPE_CHECKING = False  # as in options.py
if TYPE_CHECKING:
    from tagalong.options import Settings

_MOST_KNOWN = 4096  # folders; then the cache is cleared
_known: dict[str, str] = {}


def _real(folder: str) -> str:
    """The folder without symbolic links. `os.path.realpath` checks all folders above it, so results are cached."""
    known = _known.get(folder)
    if known is None:
        parent, name = os.path.split(folder)
        is_plain = parent and name and name not in (os.curdir, os.pardir) and not os.path.islink(folder)  # noqa: PTH114
        known = os.path.join(_real(parent), name) if is_plain else os.path.realpath(folder)  # noqa: PTH118
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[folder] = known
    return known


OURS = _real(os.path.abspath(os.path.dirname(__file__))) + os.sep  # noqa: PTH100, PTH120 - pathlib is slow to load


def _foreign_folders() -> tuple[str, ...]:
    """The folders of the standard library and of installed packages, as written and with symbolic links resolved."""
    # The paths stdlib, platstdlib, purelib and platlib of sysconfig, which loads slowly.
    library = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
    folders = [
        f"{prefix}/{library}"
        for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    ]
    folders += [os.path.dirname(os.__file__), site.getusersitepackages(), *site.getsitepackages()]  # noqa: PTH120
    written = [os.path.abspath(folder) for folder in dict.fromkeys(folders)]  # noqa: PTH100
    return tuple(dict.fromkeys(form + os.sep for folder in written for form in (folder, _real(folder))))


FOREIGN = _foreign_folders()


def our_paths() -> tuple[str, ...]:
    """Prefixes of the file names of tagalong's own code, which is never traced."""
    return tuple(dict.fromkeys((os.path.dirname(__file__) + os.sep, OURS)))  # noqa: PTH120


def opaque_paths() -> tuple[str, ...]:
    """Prefixes of the file names of code that is never recorded into its callers."""
    return (*FOREIGN, OURS, "<frozen ")


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether the module `name` or a package it is in fits one of the patterns."""
    if not patterns:
        return False
    from fnmatch import fnmatchcase  # loaded already: see Selection

    parts = name.split(".")
    parents = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(fnmatchcase(parent, pattern) for parent in parents for pattern in patterns)


class Selection:
    """Decides whether a module is traced: by `exclude`, then by `include`, then by the folder of its file."""

    def __init__(self, settings: Settings) -> None:
        self._include = settings.include
        self._exclude = settings.exclude
        if self._include or self._exclude:
            import fnmatch  # noqa: F401 - now, not in the middle of an import

    def wants(self, name: str, file: str | None) -> bool:
        """Whether the module `name`, whose source is `file` (None or "<…>" for source without a file), is traced."""
        if name == "tagalong" or name.startswith("tagalong."):
            return False
        if matches(name, self._exclude):
            return False
        if matches(name, self._include):
            return True
        if file is None:
            return False
        if file.startswith("<"):
            return name == "__main__" and not file.startswith("<frozen")
        return not self._is_foreign(file)

    def lift_opacity(self, name: str, file: str | None) -> None:
        """If the module `name` is in `include`, its functions may be recorded into their callers, too."""
        if file is not None and matches(name, self._include) and self.wants(name, file):
            _core.include_file(file)

    def _is_foreign(self, file: str) -> bool:
        # A file in such a folder is foreign even if it is a link: checking each file would take long.
        foreign = (*FOREIGN, OURS)
        if (_real(os.path.dirname(file)) + os.sep).startswith(foreign):  # noqa: PTH120
            return True
        return os.path.islink(file) and os.path.realpath(file).startswith(foreign)  # noqa: PTH114


def main_name() -> str:
    """The name of the main module; with `python -m package.module` its real name."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    return spec.name if spec is not None else "__main__"
