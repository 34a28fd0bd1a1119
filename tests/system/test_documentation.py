"""The examples of README.md and docs/ are real: each is run in a fresh process, and what it prints is compared.

A comment in front of a block says what the block is:

    <!-- example -->                    a program, or with >>> a doctest; a shell block: commands
    <!-- example: continued -->         the same, after the earlier doctests of the page
    <!-- example: file NAME -->         a file in the folder where the page's later examples run
    <!-- example: output -->            what the example before it prints; `...` is any text, times are any times
    <!-- no example: REASON -->         not run
    <!-- from the sources -->           not run: each line is found in our sources, `...` is any text

A block of Python or shell without such a comment is an error, so that no example is left out by accident.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conftest import ROOT, clean_environment
from tagalong import guards, options

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"(?:^ *<!-- (?P<mark>(?:no )?example.*?|from the sources) -->\n\n?)?"
    r"^(?P<indentation> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indentation)```$",
    re.MULTILINE | re.DOTALL,
)
RUNNABLE = ("python", "sh")
QUOTATION = "from the sources"
LAYERS = ("rewriter", "replay", "recorder", "runtime")

# Doctests run in a new thread, which has a new stack of frames.
RUN_DOCTESTS = """
import doctest, sys, threading
def run():
    names = {}
    flags = doctest.ELLIPSIS
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            test = doctest.DocTestParser().get_doctest(file.read(), names, path, path, 0)
        runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
        runner.run(test, clear_globs=False)
        names = test.globs
        failed.append(runner.failures)
