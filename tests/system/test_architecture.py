"""The layers hold: no library includes a higher one, folders form no cycle, private headers are used in one folder."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

LAYERS = ("rewriter", "replay", "recorder", "runtime")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
# What differs between versions of CPython: `#include "version/…"` finds a file in the folder of the version.
VERSIONS = "rewriter/versions"
# Private headers and names of the interpreter: only the folders of CPython may use them.
PRIVATE = re.compile(r'#\s*include\s*[<"](internal/|cpython/)|^\s*#\s*define\s+Py_BUILD_CORE', re.MULTILINE)


def sources(root: Path, folder: str) -> list[Path]:
    return sorted(
        path for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp", ".inc", ".def")
    )


def includes(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text())


@pytest.mark.parametrize("layer", LAYERS)
def test_no_library_reaches_upward(root: Path, layer: str) -> None:
    files = sources(root, layer)
    assert files, f"no sources found in {layer}: the test would say nothing"
    above = LAYERS[LAYERS.index(layer) + 1 :]
    wrong = [
        f"{path.relative_to(root)} includes {name}"
        for path in files
        for name in includes(path)
        if name.split("/")[0] in above
    ]
    assert wrong == []


def test_replay_uses_only_the_interpreter_access_of_the_rewriter(root: Path) -> None:
    found = [
        (path, name)
        for path in sources(root, "replay")
        for name in includes(path)
        if name.startswith("rewriter/")
    ]
    assert found, "replay includes nothing of rewriter/cpython: the test would say nothing"
    wrong = [
        f"{path.relative_to(root)} includes {name}"
        for path, name in found
        if not name.startswith(("rewriter/base/", "rewriter/cpython/"))
    ]
    assert wrong == []


def folders(root: Path) -> dict[str, set[str]]:
    """Each folder with sources, and the folders whose headers its files include."""
    graph: dict[str, set[str]] = {}
    for layer in LAYERS:
        for path in sources(root, layer):
            own = folder_of(str(path.parent.relative_to(root)))
            names = (re.sub("^version/", f"{VERSIONS}/", name) for name in includes(path))
            used = {folder_of(str(Path(name).parent)) for name in names if name.split("/")[0] in LAYERS}
            graph.setdefault(own, set()).update(used - {own})
    return graph


def folder_of(path: str) -> str:
    return VERSIONS if path.startswith(f"{VERSIONS}/") else path


def test_folders_form_no_cycle(root: Path) -> None:
    graph = folders(root)
    assert len(graph) > 20, "too few folders: the test would say nothing"
    reached = {folder: closure(graph, folder) for folder in graph}
    wrong = {
        f"{one} and {other} include each other"
        for one in graph
        for other in reached[one]
        if one < other and one in reached[other]
    }
    assert wrong == set()


def closure(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for folder in graph.get(waiting.pop(), set()) - seen:
            seen.add(folder)
            waiting.append(folder)
    return seen


def test_folders_are_small_enough_to_see(root: Path) -> None:
    most = 40
    counts = {folder: 0 for folder in folders(root)}
    for layer in LAYERS:
        for path in sources(root, layer):
            folder = str(path.parent.relative_to(root))
            counts[folder] = counts.get(folder, 0) + 1
    large = {folder: count for folder, count in counts.items() if count > most}
    assert not large


def test_includes_of_our_own_name_their_library(root: Path) -> None:
    # An include relative to the file's own folder would escape the tests above.
    wrong = [
        f"{path.relative_to(root)} includes {name}"
        for layer in LAYERS
        for path in sources(root, layer)
        for name in re.findall(r'#\s*include\s*"([^"]+)"', path.read_text())
        if name.split("/")[0] not in (*LAYERS, "version") and not name.startswith("internal/")
    ]
    assert wrong == []


def test_private_headers_are_in_two_folders(root: Path) -> None:
    using = [path for layer in LAYERS for path in sources(root, layer) if PRIVATE.search(path.read_text())]
    assert using, "no file includes a private header, so the test checks nothing"
    folders = {root / "rewriter" / "cpython", root / VERSIONS}
    assert [str(path.relative_to(root)) for path in using if not folders & set(path.parents)] == []


def test_no_file_asks_for_the_version_of_python(root: Path) -> None:
    asking = [
        str(path.relative_to(root))
        for layer in LAYERS
        for path in sources(root, layer)
        if re.search(r"PY_(VERSION_HEX|MAJOR_VERSION|MINOR_VERSION)", path.read_text())
    ]
    assert [path for path in asking if not path.startswith(VERSIONS)] == []


def test_versions_have_the_same_files(root: Path) -> None:
    folders = [folder for folder in (root / VERSIONS).iterdir() if folder.is_dir()]
    files = {folder.name: {path.name for path in (folder / "version").iterdir()} for folder in folders}
    assert len(files) > 1
    assert len({frozenset(names) for names in files.values()}) == 1, files


def test_linking_follows_the_layers(root: Path) -> None:
    for below, layer in zip(LAYERS, LAYERS[1:]):
        text = (root / layer / "CMakeLists.txt").read_text()
        linked = re.search(rf"target_link_libraries\(tagalong_{layer} PUBLIC ([^)]*)\)", text)
        assert linked and linked[1].split() == [f"tagalong_{below}"], f"{layer} links {linked and linked[1]}"


def test_no_committed_file_names_a_place_of_one_machine(root: Path) -> None:
    if not (root / ".git").exists():
        pytest.skip("not a git work tree")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    files = [root / name for name in listed.stdout.split("\0") if name]
    assert len(files) > 50
    place = re.compile(r"(?<![\w.])/(work|root|home/\w+|tmp|Users)/\w")
    wrong = []
    for path in files:
        if path == Path(__file__) or not path.is_file():
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        wrong += [
            f"{path.relative_to(root)}: {line.strip()}" for line in text.splitlines() if place.search(line)
        ]
    assert wrong == []
