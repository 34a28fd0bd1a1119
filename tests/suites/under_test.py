"""The package under test: the one in `.venv`, or another build in the folder that the variable SUITE_PACKAGE names."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALLED = ROOT / ".venv/lib/python3.11/site-packages"
BESIDE = ("_tagalong_autostart.py", "_tagalong_command.py", "tagalong_autostart.pth")


def package() -> Path:
    """The folder `tagalong`. SUITE_PACKAGE is its parent folder."""
    own = os.environ.get("SUITE_PACKAGE")
    folder = (Path(own) if own else INSTALLED) / "tagalong"
    if not folder.is_dir():
        raise SystemExit(f"there is no {folder}")
    return folder.absolute()


def build() -> str:
    """Identifies what is tested: the commit of the sources, and the digest of the extension."""
    extension = next(package().glob("_core*.so"))
    digest = hashlib.sha256(extension.read_bytes()).hexdigest()[:8]
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return f"{commit.stdout.strip() or 'no commit'} {digest}"


def make_venv(folder: Path, *options: str) -> Path:
    """A virtual environment in a folder, made if it does not exist; returns its interpreter."""
    python = folder / "bin/python"
    if not python.exists():
        base: str = sys._base_executable  # type: ignore[attr-defined]
        subprocess.run([base, "-m", "venv", *options, str(folder)], check=True, timeout=300)
    return python


def link(folder: Path) -> None:
    """Puts the package under test, with its start file, into a virtual environment."""
    site = folder / "lib/python3.11/site-packages"
    links = {"tagalong": package()}
    for name in BESIDE:
        sources = (package().parent / name, ROOT / "runtime/python" / name)
        links[name] = next(source for source in sources if source.exists())
    for name, source in links.items():
        (site / name).unlink(missing_ok=True)
        (site / name).symlink_to(source)


def interpreter(folder: Path) -> Path:
    """An interpreter with the package under test and the packages of `.venv`: its own, or one made in a folder."""
    if not os.environ.get("SUITE_PACKAGE"):
        return ROOT / ".venv/bin/python"
    python = make_venv(folder, "--without-pip")
    link(folder)
    (folder / "lib/python3.11/site-packages/others.pth").write_text(f"{INSTALLED}\n")
    return python