failed = []
thread = threading.Thread(target=run)
thread.start()
thread.join()
sys.exit(1 if sum(failed) or not failed else 0)
"""


@dataclass
class Example:
    """One block, and what is needed before it runs."""

    page: Path
    number: int
    language: str
    text: str
    earlier: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    output: str | None = None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.number}"


def blocks(page: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text()))


def examples(page: Path) -> list[Example]:
    """The examples of a page; an unknown marker is an error."""
    found: list[Example] = []
    doctests: list[str] = []
    files: dict[str, str] = {}
    for number, block in enumerate(blocks(page), 1):
        mark, language, text = block["mark"], block["language"], block["text"]
        if mark is None or mark.startswith(("no example: ", QUOTATION)):
            continue
        if mark == "example: output":
            assert found and found[-1].output is None, f"{page.name}: output of which example? block {number}"
            found[-1].output = text
            continue
        if mark.startswith("example: file "):
            files[mark.removeprefix("example: file ")] = text
            continue
        assert mark in ("example", "example: continued"), f"{page.name}: <!-- {mark} --> has no meaning"
        assert language in RUNNABLE, f"{page.name}: block {number} cannot be run: {language}"
        earlier = list(doctests) if mark == "example: continued" else []
        found.append(Example(page, number, language, text, earlier, dict(files)))
        if ">>> " in text:
            doctests.append(text)
    return found


ALL = [example for page in PAGES if page.exists() for example in examples(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_says_whether_it_is_an_example(page: Path) -> None:
    silent = [
        block["text"].splitlines()[0]
        for block in blocks(page)
        if block["language"] in RUNNABLE and not block["mark"]
    ]
    assert not silent, f"{page.relative_to(ROOT)}: neither an example nor said to be none: {silent}"


def command(example: Example, folder: Path) -> list[str]:
    if example.language == "sh":
        return ["bash", "-e", "-c", example.text]
    texts = [*example.earlier, example.text]
    if ">>> " not in example.text:
        (folder / "example.py").write_text(example.text)
        return [sys.executable, "example.py"]
    for number, text in enumerate(texts):
        (folder / f"block{number}.txt").write_text(text)
    return [sys.executable, "-c", RUN_DOCTESTS, *(f"block{number}.txt" for number in range(len(texts)))]


@pytest.mark.parametrize("example", ALL, ids=str)
def test_an_example_does_what_it_says(example: Example, tmp_path: Path) -> None:
    for name, text in example.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command(example, tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=tmp_path,
        env=clean_environment(PATH=path, HOME=str(tmp_path)),
        timeout=240,
        check=False,
    )
    is_doctest = ">>> " in example.text
    assert not is_doctest or done.returncode == 0, done.stdout
    if example.output is None:
        assert done.returncode == 0, done.stdout
    else:
        expected, printed = (re.sub(r"\b\d+\.\d+ s\b", "# s", text) for text in (example.output, done.stdout))
        same = doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
        assert same, f"printed, with exit code {done.returncode}:\n{done.stdout}\nexpected:\n{example.output}"


def test_there_are_examples() -> None:
    """A regular expression that finds nothing would make everything pass."""
    assert len(ALL) >= 30
    assert {example.language for example in ALL} == set(RUNNABLE)


def without_spaces(text: str) -> str:
    return "".join(text.split())


def test_quotations_are_in_the_sources() -> None:
    folders = ("rewriter", "replay", "recorder", "runtime", "tests")
    kinds = (".cpp", ".h", ".def", ".inc")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    sources = without_spaces("".join(path.read_text() for path in files))
    quoted = [
        (page, line)
        for page in PAGES
        for block in blocks(page)
        if block["mark"] == QUOTATION
        for line in block["text"].splitlines()
    ]
    assert len(quoted) > 20, "too few quotations: the test would say nothing"
    wrong = [
        f"{page.relative_to(ROOT)}: {line}"
        for page, line in quoted
        if not all(without_spaces(part) in sources for part in line.split("..."))
    ]
    assert not wrong, "these lines are not in the sources (any more)"


def test_files_that_pages_name_exist() -> None:
    """Names with a folder in front. In READMEs they may begin at the folder of the README."""
    name = re.compile(r"`((?:[\w.*-]+/)+[\w.*-]+\.(?:cpp|h|def|inc|py|md|txt|toml))`")
    pages = [*PAGES, *(path for layer in LAYERS for path in (ROOT / layer).rglob("README.md"))]
    named = [(page, found) for page in pages for found in name.findall(page.read_text())]
    assert len(named) > 50, "too few names: the test would say nothing"
    wrong = [
        f"{page.relative_to(ROOT)}: {found}"
        for page, found in named
        if not any(ROOT.glob(found))
        and not any(page.parent.glob(found))
        and not any(ROOT.glob(f"*/*/{found}"))
    ]
    assert not wrong, "these files do not exist (any more)"


def test_the_tables_of_readmes_name_what_is_there() -> None:
    """Files without their suffix, and folders, in all columns but the last."""
    wrong = []
    readmes = [path for layer in LAYERS for path in (ROOT / layer).rglob("README.md")]
    for readme in readmes:
        rows = re.findall(r"^\|(.*)\|[^|]*\|$", readme.read_text(), re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", "".join(rows)):
            layer = ROOT / readme.relative_to(ROOT).parts[0]
            last = name.rstrip("/").split("/")[-1]
            if not any(layer.rglob(last)) and not any(layer.rglob(f"{last}.*")):
                wrong.append(f"{readme.relative_to(ROOT)}: {name}")
    assert len(readmes) > 5
    assert not wrong, "these files and folders do not exist (any more)"


def test_the_reference_has_all_guards() -> None:
    page = (ROOT / "docs" / "reference" / "guards.md").read_text()
    assert not [name for name in guards.__all__ if not re.search(rf"\b{name}\b", page)]


def test_the_documentation_has_the_options() -> None:
    page = (ROOT / "docs" / "reference" / "options.md").read_text()
    assert options.documentation() in page
    for name, (default, what) in options.LIMITS.items():
        assert f"| `{name}` | {default} | {what} |" in page


def test_the_documentation_has_the_reasons() -> None:
    page = (ROOT / "docs" / "reference" / "stop-reasons.md").read_text()
    tables = [path for path in ROOT.glob("re*/**/*") if path.name == "stops.inc"]
    names = re.findall(r"^TAGALONG_STOP\((\w+)", "".join(path.read_text() for path in tables), re.MULTILINE)
    assert len(names) >= 5
    assert not [name for name in names if f"| `{name}` |" not in page]


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_measured_figures_are_on_one_page() -> None:
    """Times and factors belong to docs/performance.md, each with the machine and the commit."""
    figure = re.compile(
        r"\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms)\b|\b\d+(?:\.\d+)? times as (?:fast|long)|\b0\.\d+ of the time"
    )
    pages = [*ROOT.glob("*/README.md"), *ROOT.glob("*/*/README.md"), *PAGES]
    for page in pages:
        if (
            page.exists()
            and page.name not in ("performance.md", "CHANGELOG.md")
            and page != ROOT / "README.md"
        ):
            found = figure.findall(page.read_text())
            assert not found, f"{page.relative_to(ROOT)}: {found}"
