"""Golden texts: the dumps of a small program, one file for each program."""

from __future__ import annotations

import copy
import gc
import importlib.util
import io
import re
from pathlib import Path
from types import FunctionType, ModuleType

import numpy  # noqa: F401 - where it is not imported, the recording code has fewer hooks

from conftest import is_sanitized
from tagalong import _core, record
from tagalong._dumps import dumps_of

FOLDER = Path(__file__).parent / "golden"
# Machine code contains addresses and depends on the processor.
DUMPS = ("graph", "guards", "steps", "loops", "kernels")
# Settings with which each dump has something to show.
SETTINGS = {"fusion": 2, "threads": 1}


def programs() -> list[str]:
    """The names of all programs."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def load(name: str) -> ModuleType:
    """Loads a program as a new module, which no earlier test has run."""
    spec = importlib.util.spec_from_file_location(f"golden_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text_of(name: str) -> str:
    """The program, its bytecode before and after rewriting, and its dumps."""
    for option, value in SETTINGS.items():
        _core.set_option(option, value)
    module = load(name)
    program: FunctionType = module.program
    recording = record(load(name).program, *copy.deepcopy(module.CALLS[0]))
    sections = [("program", (FOLDER / f"{name}.py").read_text())]
    for which in ("original", "recording", "replay"):
        sections.append((f"{which} code", normalised(recording.listing(which))))
    calls = iter(copy.deepcopy(module.CALLS))
    # Callbacks of the collector are code that is not recorded, behind which a guard follows.
    gc.disable()
    try:
        texts = dumps_of(program, lambda: (next(calls), {}), len(module.CALLS), disassembles=False)
    finally:
        gc.enable()
    sections += [(dump, without_versions("\n".join(texts[dump])) or "none") for dump in DUMPS]
    whole = io.StringIO()
    for title, text in sections:
        whole.write(f"---- {title}\n{text.rstrip()}\n\n")
    return whole.getvalue()


def normalised(listing: str) -> str:
    """The text without addresses and without the folder of the program."""
    return re.sub(r"0x[0-9a-f]+", "0x...", listing).replace(f"{FOLDER}/", "")


def without_versions(text: str) -> str:
    """The text without version tags of classes, which the process counts."""
    return re.sub(r"\b(guard_class|guard_type_version)\[\d+\]", r"\1[...]", text)


def file_of(name: str) -> Path:
    """The path of the golden text."""
    return FOLDER / f"{name}.txt"


def comparable(text: str) -> str:
    """The text as far as this build makes it: with internal checks, all instructions of recording code have hooks."""
    if not is_sanitized():
        return text
    return re.sub(r"^---- recording code\n.*?(?=^---- )", "", text, flags=re.MULTILINE | re.DOTALL)


def has_arrays(name: str) -> bool:
    """Whether the program uses NumPy."""
    return "import numpy" in (FOLDER / f"{name}.py").read_text()


def differences(expected: str, found: str) -> list[str]:
    """A unified diff, as a list of lines."""
    import difflib

    return list(difflib.unified_diff(expected.splitlines(), found.splitlines(), "golden", "now", lineterm=""))
