"""How large the code is: lines and files of each folder, lines by feature, and what is larger than the project wants.

Functions are measured by lizard, members of classes are counted by libclang in one file that includes every header, and
in the source files that define classes of their own.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import clang.cindex as clang
import lizard

from code_features import features

LIBRARIES = ("rewriter", "replay", "recorder", "runtime")
SUFFIXES = (".h", ".cpp", ".inc", ".def")
MOST_FILES = 40  # of each folder
MOST_LINES = 700  # of each file
MOST_OF_FUNCTION = 100  # lines
MOST_MEMBERS = 60  # of each class
SWITCHED = ("Op", "LoopCode")
CLASSES = (clang.CursorKind.CLASS_DECL, clang.CursorKind.STRUCT_DECL, clang.CursorKind.CLASS_TEMPLATE)
MEMBERS = (
    clang.CursorKind.FIELD_DECL,
    clang.CursorKind.VAR_DECL,
    clang.CursorKind.CXX_METHOD,
    clang.CursorKind.CONSTRUCTOR,
    clang.CursorKind.DESTRUCTOR,
    clang.CursorKind.FUNCTION_TEMPLATE,
    clang.CursorKind.CONVERSION_FUNCTION,
)


def sources() -> list[Path]:
    return sorted(
        path for library in LIBRARIES for path in Path(library).rglob("*") if path.suffix in SUFFIXES
    )


def lines_of(path: Path) -> int:
    return len(path.read_text().splitlines())


def folders(paths: list[Path]) -> Iterator[str]:
    files, lines = Counter(str(path.parent) for path in paths), Counter[str]()
    for path in paths:
        lines[str(path.parent)] += lines_of(path)
    yield f"{'folder':36}{'files':>8}{'lines':>8}"
    for folder in sorted(files):
        mark = f"   more than {MOST_FILES} files" if files[folder] > MOST_FILES else ""
        yield f"{folder:36}{files[folder]:8}{lines[folder]:8}{mark}"
    yield f"{'all':36}{sum(files.values()):8}{sum(lines.values()):8}"


def long_files(paths: list[Path]) -> Iterator[str]:
    yield f"files of more than {MOST_LINES} lines:"
    for path in sorted(paths, key=lines_of, reverse=True):
        if lines_of(path) > MOST_LINES:
            yield f"  {lines_of(path):6}  {path}"


def long_functions(paths: list[Path]) -> Iterator[str]:
    yield f"functions of more than {MOST_OF_FUNCTION} lines:"
    found = []
    for path in paths:
        if path.suffix in (".h", ".cpp"):
            for function in lizard.analyze_file(str(path)).function_list:
                length = function.end_line - function.start_line + 1
                if length > MOST_OF_FUNCTION:
                    found.append((length, f"{path}:{function.start_line}", function.name))
    for length, place, name in sorted(found, reverse=True):
        yield f"  {length:6}  {place}  {name}"


def flags() -> list[str]:
    """The compiler flags of the last build, and the compiler's own headers."""
    commands = json.loads(Path("build/wheel/compile_commands.json").read_text())
    words = shlex.split(commands[0]["command"])
    kept = [word for word in words if word.startswith(("-I", "-D", "-std"))]
    for word, following in pairwise(words):
        if word == "-isystem":
            kept += [word, following]
    own = subprocess.run(["g++", "-print-file-name=include"], capture_output=True, text=True, check=True)
    return ["-x", "c++", *kept, "-isystem", own.stdout.strip()]


def large_classes(paths: list[Path]) -> Iterator[str]:
    yield f"classes with more than {MOST_MEMBERS} members:"
    members: dict[str, tuple[int, str]] = {}

    def look(cursor: clang.Cursor, scope: str) -> None:
        for child in cursor.get_children():
            place = child.location.file
            if place is not None and not any(library in Path(place.name).parts for library in LIBRARIES):
                continue
            name = f"{scope}::{child.spelling}" if scope else child.spelling
            if child.kind in CLASSES and child.is_definition():
                own = [member for member in child.get_children() if member.kind in MEMBERS]
                relative = Path(str(place)).resolve().relative_to(Path.cwd()) if place else ""
                members[name] = (len(own), f"{relative}:{child.location.line}")
            if child.kind == clang.CursorKind.NAMESPACE or child.kind in CLASSES:
                look(child, name)

    options = clang.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
    index, words = clang.Index.create(), flags()
    with tempfile.TemporaryDirectory() as folder:
        every = Path(folder) / "every_header.cpp"
        headers = [path for path in paths if path.suffix == ".h"]
        every.write_text("".join(f'#include "{path.resolve()}"\n' for path in headers))
        look(index.parse(str(every), words, options=options).cursor, "")
    for path in paths:
        if path.suffix == ".cpp" and re.search(r"^(class|struct) \w+ .*\{$", path.read_text(), re.MULTILINE):
            look(index.parse(str(path.resolve()), words, options=options).cursor, "")
    for name, (count, place) in sorted(members.items(), key=lambda item: -item[1][0]):
        if count > MOST_MEMBERS:
            yield f"  {count:6}  {name}  {place}"


def switches(paths: list[Path]) -> Iterator[str]:
    """Files that distinguish operations by `case`, and their number of cases."""
    for name in SWITCHED:
        counts = {path: len(re.findall(rf"\bcase {name}::", path.read_text())) for path in paths}
        found = {path: count for path, count in counts.items() if count}
        yield f"cases over {name}: {sum(found.values())} in {len(found)} files"
        for path, count in sorted(found.items(), key=lambda item: -item[1]):
            yield f"  {count:6}  {path}"


PARTS = {
    "folders": folders,
    "files": long_files,
    "functions": long_functions,
    "classes": large_classes,
    "switches": switches,
}
NAMES = (*PARTS, "features")


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/code-size", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(NAMES)} (default: all)")
    parser.add_argument(
        "--commit",
        action="append",
        default=[],
        metavar="COMMIT",
        help="features: a column with the lines of this commit, instead of the working tree",
    )
    given = parser.parse_args()
    parts = given.parts or NAMES
    unknown = [part for part in parts if part not in NAMES]
    if unknown:
        print(f"code-size: there is no part {unknown[0]!r}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    paths = sources()
    for part in parts:
        text = features(given.commit) if part == "features" else PARTS[part](paths)
        print("\n".join(text), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
